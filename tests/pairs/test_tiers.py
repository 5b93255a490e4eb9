"""Items that only won: whom they surely stand above."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath import Votes, rank
from prefpath.pairs import evidence_of_tiers, pool_pairs


def drawn(rng: np.random.Generator, scores: np.ndarray, n: int):
    left = rng.integers(len(scores), size=n)
    right = (left + rng.integers(1, len(scores), size=n)) % len(scores)
    p = 1.0 / (1.0 + np.exp(scores[right] - scores[left]))
    return left, right, np.where(rng.random(n) < p, 1.0, -1.0)


def first_is_loose(n: int) -> np.ndarray:
    return np.arange(n) == 0


def test_direct_wins_alone_are_a_sign_test() -> None:
    left, right = np.array([0] * 5 + [1, 1]), np.array([1] * 5 + [2, 2])
    counts = pool_pairs(left, right, np.array([1.0] * 6 + [-1.0]), n_items=3)
    found = evidence_of_tiers(counts, first_is_loose(3))[0]
    assert np.exp(-found[1]) == pytest.approx(0.5**5, rel=0.02)  # item 2's two votes tell a little


def test_who_is_below_has_the_other_sign_and_who_never_met_has_none() -> None:
    left, right = np.array([1, 1, 1, 2, 3]), np.array([0, 0, 2, 1, 4])
    counts = pool_pairs(left, right, np.ones(5), n_items=5)
    found = evidence_of_tiers(counts, first_is_loose(5))[0]
    assert found[1] < 0 and found[2] < 0
    assert found[[0, 3, 4]].tolist() == [0.0, 0.0, 0.0]


def test_an_equal_item_is_seldom_said_to_be_below() -> None:
    """Of crowds in which items 0 and 1 are equal, at most one in twenty says otherwise."""
    rng, scores = np.random.default_rng(0), np.array([1.2, 1.2, -0.4, -0.9])
    wrong = 0
    for _ in range(300):
        counts = pool_pairs(*drawn(rng, scores, 18), n_items=4)
        if counts.item_wins[0] == counts.item_weight[0] > 0:
            wrong += np.exp(-evidence_of_tiers(counts, first_is_loose(4))[0][1]) < 0.05
    assert wrong <= 0.05 * 300


def tasted(n_tasters: int) -> Votes:
    """Item 0 wins all of its votes."""
    left, right, choice = drawn(np.random.default_rng(4), np.array([30.0, 0.5, 0.0, -0.5]), 240)
    return Votes.from_arrays(np.arange(240) % n_tasters, left, right, choice)


def test_an_undefeated_item_is_first_and_nobody_else_may_be() -> None:
    found = rank(tasted(20)).columns()
    assert found["item"][0] == 0 and not found["bounded"][0] and found["score_high"][0] is None
    assert (found["rank_low"][0], found["rank_high"][0]) == (1, 1)
    assert found["rank_low"][1:].min() == 2


def test_two_annotators_are_two_voices_however_many_votes_they_cast() -> None:
    found = rank(tasted(2)).columns()
    assert found["rank_high"][0] == 4
