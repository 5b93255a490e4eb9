"""How a step of a path is tried: by Chebyshev stages while nobody is active, then exponentially.

Where the stiff parts are not of the kind that `exponential` solves, all steps are Chebyshev steps.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from prefpath.model.design import Ints
from prefpath.model.problem import Problem
from prefpath.solver.crowd import Crowd
from prefpath.solver.curvature import no_stiffness
from prefpath.solver.exponential import Exponential, exponential_pays
from prefpath.solver.interpolation import Ends, StepEnds
from prefpath.solver.relax_units import Point
from prefpath.solver.rkc import longest_step, stages_needed
from prefpath.solver.slope import Slope
from prefpath.solver.state import StepState

# A step may lengthen the path by a fifth: bounds on who waits are made for one step ahead.
_LONGEST_SHARE_OF_T = 0.2
# Chebyshev steps with attention by a tenth: what the common scores do in a step multiplies what
# annotators add, and their error estimate does not see it all.
_LONGEST_WITH_ATTENTION = 0.1
# An estimate of the spectral radius costs some five evaluations, a step some ten.
_STEPS_BETWEEN_ESTIMATES = 20
# The first step is a tenth of the fastest relaxation: nothing is known yet of the error.
_FIRST_STEP = 0.1
# Step factors of Sommeijer, Shampine and Verwer: safety, and the least and most a step changes.
_SAFETY, _AFTER_REJECTION, _AFTER_STEP = 0.8, (0.1, 0.8), (0.2, 2.0)
# A step ends just past the next corner if that lies within reach of it.
_TOO_NEAR, _CORNER_REACH, _JUST_PAST = 0.02, 1.2, 1.0001
# Who may add this share of the spectral radius is worth estimating it again.
_NOTICEABLE = 0.4


class Attempt(NamedTuple):
    """A step that was tried: acceptable if its error is at most 1; how long the next may be."""

    ends: StepEnds
    error: float
    next_step: float


class Steps:
    """The steps of one path, and how long the next one is."""

    def __init__(
        self, problem: Problem, crowd: Crowd, slope: Slope, tolerance: float, start: Point
    ) -> None:
        self.problem, self.crowd, self.slope, self.tolerance = problem, crowd, slope, tolerance
        self._radius = slope.spectral_radius(*start)
        self._radius_age = 0
        self._step = _FIRST_STEP / self._radius
        pays = exponential_pays(problem, slope)
        self._exponential = Exponential(problem, crowd, slope, tolerance) if pays else None

    def state(self) -> StepState:
        """What the next steps depend on, as plain arrays."""
        none = no_stiffness(self.problem.n_scalars)
        known = none if self._exponential is None else self._exponential.stiffness
        return StepState(self._step, self._radius, self._radius_age, known)

    def restore(self, state: StepState, last: Ends) -> StepEnds | None:
        """Go on from a state; the last step, if there was one."""
        self._step, stiffness = state.length, state.stiffness
        self._radius, self._radius_age = state.radius, state.radius_age
        if self._exponential is not None and len(stiffness.values):
            self._exponential.restore(stiffness)
            return self._exponential.ends(last)
        return StepEnds(*last, self.slope.n_minimised) if last.length > 0.0 else None

    def length(self, time: float) -> float:
        """How long the next step is: not to outrun the watch over who waits, and stable."""
        if time == 0.0:
            stable = longest_step(self._radius)
            return min(self._step, stable, self.crowd.nobody_enters_before())
        # A minimised common part has no time of its own: only the annotators have.
        relaxation = 0.0 if self.slope.minimiser is not None else 1.0 / self._radius
        if self._is_exponential:
            return min(self._step, max(_LONGEST_SHARE_OF_T * time, relaxation))
        share = _LONGEST_WITH_ATTENTION if self.problem.attention else _LONGEST_SHARE_OF_T
        return min(self._step, max(share * time, relaxation), longest_step(self._radius))

    def attempt(self, time: float, now: Point, length: float, last: StepEnds | None) -> Attempt:
        """Try a step of this length, or a little longer or shorter to end at a corner."""
        if self._is_exponential and last is not None:
            ends, error = self._exponential_step(last, now, length)
            return Attempt(ends, error, _next(length, error))
        corner = self.slope.next_corner(*now, length, self.tolerance)
        at_corner = _TOO_NEAR * length < corner.after < _CORNER_REACH * length
        if at_corner:
            length = _JUST_PAST * corner.after
        # A bias that enters just where the step ends cannot make it unstable.
        reach = 0.99 if at_corner else _CORNER_REACH
        ends, error = self._chebyshev_step(time, now, length, reach)
        next_step = _next(length, error)
        if at_corner and error <= 1.0:
            next_step = min(max(self._step, length), corner.next_step)
        return Attempt(ends, error, next_step)

    def rejected(self, attempt: Attempt, now: Point) -> None:
        """An attempt was not good enough."""
        self._step = attempt.next_step
        if not self._is_exponential:
            self._estimate_radius(now)

    def accepted(self, attempt: Attempt) -> None:
        """An attempt was a step."""
        self._step = attempt.next_step
        if self._is_exponential:
            return
        ends = attempt.ends
        reach = _CORNER_REACH * ends.length
        stiffest = self.slope.radius_within(ends.y0, ends.f0, reach)
        self._radius_age += 1
        aged = self._radius_age >= _STEPS_BETWEEN_ESTIMATES
        if aged or stiffest > _NOTICEABLE * self._radius:
            self._estimate_radius(Point(ends.y1, ends.f1))

    def joined(self, who: Ints, now: Point) -> None:
        """Annotators have become active."""
        self.slope.update_attention_radius(now.y, who)
        stiffest = float(self.slope.own_radius(who).max())
        if not self._is_exponential and stiffest > _NOTICEABLE * self._radius:
            self._estimate_radius(now)

    def seen_back(self, last: StepEnds, now: Point) -> StepEnds:
        """The last step with those who have joined since: what moved them while they waited.

        An exponential step then knows how their force goes and bends, as it does of all others.
        """
        n = len(last.y1)
        if self._exponential is None or len(now.y) == n:
            return last
        before, after = self.slope.while_waiting(n, last.y0), now.f[n:]
        y0 = np.append(last.y0, now.y[n:] - 0.5 * last.length * (before + after))
        return replace(last, y0=y0, y1=now.y, f0=np.append(last.f0, before), f1=now.f)

    @property
    def _is_exponential(self) -> bool:
        return self._exponential is not None and len(self.crowd.active.who) > 0

    def _exponential_step(
        self, last: StepEnds, now: Point, length: float
    ) -> tuple[StepEnds, float]:
        assert self._exponential is not None
        ends, error = self._exponential.step(last, now, length)
        return ends, _judged(error)

    def _chebyshev_step(
        self, time: float, now: Point, length: float, reach: float
    ) -> tuple[StepEnds, float]:
        entering = self.slope.radius_within(*now, reach * length)
        n_stages = stages_needed(length, max(self._radius, entering))
        y1, f1 = self.slope.rkc_step(*now, length, n_stages)
        ends = StepEnds(time, length, now.y, y1, now.f, f1, self.slope.n_minimised)
        return ends, _judged(self.slope.error(ends) / self.tolerance)

    def _estimate_radius(self, now: Point) -> None:
        self._radius = self.slope.spectral_radius(*now)
        self._radius_age = 0


def _judged(error: float) -> float:
    """An error, infinite where a step ran away: not a number is above nothing, and was accepted."""
    return error if np.isfinite(error) else np.inf


def _next(length: float, error: float) -> float:
    """How long the next step may be, or this one when tried again."""
    factor = _SAFETY * max(error, 1e-10) ** (-1.0 / 3.0)
    least, most = _AFTER_REJECTION if error > 1.0 else _AFTER_STEP
    return length * min(max(factor, least), most)
