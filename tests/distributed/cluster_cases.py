"""Crowds and comparisons that the tests of the cluster share."""

from __future__ import annotations

from typing import Any

import numpy as np

from prefpath import Path, Votes, simulate_crowd
from prefpath.distributed.paths import as_model
from prefpath.distributed.settings import Model

SETTINGS: dict[str, Any] = {
    "loss": "bradley-terry",
    "penalty": None,
    "features": None,
    "position_bias": True,
    "common_position": False,
    "kappa": 20.0,
    "balance": False,
    "attention": False,
}


def small_crowd(seed: int = 0) -> Votes:
    return simulate_crowd(900, 24, 6, deviants=4, clickers=3, seed=seed).votes


def model_with(n_items: int = 6, **changed: Any) -> Model:
    return as_model(SETTINGS | changed, n_items)


def assert_same_path(found: Path, expected: Path, tolerance: float = 0.0) -> None:
    """The same times, scores, entries and coefficients; to the last bit without a tolerance."""
    np.testing.assert_array_equal(found.annotators, expected.annotators)
    np.testing.assert_allclose(found.times, expected.times, rtol=tolerance)
    np.testing.assert_allclose(found.common, expected.common, atol=tolerance, rtol=tolerance)
    kinds = ("deviation", "position_bias")
    for kind in kinds if expected.attention_threshold is None else (*kinds, "attention"):
        times = found.entry_times(kind), expected.entry_times(kind)
        np.testing.assert_allclose(*times, rtol=1e4 * tolerance)  # found by bisection
    for t in expected.times:
        apart = abs(found.deviation(t) - expected.deviation(t))
        assert apart.max() <= tolerance
        biases = found.position_bias(t), expected.position_bias(t)
        np.testing.assert_allclose(*biases, atol=tolerance)
