"""Damped Newton's method for a convex function given by its gradient and its Newton step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from prefpath.votes.encode import FloatArray

Curvature = TypeVar("Curvature")

_MOST_HALVINGS = 30


class Minimum(NamedTuple, Generic[Curvature]):
    """Where the method stopped, whether its last step was short enough, the curvature there."""

    coefficient: FloatArray
    converged: bool
    curvature: Curvature


def minimise(
    evaluate: Callable[[FloatArray], tuple[FloatArray, Curvature]],
    newton_step: Callable[[Curvature, FloatArray], FloatArray],
    start: FloatArray,
    *,
    tolerance: float = 1e-6,
    longest: float = 3.0,
    most_steps: int = 100,
) -> Minimum[Curvature]:
    """Take Newton steps until one is at most `tolerance` (it is taken: the error is its square).

    Parameters
    ----------
    evaluate : callable
        Coefficients to the gradient there, and whatever the step needs to know of the curvature.
    newton_step : callable
        `(curvature, gradient)` to what Newton's method subtracts.
    longest : float
        No coefficient moves further in one step: from far away a full one can overshoot into
        flat tails, where the curvature no longer says where the minimum is.
    """
    coefficient = start.copy()
    slope, curvature = evaluate(coefficient)
    for _ in range(most_steps):
        step = newton_step(curvature, slope)
        size = float(np.abs(step).max(initial=0.0))
        if not np.isfinite(size):  # no curvature left (Huber's loss, far out): no minimum is known
            break
        if size > longest:
            step *= longest / size
        coefficient, slope, curvature = _advance(evaluate, coefficient, slope, step)
        if size <= tolerance:
            return Minimum(coefficient, True, curvature)
    return Minimum(coefficient, False, curvature)


def _advance(
    evaluate: Callable[[FloatArray], tuple[FloatArray, Curvature]],
    coefficient: FloatArray,
    slope: FloatArray,
    step: FloatArray,
) -> tuple[FloatArray, FloatArray, Curvature]:
    """Halve the step until the function no longer rises at its end as steeply as it falls now.

    A convex function's slope along the step only grows: small at the end means near the
    minimum along it, and no value of the function is needed to know that.
    """
    fall = float(slope @ step)
    for _ in range(_MOST_HALVINGS):
        candidate = coefficient - step
        ahead, curvature = evaluate(candidate)
        if -float(ahead @ step) <= 0.9 * fall:
            break
        step = 0.5 * step
        fall *= 0.5
    return candidate, ahead, curvature
