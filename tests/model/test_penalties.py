"""Penalties: the prox is the minimiser, and is zero exactly inside the dual ball."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from prefpath import SettingError
from prefpath.model import penalties
from prefpath.model.penalties import (
    GroupPenalty,
    L1Penalty,
    Penalty,
    add_scaled_prox,
    as_penalty,
    block_norms,
    block_proxes,
    scalar_time_to_leave,
    scaled_prox,
    soft_thresholds,
    time_to_leave,
)

PENALTIES = st.sampled_from([penalty() for penalty in penalties.PENALTIES.values()])
THRESHOLDS = st.floats(0.1, 3.0)
VECTORS = hnp.arrays(np.float64, st.integers(1, 6), elements=st.floats(-4, 4))


def objective(penalty: Penalty, x: np.ndarray, z: np.ndarray, threshold: float) -> float:
    return threshold * penalty.value(x) + 0.5 * float(np.sum((x - z) ** 2))


@given(PENALTIES, VECTORS, THRESHOLDS, st.integers(0, 2**31))
def test_prox_is_the_minimiser(penalty, z, threshold, seed):
    best = penalty.prox(z, threshold)
    lowest = objective(penalty, best, z, threshold)
    rng = np.random.default_rng(seed)
    for scale in (1e-4, 1e-2, 1.0):
        for _ in range(10):
            other = best + scale * rng.normal(size=len(z))
            # strongly convex: away from the minimiser the objective grows by half the square
            growth = 0.5 * float(np.sum((other - best) ** 2))
            assert objective(penalty, other, z, threshold) >= lowest + growth - 1e-12
    assert objective(penalty, np.zeros_like(z), z, threshold) >= lowest - 1e-12


@given(PENALTIES, VECTORS, THRESHOLDS)
def test_prox_is_zero_exactly_inside_the_dual_ball(penalty, z, threshold):
    assert penalty.prox(z, threshold).any() == (penalty.dual_norm(z) > threshold)


def laplacian(weight: np.ndarray) -> np.ndarray:
    symmetric = weight + weight.T
    np.fill_diagonal(symmetric, 0.0)
    return np.diag(symmetric.sum(axis=1)) - symmetric


@given(PENALTIES, st.integers(2, 6), st.integers(0, 2**31))
def test_a_laplacian_moves_the_gradient_no_further_than_its_bounds(penalty, n_items, seed):
    rng = np.random.default_rng(seed)
    graph = laplacian(np.triu(rng.exponential(size=(n_items, n_items)), 1))
    share, heaviest = np.array([np.trace(graph) / 2.0]), np.array([graph.max()])
    by_range, by_norm = penalty.laplacian_bounds(share, heaviest)
    for change in rng.normal(size=(20, n_items)):
        moved = penalty.dual_norm(graph @ change)
        assert moved <= by_range[0] * np.ptp(change) * (1.0 + 1e-12)
        assert moved <= by_norm[0] * np.linalg.norm(change) * (1.0 + 1e-12)


@pytest.mark.parametrize("penalty", [GroupPenalty(), L1Penalty()])
def test_one_pair_reaches_the_bounds(penalty):
    graph, one, change = 3.0 * np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([3.0]), [0.5, -0.5]
    by_range, by_norm = penalty.laplacian_bounds(one, one)
    moved = penalty.dual_norm(graph @ np.array(change))
    assert moved == pytest.approx(by_range[0])
    assert moved == pytest.approx(by_norm[0] * np.linalg.norm(change))
    assert penalty.pair_norm(None) == pytest.approx(penalty.dual_norm(np.array([1.0, -1.0])))


@given(PENALTIES, VECTORS)
def test_the_dual_norm_is_the_largest_product_with_what_costs_one(penalty, z):
    """`max <x, z> / value(x)`; every direction stays below, the prox of a large z comes near."""
    norm, rng = penalty.dual_norm(z), np.random.default_rng(0)
    for x in rng.normal(size=(20, len(z))):
        assert x @ z <= norm * penalty.value(x) + 1e-9
    if norm > 1e-3:
        x = penalty.prox(z, (1.0 - 1e-9) * norm)
        assert x @ z >= (1.0 - 1e-6) * norm * penalty.value(x)


@given(PENALTIES, VECTORS, VECTORS, THRESHOLDS)
def test_blocks_are_those_of_the_penalty_one_by_one(penalty, a, b, threshold):
    z, ends = np.concatenate((a, b)), np.array([0, len(a), len(a), len(a) + len(b)])
    thresholds = np.array([threshold, 1.0, 2.0 * threshold])
    norms = block_norms(penalty.code, z, ends)
    np.testing.assert_array_equal(norms, [penalty.dual_norm(a), 0.0, penalty.dual_norm(b)])
    value, is_active = block_proxes(penalty.code, z, ends, thresholds, 20.0)
    expected = np.concatenate((penalty.prox(a, threshold), penalty.prox(b, 2.0 * threshold)))
    # Numbers below 1e-300 have fewer digits.
    np.testing.assert_allclose(value, 20.0 * expected, rtol=1e-12, atol=1e-300)
    np.testing.assert_array_equal(is_active, norms > thresholds)


@given(PENALTIES, VECTORS, THRESHOLDS, st.integers(0, 2**31))
def test_time_to_leave_is_when_the_norm_reaches_the_threshold(penalty, z, threshold, seed):
    slope = np.random.default_rng(seed).normal(size=len(z))
    inside = penalty.dual_norm(z) < 0.999 * threshold
    time = time_to_leave(penalty.code, z, slope, 0, len(z), threshold)
    if inside:
        assert penalty.dual_norm(z + time * slope) == pytest.approx(threshold, rel=1e-9)
        assert penalty.dual_norm(z + 0.99 * time * slope) < threshold
    elif penalty.group and penalty.dual_norm(z) >= threshold:
        assert time == 0.0


@pytest.mark.parametrize("penalty", [penalty() for penalty in penalties.PENALTIES.values()])
@pytest.mark.parametrize("n_features", [None, 3])
def test_pair_norm_bounds_every_pair(penalty, n_features):
    rng = np.random.default_rng(0)
    features = None if n_features is None else rng.normal(size=(7, n_features))
    phi = np.eye(7) if features is None else features
    largest = max(penalty.dual_norm(phi[i] - phi[j]) for i in range(7) for j in range(7))
    assert largest <= penalty.pair_norm(features) * (1 + 1e-12)


@pytest.mark.parametrize("penalty", [penalty() for penalty in penalties.PENALTIES.values()])
def test_laplacian_bounds_hold(penalty):
    rng = np.random.default_rng(1)
    for _ in range(200):
        i = rng.integers(0, 5, 12)
        j = (i + rng.integers(1, 5, 12)) % 5
        weight, change = rng.random(12), rng.normal(size=5)
        incidence = np.eye(5)[i] - np.eye(5)[j]
        moved = incidence.T @ (weight * (incidence @ change))
        heaviest = (np.abs(incidence).T @ weight).max()
        share = np.array([weight.sum()])
        by_drift, by_travel = penalty.laplacian_bounds(share, np.array([heaviest]))
        size = penalty.dual_norm(moved)
        assert size <= by_drift[0] * np.ptp(change) * (1 + 1e-12)
        assert size <= by_travel[0] * np.linalg.norm(change - change.mean()) * (1 + 1e-12)


@given(VECTORS, THRESHOLDS)
def test_scalars_are_soft_thresholded(z, threshold):
    found = soft_thresholds(z, np.full(len(z), threshold))
    np.testing.assert_array_equal(found, L1Penalty().prox(z, threshold))


# ---------------------------------------------------------------- by hand

GROUP_OF_TWO = (GroupPenalty(), [3.0, 4.0], 2.0, [1.8, 2.4])  # 5 long, 3 of it are left
L1_OF_TWO = (L1Penalty(), [3.0, -0.5], 2.0, [1.0, 0.0])
by_hand = pytest.mark.parametrize(
    ("penalty", "z", "threshold", "shrunk"), [GROUP_OF_TWO, L1_OF_TWO]
)


@by_hand
def test_a_prox_by_hand_wherever_its_block_lies(penalty, z, threshold, shrunk):
    np.testing.assert_allclose(penalty.prox(np.array(z), threshold), shrunk, rtol=1e-15)
    among = np.array([9.0, -9.0, *z, 9.0])
    out = np.full(2, 7.0)
    assert scaled_prox(penalty.code, among, 2, 4, threshold, 10.0, out) is True
    np.testing.assert_allclose(out, 10.0 * np.array(shrunk), rtol=1e-15)
    added = np.arange(5.0)
    add_scaled_prox(penalty.code, among, 2, 4, threshold, 10.0, added)
    np.testing.assert_allclose(
        added, [0.0, 1.0, 2.0 + 10.0 * shrunk[0], 3.0 + 10.0 * shrunk[1], 4.0], rtol=1e-15
    )


@pytest.mark.parametrize("penalty", [GroupPenalty(), L1Penalty()])
def test_a_block_on_the_dual_ball_has_not_entered(penalty):
    z = np.array([3.0, 4.0, 0.0])
    size = penalty.dual_norm(z)
    assert size == (5.0 if penalty.group else 4.0)
    out, added = np.full(3, 7.0), np.ones(3)
    assert scaled_prox(penalty.code, z, 0, 3, size, 10.0, out) is False
    add_scaled_prox(penalty.code, z, 0, 3, size, 10.0, added)
    assert (out.tolist(), added.tolist()) == ([0.0] * 3, [1.0] * 3)
    value, is_active = block_proxes(penalty.code, z, np.array([0, 3]), np.array([size]), 10.0)
    assert (value.tolist(), is_active.tolist()) == ([0.0] * 3, [False])
    assert penalty.prox(z).tolist() == penalty.prox(z, 1.0).tolist() != [0.0] * 3


def test_times_to_leave_by_hand():
    group, l1 = GroupPenalty().code, L1Penalty().code
    # A block at places 1 and 2: 0.6 across from the centre of the unit disc, 0.8 to its edge.
    z = np.array([9.0, 0.6, 0.0, 9.0])
    assert time_to_leave(group, z, np.array([0.0, 2.0]), 1, 3, 1.0) == pytest.approx(0.4)
    assert time_to_leave(group, z, np.array([-2.0, 0.0]), 1, 3, 1.0) == pytest.approx(0.8)
    assert time_to_leave(group, z, np.zeros(2), 1, 3, 1.0) == np.inf
    assert time_to_leave(group, z, np.array([-1.0, 0.0]), 1, 3, 0.6) == 0.0  # on the edge is out
    # Of entries that move by themselves the first one out counts.
    assert time_to_leave(l1, z, np.array([-2.0, 4.0]), 1, 3, 1.0) == pytest.approx(0.25)
    assert time_to_leave(l1, z, np.array([-2.0, 0.1]), 1, 3, 1.0) == pytest.approx(0.8)
    assert time_to_leave(l1, z, np.zeros(2), 1, 3, 1.0) == np.inf
    assert scalar_time_to_leave(0.5, 2.0, 1.5) == 0.5
    assert scalar_time_to_leave(0.5, -2.0, 1.5) == 1.0
    assert scalar_time_to_leave(2.0, 0.5, 1.5) == 0.0  # it is outside already


def test_pair_norms_of_features_by_hand():
    """Rows 5 long at most: two of them differ by 10 at most; columns reach over 6 and 7."""
    features = np.array([[3.0, 4.0], [-3.0, 1.0], [0.0, -3.0]])
    assert GroupPenalty().pair_norm(features) == 10.0
    assert L1Penalty().pair_norm(features) == 7.0


def test_names_and_defaults():
    assert as_penalty(None, has_features=False) == GroupPenalty()
    assert as_penalty(None, has_features=True) == L1Penalty()
    assert as_penalty("l1", has_features=False) == L1Penalty()
    assert as_penalty(GroupPenalty(), has_features=True) == GroupPenalty()
    with pytest.raises(SettingError, match="group, l1"):
        as_penalty("ridge", has_features=False)
