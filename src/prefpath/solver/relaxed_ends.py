"""An exponential step that has been made, to look into."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from prefpath.model.design import Floats, Ints
from prefpath.solver.active import Active
from prefpath.solver.arguments import Terms
from prefpath.solver.curvature import Rates, to_modes
from prefpath.solver.interpolation import Ends, StepEnds, hermite
from prefpath.solver.relax_units import relax_scalars, unbend_scalars
from prefpath.solver.relaxation import left_of_forces


class Modes(NamedTuple):
    """The common part of a step, by modes: its slope at both ends, and how far it moved."""

    slope0: Floats
    slope1: Floats
    moved: Floats


@dataclass(frozen=True, kw_only=True)
class RelaxedEnds(StepEnds):
    """An exponential step; `vectors` and their `rows`, and `values`, are those of its W."""

    modes: Modes
    vectors: Floats
    rows: Floats
    values: Floats
    active: Active
    terms: Terms
    rates: Rates

    @cached_property
    def inner(self) -> StepEnds:
        """The step with common slopes that have no noise of stiff modes."""
        slope0, slope1, _ = self.modes
        smooth = self._smooth(self.f0, slope0), self._smooth(self.f1, slope1)
        return StepEnds(self.start, self.length, self.y0, self.y1, *smooth)

    def _smooth(self, f: Floats, slope: Floats) -> Floats:
        """What is stiff has no slope to speak of: its noise, times its rate, would be one."""
        fast = self.length * self.values
        modes = (slope + fast * (self.modes.moved / self.length)) / (1.0 + fast)
        return np.concatenate((to_modes(self.rows, modes), f[len(modes) :]))

    def at(self, t: float) -> Floats:
        """The state at time t within the step; scalars by their own equation, and bent."""
        y, s = self.inner.at(t), (t - self.start) / self.length
        relax_scalars(y, self.as_ends(), t - self.start, self.active, self.terms, self.rates)
        places, bent = self._bent
        y[places] += s * s * (3.0 - 2.0 * s) * bent
        return y

    def at_with_first(self, t: float, first: float) -> Floats:
        """The state at time t within the step in which the first of all enters.

        What bends the common part is who has entered: until then it relaxes by itself.
        """
        y, n = self.at(t), len(self.values)
        begin, slope = self._alone_until(min(t, first))
        y[:n] = begin
        if t > first:
            left, s = self.end - first, (t - first) / (self.end - first)
            y[:n] = hermite(begin, self.y1[:n], slope, self.inner.f1[:n], left, s)
        return y

    def _alone_until(self, t: float) -> tuple[Floats, Floats]:
        """The common part and its slope where nothing but itself has moved it since the start."""
        time, slope, n = t - self.start, self.modes.slope0, len(self.values)
        moved = time * left_of_forces(time * self.values)[0] * slope
        return (
            self.y0[:n] + to_modes(self.rows, moved),
            to_modes(self.rows, slope - self.values * moved),
        )

    @cached_property
    def _bent(self) -> tuple[Ints, Floats]:
        """Places of the scalars, and what they have of a force that was no straight line.

        Within the step that grows as what a parabola leaves beside its chord: 3 s^2 - 2 s^3.
        """
        n, n_scalars = self.rates.scalar.shape
        places = (self.active.at[1 : n + 1, np.newaxis] + np.arange(-n_scalars, 0)).ravel()
        y = self.y1.copy()
        relax_scalars(y, self.as_ends(), self.length, self.active, self.terms, self.rates)
        return places, self.y1[places] - y[places]

    def integral(self, t: float, n: int) -> Floats:
        """Integral of the first n entries from the start of the step to t."""
        return self.inner.integral(t, n)

    def last_slope(self) -> Floats:
        """The slope at the end of the step, the common part's without noise."""
        return self.inner.f1

    def before_entering(self) -> Ends:
        """The step as scalars that have not entered would have made it without their own pull."""
        y1, f1 = self.y1.copy(), self.f1.copy()
        unbend_scalars(y1, f1, self.as_ends(), self.active, self.terms, self.rates)
        return Ends(self.start, self.length, self.y0, y1, self.f0, f1)
