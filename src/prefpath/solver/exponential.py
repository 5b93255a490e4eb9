"""Exponential steps: what is stiff by itself is solved exactly, and only the rest is approximated.

A Chebyshev step pays for stiffness with stages, and ends at every corner. But what is stiff is
known: the common scores (a matrix of items by items, whoever is active), and each annotator's
scalars and block (rates). Write `y' = force - W y` with W these parts, each without its coupling
to the others; where the force is linear in time the equation is solved exactly, corners of scalars
included (`relaxation`). A predictor lets the force go on as straight as it went over the last step,
a correction bends it into the parabola through three points: two evaluations a step, however stiff
the equation is, and of third order whatever W is (an exponential Adams method).

References
----------
Cox, Matthews: Exponential time differencing for stiff systems (2002).
Hochbruck, Ostermann: Exponential multistep methods of Adams-type (2011).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prefpath.model.design import Floats
from prefpath.model.penalties import GROUP
from prefpath.model.problem import Problem
from prefpath.model.scalar_losses import BRADLEY_TERRY, LINEAR, THURSTONE_MOSTELLER
from prefpath.solver.arguments import CommonPart
from prefpath.solver.crowd import Crowd
from prefpath.solver.curvature import (
    Stiffness,
    add_others,
    modes_of,
    no_stiffness,
    pool_hessian,
    room_for,
    share_with_attention,
    to_modes,
    unit_rates,
    whose_scalars_moved,
)
from prefpath.solver.interpolation import Ends, StepEnds
from prefpath.solver.relax_units import (
    Point,
    Points,
    bend_units,
    go_on,
    learn_attentions,
    relax_units,
    unit_errors,
)
from prefpath.solver.relaxation import left_of_forces
from prefpath.solver.relaxed_ends import Modes, RelaxedEnds
from prefpath.solver.slope import Slope

# Items up to which the common part's matrix is taken apart, and their cube beside the cells of the
# votes: taking it apart, some ten times a path, must cost less than the evaluations it saves.
_MOST_ITEMS, _MOST_CUBES_A_CELL = 1_000, 2_500
# Losses whose curvature does not jump: a jump (Huber) or a spike bends the force in a step.
_SMOOTH = (LINEAR, BRADLEY_TERRY, THURSTONE_MOSTELLER)
# W is taken again when a margin may have moved so far, and after so many steps: at this tolerance,
# and at looser ones (of folds) more rarely, up to three times. Of many items it costs as much as
# many evaluations, and is taken more rarely still.
_DRIFT, _MOST_STEPS = 2.0, 40
_AT_TOLERANCE, _MOST_PATIENCE = 7e-3, 3.0
_MANY_ITEMS, _PATIENCE_WITH_MANY = 200, 1.5
# Of the tolerance, what a step may use: it is longer than a Chebyshev step, and fewer average out.
_STRICTER = 2.3
# Corrections of a step: another one costs an evaluation, a shorter step begun anew costs two. An
# error that is larger than this is not corrected away, nor is one that is nearly all bending.
_MOST_CORRECTIONS, _HOPELESS, _MOST_BENDING = 2, 4.0, 0.8
# What an error along the scores counts for, times the share of votes whose attention has entered:
# attentions and the scale of the scores say the same in two ways, nothing brings them back where
# they drift against each other, and errors of many steps add up.
_OF_SCALE = 6.0


def exponential_pays(problem: Problem, slope: Slope) -> bool:
    """Whether the stiff parts are of the kind that is solved here, by compiled kernels."""
    if slope.crowd.is_small:
        return False
    plain = problem.features is None and slope.minimiser is None
    smooth = problem.loss.code in _SMOOTH and problem.penalty.code == GROUP
    return plain and smooth and _few_items(problem.votes.n_items, slope.crowd.n_cells)


def _few_items(n_items: int, n_cells: int) -> bool:
    return n_items <= _MOST_ITEMS and n_items**3 <= _MOST_CUBES_A_CELL * n_cells


class Guess(NamedTuple):
    """A point; by modes its common part's slope, how far it is from the start, and its force.

    The force is what moves the common part beside itself.
    """

    point: Point
    slope: Floats
    moved: Floats
    force: Floats


class Before(NamedTuple):
    """Where the last step began, and how long it was."""

    guess: Guess
    length: float


class Longer(NamedTuple):
    """A step that was not good enough: where it began, its length and its end."""

    start: Floats
    length: float
    end: Point


class Exponential:
    """Exponential steps of one path."""

    def __init__(self, problem: Problem, crowd: Crowd, slope: Slope, tolerance: float) -> None:
        self.problem, self.crowd, self.slope, self.tolerance = problem, crowd, slope, tolerance
        self._patience = min(max(tolerance / _AT_TOLERANCE, 1.0), _MOST_PATIENCE)
        if problem.votes.n_items >= _MANY_ITEMS:
            self._patience *= _PATIENCE_WITH_MANY
        self.stiffness = no_stiffness(problem.n_scalars)
        self._rows = np.zeros((0, 0))  # the eigenvectors as rows
        self._known: tuple[float, Floats, tuple[Floats, Floats, Floats]] | None = None
        self._longer: Longer | None = None

    def restore(self, stiffness: Stiffness) -> None:
        """Go on with what a path knew."""
        self.stiffness = stiffness
        self._rows = np.ascontiguousarray(stiffness.vectors.T)

    def step(self, last: StepEnds, now: Point, length: float) -> tuple[RelaxedEnds, float]:
        """A step from now, after the last one; its error as a multiple of what it may be.

        Whoever is active now is in the last step, too (`Steps.seen_back`).
        """
        self._renew(last.y0, now.y)
        slope = to_modes(self.stiffness.vectors, now.f[: self.crowd.n_common])
        start = Guess(now, slope, np.zeros_like(slope), slope)
        before = Before(self._old(last, now), last.length)
        straight = self._straight_on(before, start, length)
        then, error = self._first_guess(before, start, straight, length), np.inf
        for _ in range(_MOST_CORRECTIONS):
            guess, then = then, self._corrected(before, start, straight, then, length)
            error = self._error(before, start, guess, then, length)
            if error <= 1.0 or error > _HOPELESS:
                break
            if self._error(before, start, then, then, length) > _MOST_BENDING:
                break
        self._longer = Longer(now.y, length, then.point) if 1.0 < error < np.inf else None
        ends = Ends(last.end, length, now.y, then.point.y, now.f, then.point.f)
        return self._relaxed(ends, Modes(start.slope, then.slope, then.moved)), error

    def _old(self, last: StepEnds, now: Point) -> Guess:
        """Where the last step began, seen from its end."""
        old, vectors = Point(last.y0, last.f0), self.stiffness.vectors
        if not isinstance(last, RelaxedEnds) or last.vectors is not vectors:
            return self._guess(old, now)
        slope, moved = last.modes.slope0, -last.modes.moved
        return Guess(old, slope, moved, slope + self.stiffness.values * moved)

    def _straight_on(self, before: Before, start: Guess, h: float) -> Guess:
        """The force at the end of a step over which it went on as straight as over the last."""
        return self._gone_on(start, (before.guess, start, h / before.length))

    def _first_guess(self, before: Before, start: Guess, straight: Guess, h: float) -> Guess:
        """The end of a step before it is corrected.

        Of a step that was too long, its end is known: the force of a shorter one is taken from the
        parabola through that, which costs no evaluation.
        """
        longer = self._longer
        if longer is not None and longer.start is start.point.y:
            end = self._guess(longer.end, start.point)
            bent = h * (h + before.length) / (longer.length + before.length)
            back, ahead = (h - bent) / before.length, bent / longer.length
            return self._gone_on(start, (before.guess, start, back), (start, end, ahead))
        guess = self._evaluated(self._end(start, straight, h), start)
        active, terms, rates = self.crowd.active, self.crowd.inputs.terms, self.stiffness.rates
        learn_attentions(rates, start.point, straight.point, guess.point, active, terms)
        return guess

    def _gone_on(self, start: Guess, *changes: tuple[Guess, Guess, float]) -> Guess:
        """The start with its force changed by so many times what each change was from a to b."""
        active, terms, rates = self.crowd.active, self.crowd.inputs.terms, self.stiffness.rates
        point, force = Point(start.point.y.copy(), start.point.f.copy()), start.force.copy()
        for a, b, times in changes:
            go_on(point, a.point, b.point, active, terms, rates, times)
            force += times * (b.force - a.force)
        return start._replace(point=point, force=force)

    def _corrected(
        self, before: Before, start: Guess, straight: Guess, guess: Guess, h: float
    ) -> Guess:
        """The end of a step whose force bends into the parabola that ends as at a guess."""
        y = self._end(start, guess, h)
        bent = h * h / (h + before.length) * self._left_of_forces(h)[2]
        y[: self.crowd.n_common] += to_modes(self._rows, bent * (guess.force - straight.force))
        points = Points(before.guess.point, start.point, guess.point, guess.point)
        active, terms, rates = self.crowd.active, self.crowd.inputs.terms, self.stiffness.rates
        bend_units(y, points, active, terms, rates, before.length, h)
        return self._evaluated(y, start)

    def ends(self, ends: Ends) -> RelaxedEnds:
        """A step that has been made, to look into."""
        start, then = Point(ends.y0, ends.f0), Point(ends.y1, ends.f1)
        slope = to_modes(self.stiffness.vectors, ends.f0[: self.crowd.n_common])
        guess = self._guess(then, start)
        return self._relaxed(ends, Modes(slope, guess.slope, guess.moved))

    def _relaxed(self, ends: Ends, modes: Modes) -> RelaxedEnds:
        terms, active = self.crowd.inputs.terms, self.crowd.active
        return RelaxedEnds(
            *ends, modes=modes, vectors=self.stiffness.vectors, rows=self._rows,
            values=self.stiffness.values, active=active, terms=terms, rates=self.stiffness.rates,
        )  # fmt: skip

    def _renew(self, old: Floats, y: Floats) -> None:
        """Take W again where it has aged; else the rates of those who joined or moved far."""
        drift, age = self.crowd.moved()[0], self.stiffness.age
        aged = drift - self.stiffness.drift > self._patience * _DRIFT
        aged |= age >= self._patience * _MOST_STEPS
        n, active, inputs = self.crowd.n_common, self.crowd.active, self.crowd.inputs
        theta = self.problem.scores(y[: self.problem.n_common])
        common = CommonPart(theta, float(y[n - 1]) if self.problem.common_position else 0.0)
        which = np.arange(0 if aged else len(self.stiffness.rates.block), len(active.who))
        if not aged:
            which = np.union1d(whose_scalars_moved(old, y, active, inputs.terms), which)
        if not aged and not len(which):
            self.stiffness = self.stiffness._replace(age=age + 1)
            return
        rates = room_for(self.stiffness.rates, len(active.who))
        hessian = np.zeros((n, n) if aged else (0, 0))
        degree = np.zeros(np.diff(inputs.design.seen).max(initial=1))
        unit_rates(which, active, inputs, common, y, hessian, rates, degree)
        add_others(rates, which, active, inputs.terms, y, self.crowd.share)
        self.stiffness = self.stiffness._replace(rates=rates, age=age + 1)
        if aged:
            self.slope.work.evaluations += 1
            pool_hessian(self.crowd.index, self.crowd.pool, inputs.terms, common, hessian)
            self.restore(Stiffness(*modes_of(hessian), rates, drift, 1))

    def _end(self, start: Guess, end: Guess, h: float) -> Floats:
        """y after a step whose force at the end is that of a guess (the start: it stays)."""
        n, rates = self.crowd.n_common, self.stiffness.rates
        active, terms, now = self.crowd.active, self.crowd.inputs.terms, start.point
        y = np.empty_like(now.y)
        steady, growing, _ = self._left_of_forces(h)
        modes = h * (steady * start.force + growing * (end.force - start.force))
        y[:n] = now.y[:n] + to_modes(self._rows, modes)
        relax_units(y, now, end.point, active, terms, rates, h)
        return y

    def _left_of_forces(self, h: float) -> tuple[Floats, Floats, Floats]:
        """What relaxing leaves of forces on the modes in a step of length h: of one, once."""
        known, values = self._known, self.stiffness.values
        if known is None or known[0] != h or known[1] is not values:
            known = self._known = h, values, left_of_forces(h * values)
        return known[2]

    def _evaluated(self, y: Floats, start: Guess) -> Guess:
        return self._guess(Point(y, self.slope.at(y)), start.point)

    def _guess(self, point: Point, now: Point) -> Guess:
        """A point with what moves the common part beside itself, by modes; y counts from now."""
        n, (values, vectors, *_rest) = self.crowd.n_common, self.stiffness
        moved, slope = to_modes(vectors, point.y[:n] - now.y[:n]), to_modes(vectors, point.f[:n])
        return Guess(point, slope, moved, slope + values * moved)

    def _error(self, before: Before, start: Guess, guess: Guess, then: Guess, h: float) -> float:
        """Largest estimated local error: the last correction, and how the force bends.

        As a multiple of what it may be. From a guess to itself, it is what bending makes of it.
        """
        (steady, growing, _), old = self._left_of_forces(h), before.guess
        bend = h / (6.0 * (h + before.length))
        bent = (then.force - start.force) - (start.force - old.force) * (h / before.length)
        correction = to_modes(self._rows, h * growing * (then.force - guess.force))
        bending = to_modes(self._rows, h * bend * steady * bent)
        common = float(np.abs(correction).max() + np.abs(bending).max())
        common = max(common, self._error_of_scale(correction + bending, then.point.y))
        points = Points(old.point, start.point, guess.point, then.point)
        active, terms = self.crowd.active, self.crowd.inputs.terms
        rates = self.stiffness.rates
        personal = float(unit_errors(points, active, terms, rates, before.length, h))
        scale = self.tolerance * self.slope.scale(then.point.y)
        return _STRICTER * max(common, self.problem.kappa * personal) / scale

    def _error_of_scale(self, error: Floats, y: Floats) -> float:
        """What an error does to the scale of the common scores, if attentions let it stay."""
        theta = y[: self.problem.n_common]
        share = share_with_attention(
            self.crowd.active, self.crowd.inputs.terms, y, self.crowd.share
        )
        if share == 0.0:
            return 0.0
        along = abs(float(error[: len(theta)] @ theta)) / max(float(theta @ theta), 1e-300)
        return _OF_SCALE * share * along * float(np.abs(theta).max())
