"""Inside a step: cubic Hermite interpolation, its integral, and when a threshold was crossed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from prefpath.model.design import Floats
from prefpath.solver.active import Active
from prefpath.solver.kernels import dual_norm


@dataclass(frozen=True)
class StepEnds:
    """A step: state and slope at both ends. Entries from `n_fixed` on move by their slope;
    those before (a minimised common part) are functions of them and taken as linear in t."""

    start: float
    length: float
    y0: Floats
    y1: Floats
    f0: Floats
    f1: Floats
    n_fixed: int = 0

    @property
    def end(self) -> float:
        return self.start + self.length

    def at(self, t: float) -> Floats:
        """The state at time t within the step."""
        s = (t - self.start) / self.length
        y = hermite(self.y0, self.y1, self.f0, self.f1, self.length, s)
        n = self.n_fixed
        y[:n] = self.y0[:n] + s * (self.y1[:n] - self.y0[:n])
        return y

    def integral(self, t: float, n: int) -> Floats:
        """Integral of the first n entries from the start of the step to t."""
        s = (t - self.start) / self.length
        h, y0, y1 = self.length, self.y0[:n], self.y1[:n]
        if self.n_fixed:
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


def entry_in_step(
    ends: StepEnds,
    active: Active,
    threshold: Floats,
    threshold_bias: Floats,
    group: bool,
    known: np.ndarray,
    known_bias: np.ndarray,
) -> tuple[Floats, Floats]:
    """When each active annotator's deviation and bias left zero in this step; inf: not in it."""
    return _entries(
        ends.start,
        ends.length,
        ends.y0,
        ends.y1,
        ends.f0,
        ends.f1,
        active,
        threshold,
        threshold_bias,
        group,
        known,
        known_bias,
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _entries(
    start: float,
    length: float,
    y0: Floats,
    y1: Floats,
    f0: Floats,
    f1: Floats,
    active: Active,
    threshold: Floats,
    threshold_bias: Floats,
    group: bool,
    known: Floats,
    known_bias: Floats,
) -> tuple[Floats, Floats]:
    found = np.full(len(active.who), np.inf)
    found_bias = np.full(len(active.who), np.inf)
    for index in range(len(active.who)):
        u = active.who[index]
        at, end = active.at[index], active.at[index + 1] - 1
        if not known[index] and dual_norm(y1, at, end, group) > threshold[u]:
            share = _cross(y0, y1, f0, f1, length, at, end, threshold[u], group)
            found[index] = start + share * length
        if not known_bias[index] and abs(y1[end]) > threshold_bias[u]:
            share = _cross(y0, y1, f0, f1, length, end, end + 1, threshold_bias[u], False)
            found_bias[index] = start + share * length
    return found, found_bias


@njit(cache=True, nogil=True, error_model="numpy")
def _cross(
    y0: Floats,
    y1: Floats,
    f0: Floats,
    f1: Floats,
    length: float,
    start: int,
    stop: int,
    threshold: float,
    group: bool,
) -> float:
    """Share of the step at which a block's norm reaches its threshold, by bisection."""
    if dual_norm(y0, start, stop, group) >= threshold:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        y = hermite(y0[start:stop], y1[start:stop], f0[start:stop], f1[start:stop], length, middle)
        if dual_norm(y, 0, stop - start, group) > threshold:
            high = middle
        else:
            low = middle
    return high
