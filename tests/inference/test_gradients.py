"""Gradients of annotators' losses: in NumPy the same as compiled."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath import fit_path, simulate_crowd
from prefpath.fitted import Fitted
from prefpath.inference.evidence import gather_evidence
from prefpath.inference.gradients import compiled_gradients, gradients_of_few
from prefpath.model.problem import Problem


@pytest.mark.parametrize("settings", [{}, {"loss": "huber"}, {"features": True}])
def test_in_numpy_they_are_the_same(settings) -> None:
    votes = simulate_crowd(900, 12, 6, deviants=4, clickers=2, seed=1).votes
    if "features" in settings:
        settings = {"features": np.random.default_rng(0).normal(size=(votes.n_items, 3))}
    path = fit_path(votes, n_times=3, t_ratio=8.0, n_threads=1, **settings)
    evidence = gather_evidence(Fitted.of(Problem.build(votes, **settings), path))
    assert np.any(evidence.own) and np.any(evidence.own_bias)
    coefficient = np.random.default_rng(1).normal(size=len(evidence.coefficient))
    for few, compiled in zip(
        gradients_of_few(evidence, coefficient),
        compiled_gradients(evidence, coefficient),
        strict=True,
    ):
        assert np.abs(compiled).max() > 1.0
        np.testing.assert_allclose(few, compiled, rtol=1e-12, atol=1e-12)
