"""Entry times against copies without the effect."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from prefpath import PreferenceModel, SettingError, VoteError, Votes, VoteWarning, simulate_crowd
from prefpath.diagnose import calibrated_entry
from prefpath.diagnose.entry import choose_again, flip_sides


@pytest.fixture(scope="module")
def crowd():
    return simulate_crowd(6_000, 60, 8, activity="even", deviants=8, clickers=8, seed=1)


@pytest.fixture(scope="module")
def model(crowd):
    return PreferenceModel(cv=0, n_times=8, t_ratio=12.0).fit(crowd.votes)


@pytest.mark.parametrize("kind", ["position_bias", "deviation"])
def test_those_who_enter_before_the_cutoff_were_planted(crowd, model, kind):
    truth = crowd.clickers if kind == "position_bias" else crowd.deviants
    found = calibrated_entry(model, kind, n_copies=3, seed=2)
    assert found.time is not None
    right = np.isin(found.who, truth)
    assert right.sum() >= 6
    assert right.mean() >= 0.8
    entered = model.path_.entry_times(kind)
    named = crowd.votes.annotators[entered <= found.time]
    assert set(named) == set(found.who)


def test_in_a_crowd_of_followers_hardly_anybody_is_named():
    crowd = simulate_crowd(6_000, 60, 8, activity="even", deviants=0, clickers=0, seed=5)
    model = PreferenceModel(cv=0, n_times=8, t_ratio=6.0).fit(crowd.votes)
    for kind in ("position_bias", "deviation"):
        assert len(calibrated_entry(model, kind, n_copies=3).who) <= 3


def _winners(votes):
    """Who preferred what to what, how often: sides forgotten."""
    table = {}
    for u, i, j, y, w in zip(
        votes.annotator, votes.left, votes.right, votes.choice, votes.weight, strict=True
    ):
        key = (int(u), int(min(i, j)), int(max(i, j)), float(y if i < j else -y))
        table[key] = table.get(key, 0.0) + float(w)
    return table


def test_flipping_sides_keeps_who_preferred_what(crowd):
    flipped = flip_sides(crowd.votes, np.random.default_rng(0))
    before, after = (_winners(votes) for votes in (crowd.votes, flipped))
    assert before.keys() == after.keys()
    assert all(before[key] == pytest.approx(after[key]) for key in before)
    clicker = crowd.votes.annotator_code(crowd.clickers[0])
    rows = slice(*flipped.offsets[clicker : clicker + 2])
    mean = np.average(flipped.choice[rows], weights=flipped.weight[rows])
    assert abs(mean) < 0.3


def test_sides_that_are_unknown_stay():
    votes = Votes.from_arrays(["a"] * 40, ["x"] * 40, ["y"] * 40, [1] * 40, position_known=False)
    assert flip_sides(votes, np.random.default_rng(0)).n_rows == 1


def test_choosing_again_keeps_comparisons_and_ties():
    votes = simulate_crowd(5_000, 10, 5, ties=0.2, seed=2).votes
    again = choose_again(votes, np.full(votes.n_rows, 0.9), np.random.default_rng(0))
    assert again.total_weight == pytest.approx(votes.total_weight)
    decisive = again.choice != 0
    assert again.weight[~decisive].sum() == votes.weight[votes.choice == 0].sum()
    share = again.weight[again.choice > 0].sum() / again.weight[decisive].sum()
    assert share == pytest.approx(0.9, abs=0.02)


def test_bad_input_is_said_clearly(model):
    with pytest.raises(SettingError, match=r"q is 1\.5"):
        calibrated_entry(model, q=1.5)
    with pytest.raises(SettingError, match="kind is"):
        calibrated_entry(model, "lean")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="n_copies is 0"):
        calibrated_entry(model, n_copies=0)


def test_position_bias_needs_sides():
    known = simulate_crowd(600, 10, 5, deviants=3, clickers=0, seed=1).votes
    votes = replace(known, position_known=np.zeros(known.n_rows, dtype=bool))
    with pytest.warns(VoteWarning, match="unknown"):
        model = PreferenceModel(cv=0, n_times=4, t_ratio=3.0).fit(votes)
    with pytest.raises(VoteError, match="no position bias"):
        calibrated_entry(model)
