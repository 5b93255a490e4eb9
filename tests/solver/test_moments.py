"""The linear loss by moments: the same slope as vote by vote."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath import Votes
from prefpath.model.problem import Problem
from prefpath.solver import slope as slopes
from prefpath.solver.flow import FlowSolver, solve_flow
from prefpath.solver.grid import make_grid
from prefpath.solver.moments import moments_pay
from strategies import random_features, random_votes


def linear_problem(common_position: bool = False, **how: object) -> Problem:
    votes: Votes = random_votes(3, n_annotators=6, n_items=8, n_votes=400)
    features = random_features(4, votes.n_items, 3)
    return Problem.build(
        votes, loss="linear", features=features, common_position=common_position, **how
    )


@pytest.mark.parametrize("common_position", [False, True])
@pytest.mark.parametrize("n_active", [0, 2, 6])
def test_the_slope_is_that_of_the_votes(monkeypatch, common_position, n_active):
    problem = linear_problem(common_position)
    found = []
    for pays in (True, False):
        monkeypatch.setattr(slopes, "moments_pay", lambda _, pays=pays: pays)
        with FlowSolver(problem, n_threads=1) as solver:
            solver._activate(np.arange(n_active))
            y = 2.0 * np.random.default_rng(0).normal(size=len(solver.y))
            found.append(solver.slope.at(y))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-11, atol=1e-13)
    assert np.abs(found[0]).min() > 0.0


def test_the_path_is_that_of_the_votes(monkeypatch):
    problem, grid = linear_problem(), make_grid(None, 10, 20.0)
    assert moments_pay(problem)
    by_moments = solve_flow(problem, grid)
    monkeypatch.setattr(slopes, "moments_pay", lambda _: False)
    by_votes = solve_flow(problem, grid)
    # Not to rounding: steps adapt, and another last digit can make another step.
    close = 1e-4 * np.abs(by_votes.common).max()
    np.testing.assert_allclose(by_moments.common, by_votes.common, rtol=0.0, atol=close)
    np.testing.assert_allclose(by_moments.entered, by_votes.entered, rtol=1e-4)


def test_moments_are_for_the_linear_loss_with_features_and_many_votes():
    votes = random_votes(3, n_annotators=6, n_items=8, n_votes=400)
    few = random_votes(3, n_annotators=6, n_items=8, n_votes=20)
    features = random_features(4, 8, 3)
    assert not moments_pay(Problem.build(votes, loss="bradley-terry", features=features))
    assert not moments_pay(Problem.build(votes, loss="linear"))
    wide = random_features(4, 8, 40)
    assert not moments_pay(Problem.build(few, loss="linear", features=wide))
