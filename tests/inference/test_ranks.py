"""Rank intervals on scores and covariances whose answer is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from scipy.stats import t as student

from prefpath.inference.intervals import CommonScores
from prefpath.inference.ranks import _undecided_reach, rank_intervals
from prefpath.model.losses import BradleyTerry


def independent(score, error, bounded=None) -> CommonScores:
    """Scores known with independent normal errors, by endless annotators."""
    score = np.asarray(score, dtype=float)
    covariance = np.diag(np.broadcast_to(error, score.shape).astype(float) ** 2)
    return CommonScores(
        score=score,
        covariance=covariance,
        unclustered=np.zeros_like(covariance),
        bounded=np.ones(len(score), dtype=bool) if bounded is None else np.asarray(bounded),
        component=np.zeros(len(score), dtype=np.int32),
        degrees_of_freedom=np.inf,
        n_annotators=1_000,
        method="sandwich",
        loss=BradleyTerry(),
    )


def test_items_far_apart_have_one_rank_and_equal_ones_have_all():
    low, high = rank_intervals(independent([3.0, 0.0, -3.0], 0.1), 0.95)
    assert low.tolist() == high.tolist() == [1, 2, 3]
    low, high = rank_intervals(independent([0.0, 0.0, 0.0], 0.1), 0.95)
    assert low.tolist() == [1, 1, 1] and high.tolist() == [3, 3, 3]


def test_the_steps_are_holms():
    """The second difference is decided only because the first one was."""
    error = 1.0 / np.sqrt(2.0)
    between = (norm.isf(0.05) + norm.isf(0.05 / 2)) / 2
    low, high = rank_intervals(independent([0.0, between, 50.0], error), 0.95)
    assert (low[0], high[0]) == (3, 3)
    low, high = rank_intervals(independent([0.0, between, between], error), 0.95)
    assert (low[0], high[0]) == (1, 3)


def test_an_unbounded_item_may_have_any_rank_and_leaves_room_for_it():
    low, high = rank_intervals(independent([9.0, 3.0, -3.0], 0.1, [False, True, True]), 0.95)
    assert (low[0], high[0]) == (1, 3)
    assert low.tolist()[1:] == [1, 2] and high.tolist()[1:] == [2, 3]


def rank_intervals_the_obvious_way(common, level):
    """Holm's steps of one item after the other, the differences sorted."""
    n = len(common.score)
    error = np.sqrt(np.diag(common.covariance))
    low, high = [], []
    for i in range(n):
        others = [j for j in range(n) if j != i]
        ratio = {
            j: (common.score[j] - common.score[i]) / np.hypot(error[i], error[j]) for j in others
        }
        above = below = 0
        for k, j in enumerate(sorted(others, key=lambda j: -abs(ratio[j]))):
            tail = min((1.0 - level) / (n - 1 - k), 0.5)  # a level below a half is a coin's
            if abs(ratio[j]) <= student.isf(tail, common.degrees_of_freedom):
                break
            above, below = above + (ratio[j] > 0), below + (ratio[j] < 0)
        low.append(1 + above)
        high.append(n - below)
    return low, high


@pytest.mark.parametrize("n_items", [2, 5, 33, 70])  # items are compared 32 at a time
@pytest.mark.parametrize("level", [0.2, 0.5, 0.95])
def test_rank_intervals_are_those_of_the_obvious_way(n_items, level):
    rng = np.random.default_rng(n_items)
    score = rng.normal(0.0, 1.0, n_items)
    common = replace(independent(score, rng.uniform(0.05, 0.5, n_items)), degrees_of_freedom=7.0)
    low, high = rank_intervals(common, level)
    assert (low.tolist(), high.tolist()) == rank_intervals_the_obvious_way(common, level)


def test_ranks_are_within_components_and_as_sure_as_their_evidence_is():
    """Two components of two, of which one has an item that never lost."""
    common = replace(
        independent([3.0, 0.0, 9.0, 0.0], 0.1, [True, True, False, True]),
        component=np.array([0, 0, 1, 1], dtype=np.int32),
    )
    low, high = rank_intervals(common, 0.95)
    assert (low.tolist(), high.tolist()) == ([1, 2, 1, 1], [1, 2, 2, 2])
    # Chance leaves exp(-evidence): 0.05 is the bound of one comparison at 95 %.
    for evidence, told in ((3.1, [1, 2]), (2.9, [1, 1])):
        loose = {2: np.array([0.0, 0.0, 0.0, evidence])}
        low, high = rank_intervals(common, 0.95, loose)
        assert low.tolist() == [1, 2, *told]
        assert high.tolist() == [1, 2, 1 if told[1] == 2 else 2, 2]
    low, high = rank_intervals(common, 0.95, {2: np.array([0.0, 0.0, 0.0, -9.0])})
    assert (low[3], high[3]) == (1, 2)  # the rank shown is always among those allowed


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=8), st.floats(0.01, 2.0))
def test_the_rank_of_the_score_is_inside(score, error):
    low, high = rank_intervals(independent(score, error), 0.95)
    above = (np.array(score)[None, :] > np.array(score)[:, None]).sum(axis=1)
    below = (np.array(score)[None, :] < np.array(score)[:, None]).sum(axis=1)
    assert np.all(low <= 1 + above) and np.all(high >= len(score) - below)


def test_rank_intervals_hold_all_ranks_as_often_as_they_say():
    """Each item's interval, over draws of independent errors; ties of truth are excluded."""
    rng = np.random.default_rng(0)
    truth = np.linspace(1.0, 0.0, 8)
    held = np.zeros(8)
    for _ in range(400):
        low, high = rank_intervals(independent(rng.normal(truth, 0.3), 0.3), 0.95)
        held += (low <= np.arange(1, 9)) & (np.arange(1, 9) <= high)
    assert np.all(held / 400 > 0.93)


def test_near_ties_are_where_percentiles_of_simulated_ranks_fail_and_these_do_not():
    """Why the intervals are counts of sure comparisons: noise drawn again favours nobody.

    The best of twenty items that differ by little has rank 1; a draw around the estimates
    puts somebody above it nearly always, however the estimates came out.
    """
    rng = np.random.default_rng(1)
    truth = np.linspace(0.2, 0.0, 20)
    ours, percentiles = 0, 0
    for _ in range(200):
        found = rng.normal(truth, 0.3)
        low, high = rank_intervals(independent(found, 0.3), 0.95)
        ours += low[0] <= 1 <= high[0]
        drawn = rng.normal(found, 0.3, (400, 20))
        rank = 1 + (drawn > drawn[:, :1]).sum(axis=1)
        percentiles += np.quantile(rank, 0.025, method="lower") <= 1
    assert ours / 200 > 0.95
    assert percentiles / 200 < 0.8


def test_nothing_has_to_be_sorted_for_holms_steps():
    """The quantile at which sorted sizes stop is found by counting, of many rows at once."""
    rng = np.random.default_rng(0)
    quantiles = np.append(0.0, norm.isf(0.05 / np.arange(1, 40)))
    sizes = np.abs(rng.normal(size=(500, 39))) * np.linspace(0.1, 6.0, 500)[:, None]
    sizes[-1] = 50.0  # nobody is left
    falling = np.sort(sizes, axis=1)[:, ::-1]
    expected = []
    for row in falling:
        left = len(row)
        while left and row[len(row) - left] > quantiles[left]:
            left -= 1
        expected.append(quantiles[left])
    assert np.array_equal(_undecided_reach(sizes, quantiles), expected)
    assert len(set(expected)) > 10 and expected[-1] == 0.0
