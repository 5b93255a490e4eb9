"""Inside a step: cubic Hermite interpolation, its integral, and when a threshold was crossed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from prefpath.compiling import by_reference
from prefpath.model.design import Floats, Ints
from prefpath.model.penalties import GROUP
from prefpath.solver.active import Active
from prefpath.solver.arguments import DEVIATION, FIRST_SCALAR, Terms

# When a threshold was crossed, as a share of the step: how well, and in how many rounds at most.
_SETTLED, _MOST_ROUNDS, _NOTHING = 1e-13, 60, 1e-300


@by_reference
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

    def last_slope(self) -> Floats:
        """The slope at the end of the step."""
        return self.f1

    def before_entering(self) -> Ends:
        """The step as those who enter within it moved until then."""
        return self.as_ends()

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


def hermite(y0: Floats, y1: Floats, f0: Floats, f1: Floats, h: float, s: float | Floats) -> Floats:
    """Cubic through both ends with both slopes, at share s of a step of length h."""
    a = 1.0 - s * s * (3.0 - 2.0 * s)
    b = s * s * (3.0 - 2.0 * s)
    c = h * s * (1.0 - s) * (1.0 - s)
    d = -h * s * s * (1.0 - s)
    return a * y0 + b * y1 + c * f0 + d * f1


def note_entries(ends: Ends, active: Active, terms: Terms, entered: Floats) -> None:
    """Note when active annotators' effects left zero in this step; row: annotator, column: effect.

    What has entered before is not looked for.
    """
    who, at, threshold = active.who, active.at, terms.threshold[active.who]
    if not len(who):
        return
    n_scalars = entered.shape[1] - FIRST_SCALAR
    start = np.column_stack((at[:-1], at[1:, None] - n_scalars + np.arange(n_scalars)))
    stop = np.column_stack((start[:, FIRST_SCALAR], start[:, FIRST_SCALAR:] + 1))
    size = np.abs(ends.y1[start])
    bounds = np.column_stack((start[:, DEVIATION], stop[:, DEVIATION])).ravel()
    size[:, DEVIATION] = dual_norms(terms.penalty, ends.y1, bounds)[::2]
    row, effect = np.nonzero((size > threshold) & (entered[who] == np.inf))
    if len(row):
        most, begin, end = threshold[row, effect], start[row, effect], stop[row, effect]
        share = _cross(ends, begin, end, most, terms.penalty)
        entered[who[row], effect] = ends.start + share * ends.length


def dual_norms(penalty: int, z: Floats, bounds: Ints) -> Floats:
    """Dual norm of every block of z; they begin at `bounds`, and the last ends with z."""
    if penalty == GROUP:
        return np.asarray(np.sqrt(np.add.reduceat(z * z, bounds)))
    return np.asarray(np.maximum.reduceat(np.abs(z), bounds))


def _cross(ends: Ends, start: Ints, stop: Ints, threshold: Floats, penalty: int) -> Floats:
    """Share of the step at which the norm of each block reaches its threshold.

    By false position that gives way at an end which stays twice (Illinois): some eight rounds.
    """
    widths = stop - start
    first = np.cumsum(widths) - widths
    entry = np.repeat(start - first, widths) + np.arange(widths.sum())
    y0, y1, f0, f1 = (part[entry] for part in (ends.y0, ends.y1, ends.f0, ends.f1))
    below = dual_norms(penalty, y0, first) - threshold
    above = dual_norms(penalty, y1, first) - threshold
    low, high, stayed = np.zeros(len(start)), np.where(below >= 0.0, 0.0, 1.0), np.zeros(len(start))
    share = high
    for _ in range(_MOST_ROUNDS):
        before, share = share, low + (high - low) * (below / np.minimum(below - above, -_NOTHING))
        if np.abs(share - before).max() <= _SETTLED:
            break
        y = hermite(y0, y1, f0, f1, ends.length, np.repeat(share, widths))
        size = dual_norms(penalty, y, first) - threshold
        beyond = size > 0.0
        above = np.where(beyond, size, np.where(stayed < 0.0, 0.5 * above, above))
        below = np.where(beyond, np.where(stayed > 0.0, 0.5 * below, below), size)
        high, low = np.where(beyond, share, high), np.where(beyond, low, share)
        stayed = np.where(beyond, 1.0, -1.0)
    return share
