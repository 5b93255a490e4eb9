"""Compiled likelihood of one annotator's slope on the common score differences, and of a lean."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefpath.compiling import inner_kernel
from prefpath.diagnose.exponentials import Room, exponentials
from prefpath.diagnose.lean_kernels import LARGE, one_likelihood, one_slope_and_information
from prefpath.model.design import Floats

# One vote more, half with the crowd and half against it, on a pair as far apart as this annotator
# usually sees: the slope of someone who agrees with all of six votes is finite, and its interval.
HALF_VOTE = 0.5


class AttentionCells(NamedTuple):
    """One annotator's comparisons: how far apart, how often, how often the left one won."""

    difference: Floats
    trials: Floats
    wins: Floats
    position: NDArray[np.int8]
    left_at: NDArray[np.uint32]
    right_at: NDArray[np.uint32]


@inner_kernel(allocates=False)
def derivatives(
    own: AttentionCells, slope: float, lean: float, typical: float, probit: bool, room: Room
) -> tuple[float, float, float, float, float]:
    """Of the penalised log-likelihood: in slope, in lean; information, the three of them."""
    gradient, information = one_slope_and_information(slope * typical, HALF_VOTE, HALF_VOTE, probit)
    in_slope, slope_slope = typical * gradient, typical * typical * information
    in_lean, lean_lean = one_slope_and_information(lean, HALF_VOTE, HALF_VOTE, probit)
    if not probit:
        a, b, aa, ab, bb = _logistic_derivatives(own, slope, lean, room)
        return in_slope + a, in_lean + b, slope_slope + aa, ab, lean_lean + bb
    slope_lean = 0.0
    for c in range(len(own.trials)):
        d, side, wins = own.difference[c], own.position[c], own.wins[c]
        gradient, information = one_slope_and_information(
            slope * d + side * lean, wins, own.trials[c] - wins, probit
        )
        in_slope += d * gradient
        slope_slope += d * d * information
        if side:
            in_lean += gradient
            lean_lean += information
            slope_lean += d * information
    return in_slope, in_lean, slope_slope, slope_lean, lean_lean


@inner_kernel(allocates=False, fastmath={"reassoc", "contract"})
def _logistic_derivatives(
    own: AttentionCells, slope: float, lean: float, room: Room
) -> tuple[float, float, float, float, float]:
    """The same of logistic choices alone, several at once: nothing here has a branch."""
    n, value = len(own.trials), room.value
    for c in range(n):
        value[c] = -abs(slope * own.difference[c] + own.position[c] * lean)
    exponentials(room, n)
    in_slope, in_lean, slope_slope, slope_lean, lean_lean = 0.0, 0.0, 0.0, 0.0, 0.0
    for c in range(n):
        d, side, margin = own.difference[c], abs(own.position[c]), slope * own.difference[c]
        margin += own.position[c] * lean
        likely = 1.0 / (1.0 + value[c])
        unlikely = value[c] * likely
        p, q = (likely, unlikely) if margin >= 0.0 else (unlikely, likely)
        gradient = own.wins[c] * q - (own.trials[c] - own.wins[c]) * p
        information = own.trials[c] * (p * q)
        in_slope += d * gradient
        slope_slope += d * d * information
        in_lean += side * gradient
        lean_lean += side * information
        slope_lean += side * (d * information)
    return in_slope, in_lean, slope_slope, slope_lean, lean_lean


@inner_kernel(allocates=False)
def likelihood_and_gradient(
    own: AttentionCells, slope: float, lean: float, typical: float, probit: bool, room: Room
) -> tuple[float, float]:
    """Penalised log-likelihood, and its derivative in the slope."""
    total = one_likelihood(slope * typical, HALF_VOTE, HALF_VOTE, probit)
    total += one_likelihood(lean, HALF_VOTE, HALF_VOTE, probit)
    gradient, _ = one_slope_and_information(slope * typical, HALF_VOTE, HALF_VOTE, probit)
    gradient *= typical
    if not probit:
        more, steeper = _logistic_likelihood(own, slope, lean, room)
        return total + more, gradient + steeper
    for c in range(len(own.trials)):
        d, wins = own.difference[c], own.wins[c]
        margin, losses = slope * d + own.position[c] * lean, own.trials[c] - wins
        total += one_likelihood(margin, wins, losses, probit)
        gradient += d * one_slope_and_information(margin, wins, losses, probit)[0]
    return total, gradient


@inner_kernel(allocates=False)
def _logistic_likelihood(
    own: AttentionCells, slope: float, lean: float, room: Room
) -> tuple[float, float]:
    """The same of logistic choices alone: of single votes, one logarithm of a product of many."""
    n, value = len(own.trials), room.value
    for c in range(n):
        value[c] = -abs(slope * own.difference[c] + own.position[c] * lean)
    exponentials(room, n)
    total, gradient, product = 0.0, 0.0, 1.0
    for c in range(n):
        d, wins, e = own.difference[c], own.wins[c], value[c]
        margin, losses = slope * d + own.position[c] * lean, own.trials[c] - wins
        unlikely = e / (1.0 + e)
        p = 1.0 - unlikely if margin >= 0.0 else unlikely
        total += min(margin, 0.0) * wins - max(margin, 0.0) * losses
        gradient += d * (wins - own.trials[c] * p)
        if own.trials[c] != 1.0:
            total -= own.trials[c] * math.log1p(e)
            continue
        product *= 1.0 + e
        if product > LARGE:
            total -= math.log(product)
            product = 1.0
    return total - math.log(product), gradient
