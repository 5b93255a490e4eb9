"""What limits a step: its estimated error, and the scalars of active annotators about to enter.

A position bias answers to all votes of its annotator at once, so it runs to its value within a
moment of entering: the sharpest corners of a path. Its own rate also damps what a step gets wrong
of it: over a step of x rates an error counts as `1 / (1 + x / 4)` of itself.

One pass over the active annotators each, in NumPy: once a step, where stages read every vote.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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


class _Entries(NamedTuple):
    """Where y holds each scalar, where it leaves zero, and its rate; a row an annotator."""

    place: Ints
    threshold: Floats
    rate: Floats


def _entries(scalars: Scalars) -> _Entries:
    who, threshold = scalars.who, scalars.threshold[scalars.who, FIRST_SCALAR:]
    rate = np.empty_like(threshold)
    rate[:, 0] = scalars.position_rate * scalars.share[who]
    if rate.shape[1] > 1:
        rate[:, 1] = scalars.attention_rate[who]
    return _Entries(scalars.at[:, None] + np.arange(rate.shape[1]), threshold, rate)


def _first_corner(
    y: Floats, f: Floats, step: float, limit: float, scalars: Scalars
) -> tuple[float, float, float]:
    """When the first corner comes, how far its scalar will run, and at what rate."""
    place, threshold, rate = _entries(scalars)
    z, slope = y[place], f[place]
    pull, x = scalars.kappa * np.abs(slope), step * rate
    noticed = pull * step * np.minimum(_LONG, _SHORT * x) > limit * (1.0 + _DAMPING * x)
    corner = np.flatnonzero(noticed & (slope != 0.0) & (np.abs(z) < threshold))
    if not len(corner):
        return np.inf, 0.0, 0.0
    to_go = threshold.ravel()[corner] - np.copysign(1.0, slope.ravel()[corner]) * z.ravel()[corner]
    after = to_go / np.abs(slope.ravel()[corner])
    first = int(np.argmin(after))
    own = rate.ravel()[corner[first]]
    return float(after[first]), float(pull.ravel()[corner[first]] / own), float(own)


def entering_rate(y: Floats, f: Floats, step: float, scalars: Scalars) -> float:
    """The largest rate of the scalars that may enter within a step along their slopes."""
    place, threshold, rate = _entries(scalars)
    z, slope = y[place], f[place]
    to_go = threshold - np.where(slope > 0.0, z, -z)
    enters = (np.abs(z) < threshold) & (np.abs(slope) * step >= to_go)
    return float(rate[enters].max(initial=0.0))


def step_errors(ends: Ends, n_common: int, scalars: Scalars) -> tuple[float, float]:
    """Largest estimated local errors of a step: of the common part, and of z."""
    _, h, y0, y1, f0, f1 = ends
    error = np.abs(0.8 * (y0 - y1) + 0.4 * h * (f0 + f1))
    # An attention multiplies scores that grow: nothing of it is damped.
    error[scalars.at] /= 1.0 + _DAMPING * h * scalars.position_rate * scalars.share[scalars.who]
    common, personal = error[:n_common], error[n_common:]
    return float(common.max(initial=0.0)), float(personal.max(initial=0.0))


def largest_coefficients(y: Floats, n_common: int) -> tuple[float, float]:
    """The largest size in the common part of y, and in the rest."""
    size = np.abs(y)
    return float(size[:n_common].max(initial=0.0)), float(size[n_common:].max(initial=0.0))


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
