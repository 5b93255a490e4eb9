"""Penalties: the prox is the minimiser, and is zero exactly inside the dual ball."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from prefpath import SettingError
from prefpath.model.penalties import GroupPenalty, L1Penalty, Penalty, as_penalty
from prefpath.solver.kernels import dual_norm, shrink_block, soft_threshold

PENALTIES = st.sampled_from((GroupPenalty(), L1Penalty()))
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


@given(PENALTIES, VECTORS, THRESHOLDS)
def test_kernels_equal_the_penalty(penalty, z, threshold):
    padded = np.concatenate((np.full(2, 9.0), z, np.full(1, 9.0)))
    out = np.full(len(z), np.nan)
    moved = shrink_block(padded, 2, 2 + len(z), threshold, 20.0, penalty.group, out)
    np.testing.assert_allclose(out, 20.0 * penalty.prox(z, threshold), atol=1e-12)
    assert moved == out.any()
    assert dual_norm(padded, 2, 2 + len(z), penalty.group) == pytest.approx(penalty.dual_norm(z))
    for value in z:
        assert soft_threshold(value, threshold) == L1Penalty().prox(np.array([value]), threshold)[0]


def test_names_and_defaults():
    assert as_penalty(None, has_features=False) == GroupPenalty()
    assert as_penalty(None, has_features=True) == L1Penalty()
    assert as_penalty("l1", has_features=False) == L1Penalty()
    assert as_penalty(GroupPenalty(), has_features=True) == GroupPenalty()
    with pytest.raises(SettingError, match="group, l1"):
        as_penalty("ridge", has_features=False)
