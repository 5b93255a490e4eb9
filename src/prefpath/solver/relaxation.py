"""Position biases over a step, each as its own equation: corners inside a step cost nothing.

Of all that moves a position bias only its own value changes its slope at once. The rest (the common
scores, the deviations) changes smoothly, so that over a step

    z' = force - rate * soft(z),     force linear in time,

which is solved exactly, also where z leaves its interval (or comes back) on the way.
"""

from __future__ import annotations

import math

import numpy as np

from prefpath.compiling import inner_kernel, kernel
from prefpath.model.design import Floats

# A bias that enters, turns back and enters again within one step: beyond, it stays where it is.
_MOST_CROSSINGS = 4
# Below this the exponential functions are taken by their series.
_SMALL = 1e-3
# The same of `bending`, a difference of two that differ little.
_SMALL_FOR_BENDING = 0.05


@inner_kernel(allocates=False)
def phi1(x: float) -> float:
    """`(1 - exp(-x)) / x`: what is left of a constant force after x of its rates."""
    if x < _SMALL:
        return 1.0 - x * (0.5 - x * (1.0 / 6.0 - x / 24.0))
    return -math.expm1(-x) / x


@inner_kernel(allocates=False)
def phi2(x: float) -> float:
    """`(exp(-x) - 1 + x) / x^2`: the same of a force that grows from 0."""
    if x < _SMALL:
        return 0.5 - x * (1.0 / 6.0 - x * (1.0 / 24.0 - x / 120.0))
    return (math.expm1(-x) + x) / (x * x)


@inner_kernel(allocates=False)
def bending(x: float) -> float:
    """What a force adds over x of its rates that bends by `t (t - 1)`, t going from 0 to 1.

    `2 phi3(x) - phi2(x)`, -1/6 where nothing relaxes; `phi3 = (1/2 - phi2) / x`.
    """
    if x < _SMALL_FOR_BENDING:
        return -1.0 / 6.0 + x * (1.0 / 12.0 - x * (1.0 / 40.0 - x * (1.0 / 180.0 - x / 1008.0)))
    return 2.0 * (0.5 - phi2(x)) / x - phi2(x)


def left_of_forces(x: Floats) -> tuple[Floats, Floats, Floats]:
    """`phi1`, `phi2` and `bending` of each."""
    out = np.empty((3, len(x)))
    note_left_of_forces(x, out)
    return out[0], out[1], out[2]


@kernel(allocates=False)
def note_left_of_forces(x: Floats, out: Floats) -> None:
    """Fill in a row of each."""
    for k in range(len(x)):
        out[0, k], out[1, k], out[2, k] = phi1(x[k]), phi2(x[k]), bending(x[k])


@inner_kernel(allocates=False)
def relaxed(
    z: float, force: float, growth: float, rate: float, threshold: float, time: float
) -> float:
    """z after a time under `z' = force + growth t - rate soft(z)`."""
    for _ in range(_MOST_CROSSINGS):
        if abs(z) < threshold or (abs(z) == threshold and force * z <= 0.0):
            crossing, side = _way_out(z, force, growth, threshold)
            if crossing >= time:
                return z + time * (force + 0.5 * time * growth)
            z, force, time = side * threshold, force + crossing * growth, time - crossing
        side = math.copysign(1.0, z)
        out, pull, more = side * z - threshold, side * force, side * growth
        low, high = 0.0, _lowest(out, pull, more, rate, time)
        if _outside(out, pull, more, rate, high) >= 0.0:
            return side * (threshold + _outside(out, pull, more, rate, time))
        for _ in range(40):
            middle = 0.5 * (low + high)
            if _outside(out, pull, more, rate, middle) >= 0.0:
                low = middle
            else:
                high = middle
        z, force, time = side * threshold, force + high * growth, time - high
    return z


@inner_kernel(allocates=False)
def _lowest(out: float, force: float, growth: float, rate: float, time: float) -> float:
    """When z is closest to its threshold after its start: where it turns, or at the end."""
    last = force + growth * time - rate * _outside(out, force, growth, rate, time)
    if force - rate * out >= 0.0 or last <= 0.0:
        return time
    low, high = 0.0, time
    for _ in range(40):
        middle = 0.5 * (low + high)
        slope = force + growth * middle - rate * _outside(out, force, growth, rate, middle)
        if slope < 0.0:
            low = middle
        else:
            high = middle
    return high


@inner_kernel(allocates=False)
def _outside(out: float, force: float, growth: float, rate: float, time: float) -> float:
    """How far beyond its threshold z is, if it stays there."""
    x = rate * time
    return out * math.exp(-x) + time * (force * phi1(x) + growth * time * phi2(x))


@inner_kernel(allocates=False)
def _way_out(z: float, force: float, growth: float, threshold: float) -> tuple[float, float]:
    """When `z + force t + growth t^2 / 2` first leaves the interval, and on which side."""
    first, on = np.inf, 1.0
    for side in (1.0, -1.0):
        gap, pull, more = threshold - side * z, side * force, side * growth
        after = _first_root(gap, pull, more)
        if after < first:
            first, on = after, side
    return first, on


@inner_kernel(allocates=False)
def _first_root(gap: float, pull: float, more: float) -> float:
    """The first t at which `pull t + more t^2 / 2` reaches a gap of at least 0, upward."""
    square = pull * pull + 2.0 * more * gap
    if square < 0.0:
        return np.inf
    root = math.sqrt(square)
    if pull > 0.0:
        return 2.0 * gap / (pull + root)
    return (root - pull) / more if more > 0.0 else np.inf
