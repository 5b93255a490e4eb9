"""Exponential steps are of third order: their parts against plain statements, and all of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from prefpath import simulate_crowd
from prefpath.model.problem import Problem
from prefpath.solver.active import Active
from prefpath.solver.arguments import CommonPart, Terms
from prefpath.solver.curvature import (
    Rates,
    add_others,
    share_with_attention,
    unit_rates,
    whose_scalars_moved,
)
from prefpath.solver.exponential import Exponential
from prefpath.solver.flow import FlowSolver
from prefpath.solver.interpolation import StepEnds
from prefpath.solver.relax_units import Point, Points, bend_units, go_on
from prefpath.solver.relaxation import bending, left_of_forces
from strategies import attentive_votes


def bent_force(x: float) -> float:
    """What `bending` is: a force `t (t - 1)` on something that relaxes at rate x."""
    return float(quad(lambda t: np.exp(-x * (1.0 - t)) * t * (t - 1.0), 0.0, 1.0)[0])


@pytest.mark.parametrize("x", [0.0, 1e-6, 0.01, 0.0499, 0.0501, 0.3, 2.0, 40.0, 3e3])
def test_bending_is_the_integral_of_a_bent_force(x):
    assert bending(x) == pytest.approx(bent_force(x), rel=1e-9)
    np.testing.assert_array_equal(left_of_forces(np.array([x]))[2], bending(x))


class Sample:
    """Three active annotators at three points.

    Rates are of every kind: blocks that are stiff over a step and not, scalars in and out.
    """

    def __init__(self) -> None:
        problem = Problem.build(attentive_votes(3, (1.0, 0.0, -1.0, 2.0)), attention=True)
        with FlowSolver(problem, n_threads=1) as solver:
            solver._activate(np.array([0, 2, 3]))
            self.active: Active = solver.crowd.active
            self.terms: Terms = solver.crowd.inputs.terms
            self.n, size = solver.crowd.n_common, len(solver.y)
        rng = np.random.default_rng(0)
        draw = [Point(*(1.5 * rng.normal(size=(2, size)))) for _ in range(3)]
        self.old, self.now, self.then = draw
        self.rates = Rates(rng.uniform(0.2, 3.0, (3, 2)), np.array([0.1, 5.0, 5.0]))

    def scalars(self) -> list[tuple[int, float, float]]:
        """Place, rate and threshold of all scalars."""
        return [
            (self.active.at[i + 1] - 2 + k, self.rates.scalar[i, k], self.terms.threshold[u, 1 + k])
            for i, u in enumerate(self.active.who)
            for k in range(2)
        ]

    def blocks(self) -> list[tuple[slice, float, float]]:
        """Places, rate and threshold of all blocks."""
        at, threshold = self.active.at, self.terms.threshold
        return [
            (slice(at[i], at[i + 1] - 2), self.rates.block[i], threshold[u, 0])
            for i, u in enumerate(self.active.who)
        ]


def force(point: Point, at: int, rate: float, most: float) -> float:
    z = float(point.y[at])
    return float(point.f[at]) + rate * float(np.sign(z)) * max(abs(z) - most, 0.0)


def test_forces_go_on_as_they_went():
    s, ratio = Sample(), 0.7
    found = Point(s.now.y.copy(), s.now.f.copy())
    go_on(found, s.old, s.now, s.active, s.terms, s.rates, ratio)
    for at, rate, most in s.scalars():
        before, now = (force(point, at, rate, most) for point in (s.old, s.now))
        assert force(found, at, rate, most) == pytest.approx(now + ratio * (now - before))
        assert found.y[at] == s.now.y[at]
    for places, _, _ in s.blocks():
        for part, old, now in zip(found, s.old, s.now, strict=True):
            expected = now[places] + ratio * (now[places] - old[places])
            np.testing.assert_allclose(part[places], expected)
    np.testing.assert_array_equal(found.y[: s.n], s.now.y[: s.n])  # the common scores stay
    np.testing.assert_array_equal(found.f[: s.n], s.now.f[: s.n])


def added(forces: list[float], before: float, h: float, rate: float) -> float:
    """What the parabola through forces at -before, 0 and h adds to a step, beyond the line."""
    parabola = np.polyfit([-before, 0.0, h], forces, 2)
    line = np.polyfit([0.0, h], forces[1:], 1)
    return float(
        quad(
            lambda t: np.exp(-rate * (h - t)) * (np.polyval(parabola, t) - np.polyval(line, t)),
            0.0,
            h,
        )[0]
    )


def test_what_bent_forces_add_to_a_step():
    s, before, h = Sample(), 0.5, 0.8
    start = np.random.default_rng(1).normal(size=len(s.now.y))
    out = start.copy()
    points = Points(s.old, s.now, s.now, s.then)
    bend_units(out, points, s.active, s.terms, s.rates, before, h)
    for at, rate, most in s.scalars():
        forces = [force(point, at, rate, most) for point in (s.old, s.now, s.then)]
        own = rate if abs(start[at]) > most else 0.0
        assert out[at] - start[at] == pytest.approx(added(forces, before, h, own), rel=1e-6)
    stiff = 0
    for places, rate, most in s.blocks():
        norm = float(np.linalg.norm(s.now.y[places]))
        own = rate * max(1.0 - most / norm, 0.0) if h * rate > 1.0 else 0.0
        stiff += own > 0.0
        for k in range(places.start, places.stop):
            forces = [float(p.f[k] + own * p.y[k]) for p in (s.old, s.now, s.then)]
            assert out[k] - start[k] == pytest.approx(added(forces, before, h, own), rel=1e-6)
    assert stiff == 2
    np.testing.assert_array_equal(out[: s.n], start[: s.n])


def test_rates_are_taken_again_of_those_whose_scalars_moved():
    s = Sample()
    y = s.old.y
    at, _, most = s.scalars()[3]  # the second one's attention
    y[at] = most
    assert not len(whose_scalars_moved(y, y, s.active, s.terms))
    inside, little, far = y.copy(), y.copy(), y.copy()
    inside[at], little[at] = -0.9 * most, most + 0.04 / s.terms.kappa
    far[at] = most + 0.06 / s.terms.kappa
    for there, moved in ((inside, []), (little, []), (far, [1])):
        found = whose_scalars_moved(s.old.y, there, s.active, s.terms)
        np.testing.assert_array_equal(found, moved)


def test_some_rates_are_those_of_all():
    problem = Problem.build(attentive_votes(3, (1.0, 0.0, -1.0, 2.0)), attention=True)
    with FlowSolver(problem, n_threads=1) as solver:
        solver._activate(np.arange(4))
        y = 2.0 * np.random.default_rng(0).normal(size=len(solver.y))
        found = []
        for which in (np.arange(4), np.array([3, 1])):
            rates, degree = Rates(np.zeros((4, 2)), np.zeros(4)), np.zeros(problem.votes.n_items)
            common, inputs = CommonPart(solver.slope.theta_of(y), 0.0), solver.crowd.inputs
            active, hessian = solver.crowd.active, np.zeros((0, 0))
            unit_rates(which, active, inputs, common, y, hessian, rates, degree)
            found.append(rates)
    for all_of_them, some in zip(*found, strict=True):
        np.testing.assert_array_equal(some[[1, 3]], all_of_them[[1, 3]])
        assert not some[[0, 2]].any() and all_of_them.all()


def test_attentions_move_each_other_where_all_have_entered():
    """An attention's rate has a fifth more for the votes of all whose attention has entered."""
    problem = Problem.build(attentive_votes(3, (1.0, 0.0, -1.0, 2.0)), attention=True)
    with FlowSolver(problem, n_threads=1) as solver:
        solver._activate(np.array([0, 2]))
        active, terms = solver.crowd.active, solver.crowd.inputs.terms
        share, y = solver.crowd.share, np.zeros(len(solver.y))
        assert share_with_attention(active, terms, y, share) == 0.0
        y[active.at[2] - 1] = -1.01 * terms.threshold[2, 2]
        assert share_with_attention(active, terms, y, share) == pytest.approx(share[2])
        rates = Rates(np.ones((2, 2)), np.ones(2))
        add_others(rates, np.array([1]), active, terms, y, share)
        np.testing.assert_array_equal(rates.scalar, [[1.0, 1.0], [1.0, 1.0 + 0.2 * share[2]]])
    bare = Problem.build(attentive_votes(3, (1.0, 0.0)))
    with FlowSolver(bare, n_threads=1) as solver:
        solver._activate(np.array([0]))
        terms = solver.crowd.inputs.terms
        args = solver.crowd.active, terms, solver.y, solver.crowd.share
        assert share_with_attention(*args) == 0.0
        rates = Rates(np.ones((1, 1)), np.ones(1))
        add_others(rates, np.array([0]), *args)
        assert rates.scalar == 1.0


@pytest.mark.parametrize("large", [False, True])
def test_the_last_step_is_known_of_who_joins_after_it(large):
    """As if they had been active, and all their values zero, at its beginning."""
    votes = simulate_crowd(8_000, 80, 20, activity="even", seed=3).votes
    problem = Problem.build(votes, attention=True)
    with FlowSolver(problem, n_threads=1) as solver:
        solver.slope._large = large
        solver.follow(np.array([1.5 * solver.first_entry()]))
        last, waits = solver.last, np.setdiff1d(np.arange(80), solver.crowd.active.who)
        n = len(last.y0)
        solver._activate(waits[:3])
        seen, size = solver.last, len(solver.y)
        assert len(seen.y0) == len(seen.f0) == size > n
        for part in ("y0", "y1", "f0", "f1"):
            np.testing.assert_array_equal(getattr(seen, part)[:n], getattr(last, part))
        np.testing.assert_array_equal(seen.y1, solver.y)
        np.testing.assert_array_equal(seen.f1, solver.f)
        waited = solver.slope.at(np.concatenate((last.y0, np.zeros(size - n))))[n:]
        np.testing.assert_allclose(seen.f0[n:], waited, rtol=1e-9, atol=1e-15)
        moved = 0.5 * last.length * (waited + solver.f[n:])
        np.testing.assert_allclose(seen.y1[n:] - seen.y0[n:], moved, rtol=1e-9, atol=1e-15)


def test_within_a_step_scalars_are_bent_as_at_its_end():
    """Where nobody's has entered and the force is a parabola, z is its integral."""
    votes = simulate_crowd(8_000, 80, 20, activity="even", seed=3).votes
    with FlowSolver(Problem.build(votes), n_threads=1) as solver:
        solver.follow(np.array([3.0 * solver.first_entry()]))
        last = solver.last
        places, bent = last._bent
        assert 1e-6 < np.abs(bent).max() < 0.01
        np.testing.assert_allclose(last.at(last.end)[places], last.y1[places], atol=1e-13)
        np.testing.assert_allclose(last.at(last.start)[places], last.y0[places], atol=1e-13)
        most = solver.crowd.inputs.terms.threshold[solver.crowd.active.who, 1]
        out = (np.abs(last.y0[places]) < most) & (np.abs(last.y1[places]) < most)
        assert out.sum() > 3
        h, s = last.length, 0.3
        chord = last.f0[places] + 0.5 * s * (last.f1 - last.f0)[places]
        expected = last.y0[places] + s * h * chord + s * s * (3.0 - 2.0 * s) * bent
        found = last.at(last.start + s * h)[places]
        np.testing.assert_allclose(found[out], expected[out], rtol=1e-12)


def steps_of(solver: FlowSolver, first: StepEnds, h: float, n: int) -> list[StepEnds]:
    """A step that is given, and n exponential steps of length h after it."""
    how = solver.problem, solver.crowd, solver.slope
    exponential, made = Exponential(*how, tolerance=0.9), [first]
    for _ in range(n):
        last = made[-1]
        made.append(exponential.step(last, Point(last.y1, last.f1), h)[0])
    return made


def out_of_intervals(solver: FlowSolver, y: np.ndarray) -> np.ndarray:
    """Which scalars and blocks have entered."""
    active, threshold = solver.crowd.active, solver.crowd.inputs.terms.threshold
    n_scalars, entered = solver.problem.n_scalars, []
    for i, u in enumerate(active.who):
        own = y[active.at[i] : active.at[i + 1]]
        entered.append(np.linalg.norm(own[:-n_scalars]) > threshold[u, 0])
        entered.extend(np.abs(own[-n_scalars:]) > threshold[u, 1:])
    return np.array(entered)


@pytest.mark.parametrize(("attention", "start"), [(False, 286.0), (True, 306.0)])
def test_half_the_step_has_an_eighth_of_the_error(attention, start):
    """Between corners, where nobody enters or leaves; all that is followed counts."""
    votes = attentive_votes(4, (1.0,) * 30 + (0.0, -1.0, 3.0) * 4, n_items=8, each=150)
    problem = Problem.build(votes, attention=attention)
    with FlowSolver(problem, n_threads=1, tolerance=1e-4) as solver:
        solver.follow(np.array([start]))
        assert solver.last is not None and len(solver.crowd.active.who) >= 5
        h = 2.0
        fine = steps_of(solver, solver.last, h / 64.0, 64 * 9)[1:]
        entered = [out_of_intervals(solver, ends.y1) for ends in fine]
        assert entered[0].any() and all(np.array_equal(one, entered[0]) for one in entered)
        errors = []
        for shorter in (1, 2, 4):
            n = 64 // shorter  # fine steps of the step that is given
            y0, f0, y1, f1 = fine[0].y0, fine[0].f0, fine[n - 1].y1, fine[n - 1].f1
            first = StepEnds(0.0, h / shorter, y0, y1, f0, f1)
            last = steps_of(solver, first, h / shorter, 8 * shorter + shorter - 1)[-1]
            errors.append(np.abs(last.y1 - fine[-1].y1).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 3.0) < (0.4, 0.2)), (errors, orders)  # 2 of the second order


def test_a_step_that_is_nearly_good_enough_is_corrected_instead_of_begun_anew(monkeypatch):
    votes = attentive_votes(4, (1.0,) * 30 + (0.0, -1.0, 3.0) * 4, n_items=8, each=150)
    problem, work = Problem.build(votes, attention=True), []
    for most in (1, 2):
        monkeypatch.setattr("prefpath.solver.exponential._MOST_CORRECTIONS", most)
        with FlowSolver(problem, n_threads=1) as solver:
            first = solver.first_entry()
            solver.follow(np.geomspace(first, 20.0 * first, 5))
            work.append(solver.work)
    assert work[1].rejected < work[0].rejected
    assert work[1].evaluations < work[0].evaluations
