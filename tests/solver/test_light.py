"""Light annotators: one pass over all their cells gives what a kernel for each of them gives."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath import simulate_crowd
from prefpath.model.problem import Problem
from prefpath.selection.folds import make_folds
from prefpath.solver.flow import FlowSolver
from prefpath.solver.light import MOST_CELLS, no_light_cells
from strategies import random_features, random_votes


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"common_position": True},
        {"penalty": "l1", "loss": "thurstone-mosteller"},
        {"loss": "linear", "position_bias": False},
        {"loss": "huber"},
    ],
    ids=str,
)
def test_one_pass_is_the_same_as_one_kernel_each(how):
    votes = simulate_crowd(16_000, 80, 40, deviants=0.3, seed=3).votes
    problem = Problem.build(votes, balance=True, **how)
    sizes = np.diff(problem.design.cells)
    assert sizes.max() > MOST_CELLS > sizes.min()
    problem = problem.with_weight(make_folds(votes, 5)[0].train)
    solver = FlowSolver(problem)
    first = solver.first_entry()
    solver.follow(np.array([4.0, 12.0]) * first)
    light = solver.crowd.active.light
    own = np.diff(light.cell_at)
    assert (own > 0).sum() > 20
    assert light.weight[: light.cell_at[-1]].min() > 0.0
    together = solver.slope.at(solver.y)
    solver.crowd.active = solver.crowd.active._replace(light=no_light_cells())
    one_by_one = solver.slope.at(solver.y)
    np.testing.assert_allclose(together, one_by_one, rtol=1e-11, atol=1e-15)


def test_with_features_nobody_is_light():
    votes = random_votes(0, n_votes=200)
    solver = FlowSolver(Problem.build(votes, features=random_features(0, 4)))
    solver.follow(np.array([3.0]) * solver.first_entry())
    assert len(solver.crowd.active.who) > 0
    assert solver.crowd.active.light.cell_at.tolist() == [0]
