"""A path that takes far too long says why, while it can still be stopped."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath.errors import VoteWarning
from prefpath.fit import fit_path
from prefpath.model.problem import Problem
from prefpath.simulate import simulate_crowd
from prefpath.solver.slowness import say_if_many, say_if_slow
from prefpath.solver.work import Work


@pytest.fixture(scope="module")
def votes():
    return simulate_crowd(400, 8, 5, deviants=2, seed=1).votes


def test_a_kappa_beyond_reason_is_named_while_it_runs(votes, monkeypatch):
    monkeypatch.setattr("prefpath.solver.slowness._MANY_EVALUATIONS", 2_000)
    with pytest.warns(VoteWarning, match="taken 2,000 evaluations and goes on: .*kappa.* 1e[+]06"):
        fit_path(votes, kappa=1e6, times=[3.0], n_threads=1)


def test_features_of_unlike_scale_are_named(votes):
    features = np.random.default_rng(0).standard_normal((votes.n_items, 2))
    problem = Problem.build(votes, features=features * [1e6, 1.0])
    work = Work(evaluations=1_000_000)
    with pytest.warns(
        VoteWarning, match="spreads of the features differ by .*standardise=True"
    ) as said:
        say_if_slow(problem, work)
        say_if_slow(problem, work)
    assert len(said) == 1
    with pytest.warns(VoteWarning, match="9,000,000 iterations: the spreads of the features"):
        say_if_many(problem, 9e6)


def test_without_such_a_reason_it_is_the_crowd(votes):
    with pytest.warns(VoteWarning, match="so many annotators stand out"):
        say_if_slow(Problem.build(votes), Work(evaluations=1_000_000))


@pytest.mark.parametrize("solver", ["flow", "lbi"])
def test_ordinary_paths_say_nothing(votes, solver):
    fit_path(votes, solver=solver, n_times=4, t_ratio=10.0, n_threads=1)
