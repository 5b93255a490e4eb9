"""Compiled estimates of how far each annotator leans to one side."""

from __future__ import annotations

import math
from typing import NamedTuple

from prefpath.compiling import inner_kernel, kernel
from prefpath.model.design import Design, Floats, Ints

# Half a click to each side at equal quality (Jeffreys' prior without offsets): the estimate of
# someone who only ever clicks one side is finite, and so is their interval.
HALF_CLICK = 0.5
FARTHEST = 40.0
CHI_SQUARE_95 = 3.841458820694124
MOST_STEPS = 60
TOLERANCE = 1e-10
NEWTON_TOLERANCE = 1e-6  # Newton's steps halve the digits missing: what is left is far smaller
TINY = 1e-300


class Counts(NamedTuple):
    """Votes of each cell, wins of its left item, and its margin without what is estimated."""

    trials: Floats
    wins: Floats
    offset: Floats


@inner_kernel()
def _probabilities(margin: float, probit: bool) -> tuple[float, float]:
    """Of left and of right, neither of them rounded to 0 beside the other."""
    if probit:
        scaled = 0.7071067811865476 * margin
        return 0.5 * math.erfc(-scaled), 0.5 * math.erfc(scaled)
    e = math.exp(-abs(margin))
    likely = 1.0 / (1.0 + e)
    return (likely, e * likely) if margin >= 0.0 else (e * likely, likely)


@inner_kernel()
def one_slope_and_information(
    margin: float, wins: float, losses: float, probit: bool
) -> tuple[float, float]:
    """Derivative of a comparison's log-likelihood in the margin, and its expected curvature."""
    p, q = _probabilities(margin, probit)
    if not probit:
        return wins * q - losses * p, (wins + losses) * p * q
    if min(p, q) < 1e-290:  # far in the tail the hazard is the margin itself
        return wins * max(-margin, 0.0) - losses * max(margin, 0.0), wins + losses
    density = 0.3989422804014327 * math.exp(-0.5 * margin * margin)
    slope = density * (wins / p - losses / q)
    return slope, (wins + losses) * density * density / (p * q)


@inner_kernel()
def _slope_and_information(
    u: int, lean: float, design: Design, ballots: Counts, probit: bool
) -> tuple[float, float]:
    """Derivative of u's log-likelihood in the lean, and its expected curvature."""
    slope, information = one_slope_and_information(lean, HALF_CLICK, HALF_CLICK, probit)
    for c in range(design.cells[u], design.cells[u + 1]):
        if design.position[c]:
            wins = ballots.wins[c]
            gradient, more = one_slope_and_information(
                ballots.offset[c] + lean, wins, ballots.trials[c] - wins, probit
            )
            slope += gradient
            information += more
    return slope, information


@inner_kernel()
def one_likelihood(margin: float, wins: float, losses: float, probit: bool) -> float:
    p, q = _probabilities(margin, probit)
    # Whoever always or never won asks for one logarithm only: that is nearly every comparison.
    total = wins * math.log(max(p, TINY)) if wins > 0.0 else 0.0
    return total + losses * math.log(max(q, TINY)) if losses > 0.0 else total


@inner_kernel()
def _log_likelihood(u: int, lean: float, design: Design, ballots: Counts, probit: bool) -> float:
    total = one_likelihood(lean, HALF_CLICK, HALF_CLICK, probit)
    for c in range(design.cells[u], design.cells[u + 1]):
        if design.position[c]:
            wins = ballots.wins[c]
            total += one_likelihood(
                ballots.offset[c] + lean, wins, ballots.trials[c] - wins, probit
            )
    return total


@inner_kernel()
def _best_lean(u: int, design: Design, ballots: Counts, probit: bool) -> float:
    """Fisher scoring, kept between the two sides on which the slope has changed sign."""
    low, high, lean = -FARTHEST, FARTHEST, 0.0
    tolerance = TOLERANCE if probit else NEWTON_TOLERANCE
    for _ in range(MOST_STEPS):
        slope, information = _slope_and_information(u, lean, design, ballots, probit)
        if slope > 0.0:
            low = lean
        else:
            high = lean
        step = slope / max(information, TINY)
        lean += step
        if abs(step) < tolerance:
            break
        if not low < lean < high:
            lean = 0.5 * (low + high)
    return lean


@inner_kernel()
def _interval_end(
    u: int, best: float, side: float, design: Design, ballots: Counts, probit: bool
) -> float:
    """Where the log-likelihood has fallen by half the chi-square quantile.

    It is concave, so Newton's method overshoots at most once and then walks in from outside.
    """
    floor = _log_likelihood(u, best, design, ballots, probit) - 0.5 * CHI_SQUARE_95
    _, information = _slope_and_information(u, best, design, ballots, probit)
    end = best + side * math.sqrt(CHI_SQUARE_95 / max(information, TINY))
    for _ in range(MOST_STEPS):
        end = min(max(end, -FARTHEST), FARTHEST)
        excess = _log_likelihood(u, end, design, ballots, probit) - floor
        slope, _ = _slope_and_information(u, end, design, ballots, probit)
        if slope == 0.0:
            break
        end -= excess / slope
        if abs(excess / slope) < NEWTON_TOLERANCE:
            break
    return end


@kernel()
def estimate_shard(
    who: Ints, design: Design, ballots: Counts, probit: bool, interval: bool, out: Floats
) -> None:
    for u in who:
        best = _best_lean(u, design, ballots, probit)
        out[u, 0] = best
        if interval:
            out[u, 1] = _interval_end(u, best, -1.0, design, ballots, probit)
            out[u, 2] = _interval_end(u, best, 1.0, design, ballots, probit)
