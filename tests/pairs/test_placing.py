"""Items that only won or only lost stand where an estimate drawn to the average puts them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from prefpath import PreferenceModel, Votes, rank
from prefpath.findings import find
from prefpath.pairs import Placing, pool_pairs
from prefpath.pairs.fit import logistic_derivatives

N = 6


def crowd(*more: tuple[str, str, int]) -> Votes:
    """Six measured items, 600 votes of thirty annotators; `more`: who won over whom how often."""
    rng = np.random.default_rng(1)
    true = np.linspace(1.0, -1.0, N)
    left = rng.integers(N, size=600)
    right = (left + rng.integers(1, N, size=600)) % N
    won = rng.random(600) < 1.0 / (1.0 + np.exp(true[right] - true[left]))
    rows = [
        (f"p{k % 30}", f"item {i}", f"item {j}", 1.0 if w else -1.0)
        for k, (i, j, w) in enumerate(zip(left, right, won, strict=True))
    ]
    rows += [(f"p{k % 30}", a, b, 1.0) for a, b, n in more for k in range(n)]
    return Votes.from_arrays(*map(list, zip(*rows, strict=True)))


def undefeated(name: str, n: int) -> list[tuple[str, str, int]]:
    """Wins over all measured items alike."""
    return [(name, f"item {k}", n) for k in range(N)]


@pytest.fixture(scope="module")
def model() -> PreferenceModel:
    votes = crowd(("newcomer", "item 3", 1), ("item 2", "late", 1), *undefeated("champion", 9))
    return PreferenceModel(cv=0, n_times=10, t_ratio=20.0).fit(votes)


def test_one_vote_does_not_lead_and_many_do(model: PreferenceModel) -> None:
    for board in (
        model.ranking_columns(),
        model.ranking_columns(interval=None),
        rank(model.votes_).columns(),
    ):
        place = dict(zip(board["item"], board["rank"], strict=True))
        assert place["champion"] == 1
        assert place["item 0"] < place["newcomer"] < place["item 5"]
        assert place["item 0"] < place["late"]
        score = dict(zip(board["item"], board["score"], strict=True))
        assert score["late"] < 0 < score["newcomer"] < score["item 0"]


def test_unbounded_items_move_nobody(model: PreferenceModel) -> None:
    for how in ("sandwich", None):
        board = model.ranking_columns(interval=how)
        measured = [s for i, s in zip(board["item"], board["score"], strict=True) if "item" in i]
        assert np.mean(measured) == pytest.approx(0.0, abs=1e-9)
    elo = model.ranking_columns(scale="elo")
    measured = [s for i, s in zip(elo["item"], elo["score"], strict=True) if "item" in i]
    assert np.mean(measured) == pytest.approx(1000.0)


def test_probabilities_are_of_beating_the_average_measured_item(model: PreferenceModel) -> None:
    natural, shown = model.ranking_columns(), model.ranking_columns(scale="probability")
    assert_allclose(shown["score"], 1.0 / (1.0 + np.exp(-natural["score"])), atol=1e-9)
    for score, low, high in zip(*(shown[n] for n in ("score", "score_low", "score_high")),
                                strict=True):  # fmt: skip
        assert low is None or low < score < high


def test_every_face_has_the_same_order(model: PreferenceModel) -> None:
    found = find(model)
    items = model.votes_.items
    place = dict(zip(found.ranking["item"], found.ranking["rank"], strict=True))
    assert [place[item] for item in items] == model.fitted_.ranks.tolist()
    assert found.boards[0].leader == "champion"
    assert "newcomer (1 vote)" in found.meaning_of_unbounded
    assert "late (1 vote) lost every vote" in found.meaning_of_unbounded


def test_the_estimate_is_where_the_posterior_is_flat() -> None:
    left, right = np.array([0, 1, 0, 1, 2, 2, 3]), np.array([1, 0, 1, 0, 0, 1, 2])
    counts = pool_pairs(left, right, np.ones(7), n_items=4)
    known = np.array([True, True, False, False])
    placing = Placing(counts, np.zeros(4, dtype=np.int32), known, logistic_derivatives)
    scores = placing.of(np.array([5.0, 5.0, 99.0, -99.0]))
    assert_allclose(scores[:2], 0.0)
    lost = 1.0 / (1.0 + np.exp(scores[3] - scores[2]))  # of item 3's win over item 2
    pull = [2.0 / (1.0 + np.exp(scores[2])) - lost, lost]  # items 0 and 1 stand at 0
    assert_allclose(scores[2:] / placing.spread**2, pull, atol=1e-6)


def test_everybody_agreeing_is_ranked_by_wins_and_levelled() -> None:
    rows = [("u", f"{i}", f"{j}", 1.0) for i in range(4) for j in range(i + 1, 4)] * 5
    found = rank(Votes.from_arrays(*map(list, zip(*rows, strict=True))))
    assert found.ranks.tolist() == [1, 2, 3, 4] and not found.bounded.any()
    assert found.scores.sum() == pytest.approx(0.0, abs=1e-6)
    assert np.ptp(found.scores) < 20
