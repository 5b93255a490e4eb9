"""What limits a step: its estimated error, and the scalars of active annotators about to enter.

A position bias answers to all votes of its annotator at once, so it runs to its value within a
moment of entering: the sharpest corners of a path. Its own rate also damps what a step gets wrong
of it: over a step of x rates an error counts as `1 / (1 + x / 4)` of itself.

One pass over the active annotators each, compiled: a path takes as many steps as it has stages.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from prefpath.model.design import Floats, Ints
from prefpath.solver.arguments import FIRST_SCALAR
from prefpath.solver.interpolation import Ends

# A corner within a step counts where it would use up this share of the tolerance.
_SHARE_OF_TOLERANCE = 0.5
# How much of its rate damps what a step gets wrong of a scalar. With twice as much, gamma of the
# linear model on IQA is off by 1.03 % instead of 0.82 % (benchmarks/flow_accuracy.py).
_DAMPING = 0.25
# The error estimate of a corner in a step of x rates: at most .1 x and at most .4 of what moves.
_SHORT, _LONG = 0.1, 0.4


class Scalars(NamedTuple):
    """The active annotators' scalars: `at[k]` is where y holds the first of annotator `who[k]`.

    `threshold[u, effect]` is where a scalar leaves zero. What it may add to the spectral radius by
    itself is its rate: a position bias `position_rate * share[u]`, an attention
    `attention_rate[u]`.
    """

    who: Ints
    at: Ints
    threshold: Floats
    share: Floats
    attention_rate: Floats
    position_rate: float
    kappa: float


class Corner(NamedTuple):
    """How long until a scalar enters, and how long a step can be from there."""

    after: float
    next_step: float


def next_corner(y: Floats, f: Floats, step: float, limit: float, scalars: Scalars) -> Corner:
    """When the next scalar of an active annotator leaves zero, along its slope.

    Steps end there instead of failing across it. Who enters so slowly that a step would not
    notice makes no corner: its error stays below half of the `limit`.
    """
    after, value, rate = _first_corner(y, f, step, _SHARE_OF_TOLERANCE * limit, scalars)
    if not np.isfinite(after):
        return Corner(np.inf, np.inf)
    return Corner(after, _relaxing_step(_SHARE_OF_TOLERANCE * limit / value) / rate)


@njit(cache=True, nogil=True, error_model="numpy")
def _rate(u: int, k: int, scalars: Scalars) -> float:
    return scalars.position_rate * scalars.share[u] if k == 0 else scalars.attention_rate[u]


@njit(cache=True, nogil=True, error_model="numpy")
def _first_corner(
    y: Floats, f: Floats, step: float, limit: float, scalars: Scalars
) -> tuple[float, float, float]:
    """When the first corner comes, how far its scalar will run, and at what rate."""
    who, at, threshold, kappa = scalars.who, scalars.at, scalars.threshold, scalars.kappa
    first, value, rate = np.inf, 0.0, 0.0
    for index in range(len(who)):
        for k in range(threshold.shape[1] - FIRST_SCALAR):
            z, slope = y[at[index] + k], f[at[index] + k]
            most, own = threshold[who[index], FIRST_SCALAR + k], _rate(who[index], k, scalars)
            if slope == 0.0 or abs(z) >= most:
                continue
            x = step * own
            if kappa * abs(slope) * step * min(_LONG, _SHORT * x) <= limit * (1.0 + _DAMPING * x):
                continue
            after = (most - z) / slope if slope > 0.0 else (most + z) / -slope
            if after < first:
                first, value, rate = after, kappa * abs(slope) / own, own
    return first, value, rate


@njit(cache=True, nogil=True, error_model="numpy")
def entering_rate(y: Floats, f: Floats, step: float, scalars: Scalars) -> float:
    """The largest rate of the scalars that may enter within a step along their slopes."""
    who, at, threshold = scalars.who, scalars.at, scalars.threshold
    largest = 0.0
    for index in range(len(who)):
        for k in range(threshold.shape[1] - FIRST_SCALAR):
            z, slope = y[at[index] + k], f[at[index] + k]
            most = threshold[who[index], FIRST_SCALAR + k]
            if abs(z) < most and abs(slope) * step >= most - (z if slope > 0.0 else -z):
                largest = max(largest, _rate(who[index], k, scalars))
    return largest


@njit(cache=True, nogil=True, error_model="numpy")
def step_errors(ends: Ends, n_common: int, scalars: Scalars) -> tuple[float, float]:
    """Largest estimated local errors of a step: of the common part, and of z."""
    _, h, y0, y1, f0, f1 = ends
    who, at, threshold = scalars.who, scalars.at, scalars.threshold
    common, personal = 0.0, 0.0
    for k in range(n_common):
        common = max(common, abs(0.8 * (y0[k] - y1[k]) + 0.4 * h * (f0[k] + f1[k])))
    start = n_common
    for index in range(len(who)):
        end = at[index]
        for k in range(start, end):
            personal = max(personal, abs(0.8 * (y0[k] - y1[k]) + 0.4 * h * (f0[k] + f1[k])))
        start = end + threshold.shape[1] - FIRST_SCALAR
        for k in range(end, start):
            error = abs(0.8 * (y0[k] - y1[k]) + 0.4 * h * (f0[k] + f1[k]))
            # An attention multiplies scores that grow: nothing of it is damped.
            rate = _rate(who[index], 0, scalars) if k == end else 0.0
            personal = max(personal, error / (1.0 + _DAMPING * h * rate))
    return common, personal


@njit(cache=True, nogil=True, error_model="numpy")
def largest_coefficients(y: Floats, n_common: int) -> tuple[float, float]:
    """The largest size in the common part of y, and in the rest."""
    common, personal = 0.0, 0.0
    for k in range(n_common):
        common = max(common, abs(y[k]))
    for k in range(n_common, len(y)):
        personal = max(personal, abs(y[k]))
    return common, personal


def _relaxing_step(error: float) -> float:
    """Length x of a step along `1 - exp(-x)` whose damped error estimate is `error`.

    The estimate is at most `x^3 / 15` and at most `0.4 x`, each over what damps it.
    """
    if error >= 0.99 * _LONG / _DAMPING:
        return np.inf
    long = error / (_LONG - _DAMPING * error)
    x = float(np.cbrt(15.0 * error))
    for _ in range(3):
        x = float(np.cbrt(15.0 * error * (1.0 + _DAMPING * x)))
    return max(x, long)
