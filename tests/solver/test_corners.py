"""What limits a step: error estimates, corners, and the stiffness of who has just entered."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath import simulate_crowd
from prefpath.model.problem import Problem
from prefpath.solver.corners import Scalars, entering_rate, next_corner, step_errors
from prefpath.solver.flow import FlowSolver
from prefpath.solver.interpolation import Ends

N_COMMON = 3


def scalars_of(rate: float) -> Scalars:
    """One active annotator (number 1 of two) with a block of two and a bias at place 5 of y."""
    return Scalars(
        who=np.array([1]),
        at=np.array([N_COMMON + 2]),
        threshold=np.ones((2, 2)),
        share=np.array([0.0, 1.0]),
        attention_rate=np.zeros(0),
        position_rate=rate,
        kappa=20.0,
    )


def test_errors_are_the_estimates_of_the_chebyshev_method_and_a_bias_damps_its_own():
    rng = np.random.default_rng(0)
    y0, y1, f0, f1 = rng.standard_normal((4, N_COMMON + 3))
    estimate = np.abs(0.8 * (y0 - y1) + 0.4 * 0.5 * (f0 + f1))
    estimate[-1] /= 1.0 + 0.25 * 0.5 * 6.0
    found = step_errors(Ends(0.0, 0.5, y0, y1, f0, f1), N_COMMON, scalars_of(6.0))
    np.testing.assert_allclose(found, (estimate[:3].max(), estimate[3:].max()), rtol=1e-14)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_step_ends_where_a_bias_enters_unless_it_would_not_notice(side):
    y, f = np.zeros(6), np.zeros(6)
    y[5], f[5] = side * 0.9, side * 0.05
    fast = scalars_of(10.0)
    assert next_corner(y, f, 3.0, 1e-3, fast).after == pytest.approx(2.0)
    assert next_corner(y, f, 3.0, 10.0, fast).after == np.inf
    assert entering_rate(y, f, 1.9, fast) == 0.0
    assert entering_rate(y, f, 2.1, fast) == 10.0


def test_who_joins_changes_nobody_elses_slope():
    solver = FlowSolver(Problem.build(simulate_crowd(3_000, 40, 10, seed=0).votes, balance=True))
    solver.follow(np.array([2.0]) * solver.first_entry())
    waits = np.flatnonzero(solver.crowd.room.waiting.waits)[:5]
    joined = solver.crowd.activate(waits)
    y = np.concatenate((solver.y, joined.y))
    found = solver.slope.after_joining(y, solver.f)
    np.testing.assert_allclose(found, solver.slope.at(y), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_power_method_sees_a_bias_that_has_only_just_entered(side):
    solver = FlowSolver(Problem.build(simulate_crowd(6_000, 10, 60, seed=0).votes))
    busiest = np.array([int(np.argmax(solver.crowd.share))])
    y = np.concatenate((solver.y, solver.crowd.activate(busiest).y))
    y[-1] = side * (1.0 + 1e-12)
    radius = solver.slope.spectral_radius(y, solver.slope.at(y))
    assert radius > 0.9 * solver.slope.own_radius(busiest).max()
