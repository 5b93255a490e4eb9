"""Simulated crowds have the truth they claim, and the paper's data have its defaults."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit, ndtr

from prefpath.errors import VoteError
from prefpath.simulate import Simulation, draw, simulate_crowd, simulate_paper
from prefpath.votes import Votes


def margins(simulation: Simulation) -> np.ndarray:
    """Margin of each row, from the public attributes only."""
    votes = simulation.votes
    design = np.eye(votes.n_items) if simulation.features is None else simulation.features
    personal = (simulation.common + simulation.deviation.toarray()) @ design.T
    who = votes.annotator
    difference = personal[who, votes.left] - personal[who, votes.right]
    return difference + simulation.position_bias[who]


def standardised_wins(simulation: Simulation, win: np.ndarray) -> float:
    """Mean of squared standardised residuals of left wins per margin bin: about 1 if right."""
    votes = simulation.votes
    # By value, so that wins and losses of a pair, stored as two rows, share a bin.
    bin_of_row = np.searchsorted(np.quantile(win, np.linspace(0, 1, 41)[1:-1]), win)
    squares = []
    for number in range(40):
        rows = np.flatnonzero(bin_of_row == number)
        count, p = votes.count[rows], win[rows]
        wins = count[votes.choice[rows] == 1].sum()
        squares.append((wins - count @ p) ** 2 / (count @ (p * (1 - p))))
    return float(np.mean(squares))


@pytest.mark.parametrize(
    ("model", "curve", "wrong"),
    [("bradley-terry", expit, ndtr), ("thurstone-mosteller", ndtr, expit)],
)
def test_choices_follow_the_model(model, curve, wrong):
    crowd = simulate_crowd(
        200_000, 40, 8, deviants=0.3, clickers=0.3, model=model, activity="even", seed=5
    )
    margin = margins(crowd)
    # Mean of 40 squares of standard normals: 1, with standard deviation 0.22.
    assert standardised_wins(crowd, curve(margin)) < 2
    assert standardised_wins(crowd, wrong(margin)) > 5


def test_paper_choices_follow_the_model():
    simulation = simulate_paper(n_annotators=400, seed=7)
    assert standardised_wins(simulation, expit(margins(simulation))) < 2
    assert standardised_wins(simulation, expit(-margins(simulation))) > 5


def test_features_make_scores_and_deviations():
    features = np.random.default_rng(0).normal(size=(12, 3))
    crowd = simulate_crowd(100_000, 30, 12, features=features, deviants=5, clickers=0, seed=1)
    assert crowd.common.shape == (3,)
    assert crowd.deviation.shape == (30, 3)
    np.testing.assert_allclose(crowd.scores, features @ crowd.common)
    assert standardised_wins(crowd, expit(margins(crowd))) < 2


@pytest.mark.parametrize("simulate", [simulate_paper, simulate_crowd])
def test_seed_decides_everything_and_touches_nothing(simulate):
    before = np.random.get_state()[1].copy()  # noqa: NPY002 (it is what must not change)
    one, same, other = simulate(seed=1), simulate(seed=1), simulate(seed=2)
    for name in ("left", "right", "choice", "count", "offsets"):
        np.testing.assert_array_equal(getattr(one.votes, name), getattr(same.votes, name))
    np.testing.assert_array_equal(one.common, same.common)
    assert not np.array_equal(one.common, other.common)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_planted_annotators_are_as_many_as_asked_and_nobody_is_both():
    crowd = simulate_crowd(1_000, 40, 5, deviants=0.25, clickers=7)
    assert len(crowd.deviants) == 10
    assert len(crowd.clickers) == 7
    assert not set(crowd.deviants) & set(crowd.clickers)
    assert set(np.abs(crowd.position_bias)) == {0.0, 2.0}
    quiet = simulate_crowd(1_000, 40, 5, deviants=0, clickers=0.0)
    assert quiet.deviation.nnz == 0
    assert not quiet.position_bias.any()


def test_votes_are_whole_in_small_pieces(monkeypatch):
    monkeypatch.setattr(draw, "_CHUNK", 100)
    crowd = simulate_crowd(10_000, 60, 4, activity="even", ties=0.2, seed=2)
    votes = crowd.votes
    assert votes.n_votes == 10_000
    np.testing.assert_array_equal(votes.weight, votes.count)
    each = np.bincount(votes.annotator, weights=votes.count)
    assert set(each) == {166.0, 167.0}
    assert (votes.left != votes.right).all()
    again = Votes.from_codes(
        votes.annotator,
        votes.left,
        votes.right,
        votes.choice,
        votes.weight,
        annotators=votes.annotators,
        items=votes.items,
    )
    for name in ("left", "right", "choice", "weight", "offsets"):  # sorted, and no row twice
        np.testing.assert_array_equal(getattr(again, name), getattr(votes, name))
    ties = votes.count[votes.choice == 0].sum()
    assert abs(ties - 2_000) < 5 * np.sqrt(10_000 * 0.2 * 0.8)


def test_pairs_are_even():
    votes = simulate_crowd(120_000, 5, 4, deviants=0, clickers=0, seed=3).votes
    shown = np.bincount(votes.left * 4 + votes.right, weights=votes.count, minlength=16)
    shown = shown.reshape(4, 4)[~np.eye(4, dtype=bool)]
    assert ((shown - 10_000) ** 2 / 10_000).sum() < 35  # chi-square, 11 degrees of freedom


def test_zipf_activity():
    votes = simulate_crowd(100_000, 100, 5, activity="zipf").votes
    each = np.sort(np.bincount(votes.annotator, weights=votes.count))[::-1]
    assert each[-1] >= 1
    expected = 1 + (100_000 - 100) / np.arange(1, 101) / np.sum(1 / np.arange(1, 101))
    assert (np.abs(each - expected) < 5 * np.sqrt(expected)).all()


def test_labels_read_back_to_the_same_codes():
    crowd = simulate_crowd(20_000, 120, 30, labels="readable")
    votes = crowd.votes
    assert len(set(votes.annotators)) == 120
    assert "Ada" in votes.annotators and "Ada 2" in votes.annotators
    back = Votes.from_arrays(
        votes.annotators[votes.annotator],
        votes.items[votes.left],
        votes.items[votes.right],
        votes.choice,
        votes.weight,
    )
    np.testing.assert_array_equal(back.annotators, votes.annotators)
    np.testing.assert_array_equal(back.left, votes.left)
    numbered = simulate_crowd(2_000, 12, 3).votes
    assert numbered.annotators[0] == "annotator 01"
    assert list(numbered.items) == ["item 1", "item 2", "item 3"]


def test_memory_beyond_the_result(monkeypatch):
    monkeypatch.setattr(draw, "_CHUNK", 50_000)
    n_votes = 1_000_000
    simulate_crowd(1_000, 10, 5)
    tracemalloc.start()
    votes = simulate_crowd(n_votes, 1_000, 1_000, activity="even", deviants=10).votes
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    names = ("left", "right", "choice", "weight", "count", "position_known")
    result = sum(getattr(votes, name).nbytes for name in names)
    assert (peak - result) / n_votes < 30


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_votes": 5, "n_annotators": 6}, "5 votes cannot be shared by 6 annotators"),
        ({"n_items": 1}, "n_items is 1"),
        ({"n_annotators": 0}, "n_annotators is 0"),
        ({"ties": 1.5}, "ties is 1.5"),
        ({"deviants": 1.5}, "deviants is 1.5"),
        ({"clickers": -1}, "clickers is -1"),
        ({"deviants": 0.6, "clickers": 0.6}, "30 deviants and 30 clickers are more than 50"),
        ({"activity": "lazy"}, "activity is 'lazy'"),
        ({"labels": "none"}, "labels is 'none'"),
        ({"model": "elo"}, "model is 'elo'"),
        ({"features": np.zeros((3, 2))}, "features has shape (3, 2)"),
        ({"features": np.full((10, 2), np.nan)}, "entries that are not finite"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(VoteError) as error:
        simulate_crowd(**arguments)
    assert message in str(error.value)
    assert error.value.expected


def test_bad_range_of_votes():
    with pytest.raises(VoteError, match="votes_per_annotator is"):
        simulate_paper(votes_per_annotator=(9, 3))


def test_paper_parameters_are_arguments():
    simulation = simulate_paper(
        7, 3, 11, deviation_density=1.0, position_bias_density=0.0, votes_per_annotator=(4, 4)
    )
    assert simulation.features is not None and simulation.features.shape == (7, 3)
    assert simulation.votes.n_votes == 44
    assert simulation.deviation.nnz == 33
    assert len(simulation.clickers) == 0


def test_defaults_agree_with_the_published_data(golden_dir: Path):
    """Each default is within 3.5 standard errors of what the published data show."""
    golden = np.load(golden_dir / "sim_short_BT_full.npz", allow_pickle=False)
    eta, xi, gamma = golden["true_eta"], golden["true_xi"], golden["true_gamma"]
    assert golden["Phi"].shape == (20, 10) and xi.shape == (100, 10)
    for entries, scale in ((eta, 1.0), (xi, 1.0), (gamma, 2.0)):
        kept = entries[entries != 0]
        assert abs(len(kept) / entries.size - 0.4) < 3.5 * np.sqrt(0.24 / entries.size)
        assert abs(kept.std() - scale) < 3.5 * scale / np.sqrt(2 * len(kept))
    each = np.bincount(golden["user"])[1:]
    assert 50 <= each.min() < 55 and 195 < each.max() <= 200
    user, left, right = (golden[k] - 1 for k in ("user", "item_i", "item_j"))
    margin = ((golden["Phi"][left] - golden["Phi"][right]) * (eta + xi[user])).sum(1) + gamma[user]
    residual = ((golden["y"] > 0) - expit(margin)) ** 2 / (expit(margin) * expit(-margin))
    weight = expit(margin) * expit(-margin)
    assert abs((residual * weight).sum() / weight.sum() - 1) < 0.05
    normal = ndtr(margin)
    spread = ((golden["y"] > 0) - normal) ** 2
    assert spread.sum() / (normal * (1 - normal)).sum() > 1.2  # it is not the normal curve
