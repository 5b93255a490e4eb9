"""Inside a step: cubic Hermite interpolation, its integral, and when a threshold was crossed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from prefpath.model.design import Floats
from prefpath.model.penalties import L1, dual_norm
from prefpath.solver.active import Active
from prefpath.solver.arguments import DEVIATION, FIRST_SCALAR, Terms


class Ends(NamedTuple):
    """A step as kernels read it: state and slope at both ends."""

    start: float
    length: float
    y0: Floats
    y1: Floats
    f0: Floats
    f1: Floats


@dataclass(frozen=True)
class StepEnds:
    """A step: state and slope at both ends. Entries from `n_minimised` on move by their
    slope; those before (a minimised common part) are functions of them, taken as linear in t."""

    start: float
    length: float
    y0: Floats
    y1: Floats
    f0: Floats
    f1: Floats
    n_minimised: int = 0

    @property
    def end(self) -> float:
        return self.start + self.length

    def as_ends(self) -> Ends:
        """The step as kernels read it."""
        return Ends(self.start, self.length, self.y0, self.y1, self.f0, self.f1)

    def at(self, t: float) -> Floats:
        """The state at time t within the step."""
        s = (t - self.start) / self.length
        y = hermite(self.y0, self.y1, self.f0, self.f1, self.length, s)
        n = self.n_minimised
        y[:n] = self.y0[:n] + s * (self.y1[:n] - self.y0[:n])
        return y

    def integral(self, t: float, n: int) -> Floats:
        """Integral of the first n entries from the start of the step to t."""
        s = (t - self.start) / self.length
        h, y0, y1 = self.length, self.y0[:n], self.y1[:n]
        if self.n_minimised:
            return h * (s * y0 + 0.5 * s**2 * (y1 - y0))
        f0, f1 = self.f0[:n], self.f1[:n]
        s2, s3, s4 = s**2, s**3, s**4
        return h * (
            y0 * (s - s3 + 0.5 * s4)
            + y1 * (s3 - 0.5 * s4)
            + h * f0 * (0.5 * s2 - 2.0 / 3.0 * s3 + 0.25 * s4)
            + h * f1 * (0.25 * s4 - s3 / 3.0)
        )


@njit(cache=True, nogil=True, error_model="numpy")
def hermite(y0: Floats, y1: Floats, f0: Floats, f1: Floats, h: float, s: float) -> Floats:
    """Cubic through both ends with both slopes, at share s of a step of length h."""
    a = 1.0 - s * s * (3.0 - 2.0 * s)
    b = s * s * (3.0 - 2.0 * s)
    c = h * s * (1.0 - s) * (1.0 - s)
    d = -h * s * s * (1.0 - s)
    return a * y0 + b * y1 + c * f0 + d * f1


@njit(cache=True, nogil=True, error_model="numpy")
def note_entries(ends: Ends, active: Active, terms: Terms, entered: Floats) -> None:
    """Note when active annotators' effects left zero in this step; row: annotator, column: effect.

    What has entered before is not looked for.
    """
    who, at, threshold = active.who, active.at, terms.threshold
    n_scalars = entered.shape[1] - FIRST_SCALAR
    for index in range(len(who)):
        u, start, end = who[index], at[index], at[index + 1] - n_scalars
        if entered[u, DEVIATION] == np.inf:
            most = threshold[u, DEVIATION]
            if dual_norm(terms.penalty, ends.y1, start, end) > most:
                share = _cross(ends, start, end, most, terms.penalty)
                entered[u, DEVIATION] = ends.start + share * ends.length
        for k in range(n_scalars):
            place, most = end + k, threshold[u, FIRST_SCALAR + k]
            if entered[u, FIRST_SCALAR + k] == np.inf and abs(ends.y1[place]) > most:
                share = _cross(ends, place, place + 1, most, L1)
                entered[u, FIRST_SCALAR + k] = ends.start + share * ends.length


@njit(cache=True, nogil=True, error_model="numpy")
def _cross(ends: Ends, start: int, stop: int, threshold: float, penalty: int) -> float:
    """Share of the step at which a block's norm reaches its threshold, by bisection."""
    y0, y1 = ends.y0[start:stop], ends.y1[start:stop]
    f0, f1 = ends.f0[start:stop], ends.f1[start:stop]
    if dual_norm(penalty, y0, 0, stop - start) >= threshold:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        y = hermite(y0, y1, f0, f1, ends.length, middle)
        if dual_norm(penalty, y, 0, stop - start) > threshold:
            high = middle
        else:
            low = middle
    return high
