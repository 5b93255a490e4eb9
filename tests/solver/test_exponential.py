"""Exponential steps: biases by their own equation, and the same path in fewer evaluations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from prefpath import Votes, simulate_crowd
from prefpath.model.problem import Problem
from prefpath.solver import steps
from prefpath.solver.exponential import Before, Guess
from prefpath.solver.flow import FlowSolver, solve_flow
from prefpath.solver.grid import make_grid
from prefpath.solver.relax_units import Point
from prefpath.solver.relaxation import phi1, phi2, relaxed
from prefpath.solver.relaxed_ends import RelaxedEnds


def by_euler(z, force, growth, rate, threshold, time, n=40_000):
    step = time / n
    for k in range(n):
        soft = math.copysign(max(abs(z) - threshold, 0.0), z)
        z += step * (force + growth * (k + 0.5) * step - rate * soft)
    return z


@pytest.mark.parametrize("z", [-1.4, -0.9, 0.0, 0.98, 1.0, 2.5])
@pytest.mark.parametrize(("force", "growth"), [(0.4, 0.0), (0.3, -0.6), (-2.0, 1.5), (0.0, 0.0)])
@pytest.mark.parametrize("rate", [0.0, 0.7, 30.0])
def test_a_bias_is_solved_exactly_across_its_corners(z, force, growth, rate):
    exact = relaxed(z, force, growth, rate, 1.0, 3.0)
    assert exact == pytest.approx(by_euler(z, force, growth, rate, 1.0, 3.0), abs=2e-3)


def test_series_and_functions_meet():
    for x in (0.999e-3, 1.001e-3):
        assert phi1(x) == pytest.approx(-np.expm1(-x) / x, rel=1e-9)
        assert phi2(x) == pytest.approx(0.5 - x / 6.0 + x * x / 24.0, rel=1e-9)


def test_the_same_path_in_half_the_evaluations(monkeypatch):
    """A crowd in which everybody becomes active, against Chebyshev steps at a fine tolerance."""
    problem = Problem.build(simulate_crowd(8_000, 80, 20, activity="even", seed=3).votes)
    path = solve_flow(problem, make_grid(None, 12, 20.0), n_threads=1)
    monkeypatch.setattr(steps, "exponential_pays", lambda *_: False)
    grid = make_grid(path.times, 12, 20.0)
    usual = solve_flow(problem, grid, n_threads=1)
    fine = solve_flow(problem, grid, tolerance=2e-4, n_threads=1)
    assert path.n_evaluations < usual.n_evaluations / 2.0
    assert np.abs(path.common - fine.common).max() < 0.005 * np.abs(fine.common).max()
    bias = [np.abs(path.position_bias(t) - fine.position_bias(t)).max() for t in path.times]
    largest = max(np.abs(fine.position_bias(t)).max() for t in path.times)
    assert max(bias) < 0.01 * largest
    entered, true = path.entry_times("position_bias"), fine.entry_times("position_bias")
    both = np.isfinite(entered) & np.isfinite(true)
    np.testing.assert_allclose(entered[both], true[both], rtol=0.01)


def test_what_a_step_knows_by_modes_is_what_they_would_be_computed_to_be():
    """To the last bit: a path that goes on from a file has only states and slopes."""
    problem = Problem.build(simulate_crowd(8_000, 80, 20, activity="even", seed=3).votes)
    with FlowSolver(problem, n_threads=1) as solver:
        exponential = solver.steps._exponential
        first = solver.first_entry()
        n_known = 0
        for ratio in np.linspace(1.5, 6.0, 40):
            solver.follow(np.array([ratio * first]))
            last, now = solver.last, Point(solver.y, solver.f)
            if not isinstance(last, RelaxedEnds):
                continue
            known = exponential._old(last, now)
            anew = exponential._guess(Point(last.y0, last.f0), now)
            for part, same in zip(known[1:], anew[1:], strict=True):
                np.testing.assert_array_equal(part, same)
            again = exponential.ends(last.as_ends())
            np.testing.assert_array_equal(again.inner.f0, last.inner.f0)
            np.testing.assert_array_equal(again.last_slope(), last.last_slope())
            n_known += last.vectors is exponential.stiffness.vectors
    assert n_known > 10


def test_the_end_of_a_step_that_was_too_long_bends_the_next():
    """Its force lies on the parabola through those of the last step, the start and that end."""
    problem = Problem.build(simulate_crowd(8_000, 80, 20, activity="even", seed=3).votes)
    with FlowSolver(problem, n_threads=1) as solver:
        solver.follow(np.array([4.0 * solver.first_entry()]))
        exponential, last, now = solver.steps._exponential, solver.last, Point(solver.y, solver.f)
        h, work = 0.5 * last.length, solver.work
        before = work.evaluations
        fresh, _ = exponential.step(last, now, h)
        of_fresh, before = work.evaluations - before, work.evaluations
        longer, error = exponential.step(last, now, 8.0 * last.length)
        assert error > 1.0
        of_longer, before = work.evaluations - before, work.evaluations
        shorter, error = exponential.step(last, now, h)
        of_shorter = work.evaluations - before
        assert error <= 1.0
        assert (of_fresh, of_longer, of_shorter) == (2, 2, 1)
        size = np.abs(now.y).max()
        assert np.abs(shorter.y1 - fresh.y1).max() < solver.tolerance * size

        exponential.step(last, now, 8.0 * last.length)
        n = solver.crowd.n_common
        old = exponential._old(last, now)
        slope = exponential.stiffness.vectors.T @ now.f[:n]
        start = Guess(now, slope, np.zeros(n), slope)
        end = exponential._guess(Point(longer.y1, longer.f1), now)
        found = exponential._first_guess(Before(old, last.length), start, start, h)
        times = [-last.length, 0.0, 8.0 * last.length]
        for k in range(n):
            parabola = np.polyfit(times, [part.force[k] for part in (old, start, end)], 2)
            assert found.force[k] == pytest.approx(np.polyval(parabola, h), abs=1e-12)


def test_the_end_of_a_step_that_was_far_too_long_says_nothing_of_the_next():
    """Bent through it, the next would end further off, and the one after that nowhere."""
    problem = Problem.build(simulate_crowd(8_000, 80, 20, activity="even", seed=3).votes)
    with FlowSolver(problem, n_threads=1) as solver:
        solver.follow(np.array([4.0 * solver.first_entry()]))
        exponential, last, now = solver.steps._exponential, solver.last, Point(solver.y, solver.f)
        fresh, _ = exponential.step(last, now, 0.5 * last.length)
        _, error = exponential.step(last, now, 50.0 * last.length)
        assert error > 1_000.0
        before = solver.work.evaluations
        again, error = exponential.step(last, now, 0.5 * last.length)
        assert error <= 1.0
        assert solver.work.evaluations == before + 2
        np.testing.assert_array_equal(again.y1, fresh.y1)


@pytest.mark.parametrize("seed", [37, 38, 54])
def test_answers_of_coins_are_followed_where_attention_makes_the_equation_steep(seed):
    """Nobody tells the items apart: the first step with all who enter is far too long."""
    rng = np.random.default_rng(seed)
    sizes = ((5, 25), (200, 700), (4, 12))
    n_annotators, n_votes, n_items = (int(rng.integers(*ends)) for ends in sizes)
    who = np.minimum(rng.geometric(0.3, n_votes), n_annotators)
    left = rng.integers(0, n_items, n_votes)
    right = (left + rng.integers(1, n_items, n_votes)) % n_items
    votes = Votes.from_arrays(who, left, right, rng.choice([-1.0, 0.0, 1.0], n_votes))
    problem = Problem.build(votes, loss="thurstone-mosteller", kappa=350.0, attention=True)
    path = solve_flow(problem, make_grid(None, 3, 1.3), n_threads=1)
    assert np.abs(path.common).max() < 1.0
    assert path.n_evaluations < 1_500


def test_a_step_whose_error_is_no_number_is_made_shorter():
    judged = [steps._judged(error) for error in (1.0, 2.0, np.nan)]
    assert judged == [1.0, 2.0, np.inf]
    lengths = [steps._next(1.0, error) for error in judged]
    assert lengths == pytest.approx([0.8, 0.635, 0.1], abs=1e-4)


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_nothing_bends_the_common_part_before_the_first_has_entered(seed):
    """Who enters within a step pulls its end; a cubic through both ends knew of that before."""
    crowd = simulate_crowd(8_000, 12, 20, deviants=2, seed=seed)
    problem = Problem.build(crowd.votes, attention=True)
    with FlowSolver(problem, n_threads=1, tolerance=1e-4) as solver:
        fine = solver._state_at(solver.first_entry())[: problem.n_common]
    with FlowSolver(problem, n_threads=1) as solver:
        first, n = solver.first_entry(), problem.n_common
        step = solver.last
        assert isinstance(step, RelaxedEnds)
        scale = np.abs(fine).max()
        assert np.abs(step.at(first)[:n] - fine).max() > 2e-3 * scale
        assert np.abs(solver._state_at(first)[:n] - fine).max() < 1e-4 * scale
        ends = step.at_with_first(step.start, first), step.at_with_first(step.end, first)
        np.testing.assert_allclose(ends[0][:n], step.y0[:n], atol=1e-12)
        np.testing.assert_allclose(ends[1][:n], step.y1[:n], atol=1e-12)
        around = [step.at_with_first(first * (1.0 + off), first) for off in (-1e-9, 1e-9)]
        np.testing.assert_allclose(*around, atol=1e-6 * scale)
