"""Rank centrality against choix, and its own regularisation by hand."""

from __future__ import annotations

import choix
import numpy as np
import pytest
from numpy.testing import assert_allclose

from prefpath import Votes
from prefpath.baselines import RankCentrality
from prefpath.errors import VoteError


def test_equals_choix(votes: Votes) -> None:
    votes = votes.without_ties()
    data = [
        (i, j) if y > 0 else (j, i)
        for i, j, y, n in zip(votes.left, votes.right, votes.choice, votes.count, strict=True)
        for _ in range(n)
    ]
    expected = choix.rank_centrality(votes.n_items, data)
    assert_allclose(RankCentrality(smoothing=0.0).fit(votes).scores(), expected, atol=1e-8)


def test_two_items_by_hand() -> None:
    votes = Votes.from_arrays(["u"] * 4, ["a"] * 4, ["b"] * 4, [1, 1, 1, -1])
    for smoothing in (0.0, 1.0):
        odds = (3 + smoothing) / (1 + smoothing)
        found = RankCentrality(smoothing=smoothing).fit(votes)
        assert_allclose(found.scores(), np.log(odds) / 2 * np.array([1, -1]))


def test_groups_never_compared_are_scored_apart() -> None:
    votes = Votes.from_arrays(
        ["u"] * 8, list("aaaaxxxx"), list("bbbbyyyy"), [1, 1, 1, -1, 1, 1, -1, -1]
    )
    scores = RankCentrality(smoothing=0.5).fit(votes).scores()
    half = np.log(3.5 / 1.5) / 2
    assert_allclose(scores, [half, -half, 0, 0], atol=1e-12)


def test_without_smoothing_an_unbeaten_item_is_an_error() -> None:
    votes = Votes.from_arrays(["u"] * 3, ["a", "b", "c"], ["b", "c", "b"], [1, 1, 1])
    with pytest.raises(VoteError, match="smoothing > 0"):
        RankCentrality(smoothing=0.0).fit(votes)
    assert np.isfinite(RankCentrality(smoothing=0.1).fit(votes).scores()).all()
