"""GBDT and DART: the objective by finite differences, the limit, the missing library."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

from prefpath import Votes
from prefpath.baselines import DART, GBDT, BradleyTerry
from prefpath.baselines.boosted_trees import pairwise_logistic
from prefpath.baselines.linear_solves import log_loss
from prefpath.baselines.training import Training
from prefpath.errors import MissingExtra


def test_gradient_is_the_derivative_and_curvature_a_bound(votes: Votes) -> None:
    training = Training.from_votes(votes)
    counts = training.counts
    design = training.differences(counts.first, counts.second).toarray()
    args = (design, *counts.half_tied, np.zeros(votes.n_items))
    point = np.random.default_rng(0).normal(size=votes.n_items)
    gradient, curvature = pairwise_logistic(counts, np.arange(votes.n_items))(point, None)
    assert_allclose(gradient, approx_fprime(point, lambda s: log_loss(s, *args)), rtol=1e-4)
    p = 1 / (1 + np.exp(-(design @ point)))
    hessian = design.T @ np.diag(counts.total * p * (1 - p)) @ design
    assert np.linalg.eigvalsh(np.diag(curvature) - hessian).min() > -1e-9


def test_many_rounds_of_one_hot_trees_approach_bradley_terry(votes: Votes) -> None:
    trees = GBDT(n_leaves=16, rounds=400).fit(votes).scores()
    assert_allclose(trees, BradleyTerry().fit(votes).scores(), atol=0.02)


def test_trees_see_what_no_linear_score_can(planted_votes: Any) -> None:
    features = np.linspace(-2, 2, 30)[:, None]
    truth = 4 - 2 * features[:, 0] ** 2
    votes = planted_votes(truth, n_votes=3000)
    trees = GBDT(n_leaves=8, rounds=100).fit(votes, features).scores()
    assert np.corrcoef(trees, truth)[0, 1] > 0.95
    linear = BradleyTerry().fit(votes, features).scores()
    assert abs(np.corrcoef(linear, truth)[0, 1]) < 0.5


def test_dart_drops_trees(votes: Votes) -> None:
    plain = GBDT(n_leaves=8, rounds=50, learning_rate=0.2).fit(votes).scores()
    dropped = DART(n_leaves=8, rounds=50, learning_rate=0.2).fit(votes).scores()
    other = DART(n_leaves=8, rounds=50, learning_rate=0.2, random_state=1).fit(votes).scores()
    assert np.abs(dropped - plain).max() > 1e-3
    assert np.abs(dropped - other).max() > 1e-6


def test_lightgbm_is_silent(votes: Votes, capfd: pytest.CaptureFixture[str]) -> None:
    GBDT(n_leaves=8, rounds=5).fit(votes)
    DART(n_leaves=8, rounds=5).fit(votes, np.ones((votes.n_items, 1)))
    assert capfd.readouterr() == ("", "")


def test_without_lightgbm_the_extra_is_named(votes: Votes, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "lightgbm":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"prefpath\[baselines\]"):
        GBDT().fit(votes)
