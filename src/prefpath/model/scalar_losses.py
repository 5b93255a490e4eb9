"""Derivatives of every loss for one vote, by the loss's code: what compiled kernels call."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from prefpath.compiling import inner_kernel
from prefpath.model.hazard import scalar_hazard, scalar_hazard_excess

Array = NDArray[np.float64]

GRAM, LINEAR, BRADLEY_TERRY, THURSTONE_MOSTELLER, HUBER, SMOOTH_L1 = range(6)


@inner_kernel(allocates=False)
def scalar_gradient(code: int, parameter: float, margin: float, choice: float) -> float:
    """Derivative of the loss `code` in the margin, for one vote."""
    if code == BRADLEY_TERRY:
        return 1.0 / (1.0 + np.exp(-margin)) - 0.5 * (1.0 + choice)
    if code == LINEAR:
        return margin - choice
    if code == GRAM:  # the quadratic form of the design itself
        return margin
    if code == THURSTONE_MOSTELLER:
        if choice * choice == 1.0:  # one side won: no branch that the processor has to guess
            return -choice * scalar_hazard(choice * margin)
        pull = 0.0
        if choice > -1.0:
            pull -= 0.5 * (1.0 + choice) * scalar_hazard(margin)
        if choice < 1.0:
            pull += 0.5 * (1.0 - choice) * scalar_hazard(-margin)
        return pull
    residual = margin - choice
    if code == HUBER:
        return min(max(residual, -parameter), parameter)
    return residual / math.sqrt(residual * residual + parameter * parameter)


@inner_kernel(allocates=False)
def slopes(
    code: int,
    parameter: float,
    margin: Array,
    choice: Array,
    weight: Array,
    start: int,
    count: int,
) -> None:
    """Turn `count` margins into weighted gradients, in place; votes begin at `start`.

    The two commonest losses have loops of their own. Slices, because an index `start + k` might
    be negative for all the compiler knows, and it would then not do several votes at once.
    """
    chosen, weights = choice[start : start + count], weight[start : start + count]
    if code == BRADLEY_TERRY:
        for k in range(len(chosen)):
            margin[k] = weights[k] * (_logistic(margin[k]) - (0.5 + 0.5 * chosen[k]))
    elif code == LINEAR:
        for k in range(len(chosen)):
            margin[k] = weights[k] * (margin[k] - chosen[k])
    else:
        for k in range(len(chosen)):
            margin[k] = weights[k] * scalar_gradient(code, parameter, margin[k], chosen[k])


@inner_kernel(allocates=False, fastmath={"contract"})
def _logistic(x: float) -> float:
    """`1 / (1 + exp(-x))` to 1e-14 without a call, so that it is done for several votes at once.

    `exp(-x)` is `exp(-x / 64)` by its series, squared six times. Beyond 40 the result is 0 or 1
    to the last digit.
    """
    x = min(max(-x, -40.0), 40.0) * (1 / 64)
    square = x * x
    fourth = square * square
    head = (1.0 + x) + square * (1 / 2 + x * (1 / 6))
    tail = (1 / 24 + x * (1 / 120)) + square * (1 / 720 + x * (1 / 5040)) + fourth * (1 / 40320)
    e = head + fourth * tail
    for _ in range(6):
        e *= e
    return 1.0 / (1.0 + e)


@inner_kernel(allocates=False)
def scalar_curvature(code: int, parameter: float, margin: float, choice: float) -> float:
    """Second derivative of the loss `code` in the margin, for one vote."""
    if code == BRADLEY_TERRY:
        small = math.exp(-abs(margin))
        return small / ((1.0 + small) * (1.0 + small))
    if code == LINEAR or code == GRAM:  # noqa: SIM109 (a tuple takes a function of its own)
        return 1.0
    if code == THURSTONE_MOSTELLER:
        curvature = 0.0
        if choice > -1.0:
            excess = scalar_hazard_excess(margin)
            curvature += 0.5 * (1.0 + choice) * scalar_hazard(margin) * excess
        if choice < 1.0:
            excess = scalar_hazard_excess(-margin)
            curvature += 0.5 * (1.0 - choice) * scalar_hazard(-margin) * excess
        return curvature
    residual = margin - choice
    if code == HUBER:
        return 1.0 if abs(residual) <= parameter else 0.0
    size = math.sqrt(residual * residual + parameter * parameter)
    return parameter * parameter / (size * size * size)
