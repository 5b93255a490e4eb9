"""Compiled estimates of how far each annotator leans to one side."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

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
FARTHEST_OFFSET = 200.0  # exp of it, of a lean as far as can be, and LARGE can be multiplied
LARGE = 1e200


class Counts(NamedTuple):
    """Votes of each cell, wins of its left item, and its margin without what is estimated."""

    trials: Floats
    wins: Floats
    offset: Floats


@inner_kernel(allocates=False)
def _probabilities(margin: float, probit: bool) -> tuple[float, float]:
    """Of left and of right, neither of them rounded to 0 beside the other."""
    if probit:
        scaled = 0.7071067811865476 * margin
        return 0.5 * math.erfc(-scaled), 0.5 * math.erfc(scaled)
    e = math.exp(-abs(margin))
    likely = 1.0 / (1.0 + e)
    return (likely, e * likely) if margin >= 0.0 else (e * likely, likely)


@inner_kernel(allocates=False)
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


@inner_kernel(allocates=False)
def one_likelihood(margin: float, wins: float, losses: float, probit: bool) -> float:
    p, q = _probabilities(margin, probit)
    # Whoever always or never won asks for one logarithm only: that is nearly every comparison.
    total = wins * math.log(max(p, TINY)) if wins > 0.0 else 0.0
    return total + losses * math.log(max(q, TINY)) if losses > 0.0 else total


class _Own(NamedTuple):
    """One annotator's cells of known sides.

    `odds` is `exp(-offset)`: beside a lean the odds of right are `odds * exp(-lean)`, without an
    exponential for each cell and each lean tried. `lost` is the sum of losses times offset.
    """

    trials: Floats
    wins: Floats
    offset: Floats
    odds: Floats
    n_wins: float
    n_losses: float
    lost: float


@inner_kernel()
def _cells_of(u: int, design: Design, ballots: Counts, work: Floats) -> _Own:
    """u's cells of known sides, copied into rows of `work`."""
    n, n_wins, n_losses, lost = 0, 0.0, 0.0, 0.0
    for c in range(design.cells[u], design.cells[u + 1]):
        if design.position[c]:
            wins, offset = ballots.wins[c], ballots.offset[c]
            losses = ballots.trials[c] - wins
            work[0, n], work[1, n], work[2, n] = ballots.trials[c], wins, offset
            work[3, n] = math.exp(-max(min(offset, FARTHEST_OFFSET), -FARTHEST_OFFSET))
            n_wins += wins
            n_losses += losses
            lost += losses * offset
            n += 1
    return _Own(work[0, :n], work[1, :n], work[2, :n], work[3, :n], n_wins, n_losses, lost)


@inner_kernel(allocates=False, fastmath={"reassoc", "contract"})
def _expected(trials: Floats, odds: Floats, scale: float) -> tuple[float, float]:
    """Left wins that odds of right, times `scale`, make expected; and their variance."""
    wins, variance = 0.0, 0.0
    for k in range(len(trials)):
        against = odds[k] * scale
        p = 1.0 / (1.0 + against)
        expected = trials[k] * p
        wins += expected
        variance += expected * (against * p)
    return wins, variance


@inner_kernel(allocates=False)
def _slope_and_information(own: _Own, lean: float, probit: bool) -> tuple[float, float]:
    """Derivative of the log-likelihood in the lean, and its expected curvature."""
    slope, information = one_slope_and_information(lean, HALF_CLICK, HALF_CLICK, probit)
    if not probit:
        wins, variance = _expected(own.trials, own.odds, math.exp(-lean))
        return slope + (own.n_wins - wins), information + variance
    for k in range(len(own.trials)):
        wins = own.wins[k]
        gradient, more = one_slope_and_information(
            own.offset[k] + lean, wins, own.trials[k] - wins, probit
        )
        slope += gradient
        information += more
    return slope, information


@inner_kernel(allocates=False)
def _log_likelihood(own: _Own, lean: float, probit: bool) -> float:
    total = one_likelihood(lean, HALF_CLICK, HALF_CLICK, probit)
    if probit:
        for k in range(len(own.trials)):
            wins = own.wins[k]
            total += one_likelihood(own.offset[k] + lean, wins, own.trials[k] - wins, probit)
        return total
    total -= own.lost + own.n_losses * lean
    # One logarithm for many cells: that of the product of 1 + odds.
    scale, product = math.exp(-lean), 1.0
    for k in range(len(own.trials)):
        term = 1.0 + own.odds[k] * scale
        if own.trials[k] != 1.0:
            total -= own.trials[k] * math.log(term)
            continue
        product *= term
        if product > LARGE:
            total -= math.log(product)
            product = 1.0
    return total - math.log(product)


@inner_kernel(allocates=False)
def _best_lean(own: _Own, probit: bool) -> float:
    """Fisher scoring, kept between the two sides on which the slope has changed sign."""
    low, high, lean = -FARTHEST, FARTHEST, 0.0
    tolerance = TOLERANCE if probit else NEWTON_TOLERANCE
    for _ in range(MOST_STEPS):
        slope, information = _slope_and_information(own, lean, probit)
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


@inner_kernel(allocates=False)
def _interval_end(own: _Own, end: float, floor: float, probit: bool) -> float:
    """Where the log-likelihood has fallen to `floor`.

    It is concave, so Newton's method overshoots at most once and then walks in from outside.
    """
    for _ in range(MOST_STEPS):
        end = min(max(end, -FARTHEST), FARTHEST)
        excess = _log_likelihood(own, end, probit) - floor
        slope, _ = _slope_and_information(own, end, probit)
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
    most = 1
    for u in who:
        most = max(most, design.cells[u + 1] - design.cells[u])
    work = np.zeros((4, most))
    for u in who:
        own = _cells_of(u, design, ballots, work)
        best = _best_lean(own, probit)
        out[u, 0] = best
        if interval:
            # Where the log-likelihood has fallen by half the chi-square quantile.
            floor = _log_likelihood(own, best, probit) - 0.5 * CHI_SQUARE_95
            _, information = _slope_and_information(own, best, probit)
            reach = math.sqrt(CHI_SQUARE_95 / max(information, TINY))
            out[u, 1] = _interval_end(own, best - reach, floor, probit)
            out[u, 2] = _interval_end(own, best + reach, floor, probit)
