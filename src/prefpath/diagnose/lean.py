"""How far each annotator leans to one side: one parameter each, unpenalised, with interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from prefpath.compiling import inner_kernel, kernel
from prefpath.diagnose.ballots import Ballots
from prefpath.model.design import Design, Floats, Ints
from prefpath.solver.executors import make_executor, split_annotators

# Half a click to each side at equal quality (Jeffreys' prior without offsets): the estimate of
# someone who only ever clicks one side is finite, and so is their interval.
_HALF_CLICK = 0.5
_FARTHEST = 40.0
_CHI_SQUARE_95 = 3.841458820694124
_MOST_STEPS = 60
_TOLERANCE = 1e-10
_NEWTON_TOLERANCE = 1e-6  # Newton's steps halve the digits missing: what is left is far smaller
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Leans:
    """Lean of each annotator in the units of the margin; above 0 leans left."""

    estimate: Floats
    low: Floats
    high: Floats

    def map(self, function: Callable[[Floats], Floats]) -> Leans:
        """The same of all three parts."""
        return Leans(function(self.estimate), function(self.low), function(self.high))


class Counts(NamedTuple):
    """Votes of each cell, wins of its left item, and its margin without what is estimated."""

    trials: Floats
    wins: Floats
    offset: Floats


def estimate_leans(
    ballots: Ballots, offset: Floats, *, interval: bool = True, n_threads: int | None = None
) -> Leans:
    """Maximum-likelihood lean of each annotator, the margins without it being known.

    Half a click to each side at equal quality is added. The interval is the 95 % likelihood-
    ratio interval of the same likelihood.

    Parameters
    ----------
    offset : array (n_cells,)
        Margin of each cell without the lean.
    interval : bool
        Without, `low` and `high` are zero.
    """
    out: Floats = np.zeros((ballots.n_annotators, 3))
    counts = Counts(ballots.trials, ballots.wins, offset)
    shards = split_annotators(ballots.design.cells)

    def one_shard(who: Ints) -> None:
        _lean_shard(who, ballots.design, counts, ballots.probit, interval, out)

    with make_executor(n_threads, len(shards)) as executor:
        executor.map(one_shard, shards)
    return Leans(out[:, 0], out[:, 1], out[:, 2])


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
    slope, information = one_slope_and_information(lean, _HALF_CLICK, _HALF_CLICK, probit)
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
    total = wins * math.log(max(p, _TINY)) if wins > 0.0 else 0.0
    return total + losses * math.log(max(q, _TINY)) if losses > 0.0 else total


@inner_kernel()
def _log_likelihood(u: int, lean: float, design: Design, ballots: Counts, probit: bool) -> float:
    total = one_likelihood(lean, _HALF_CLICK, _HALF_CLICK, probit)
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
    low, high, lean = -_FARTHEST, _FARTHEST, 0.0
    tolerance = _TOLERANCE if probit else _NEWTON_TOLERANCE
    for _ in range(_MOST_STEPS):
        slope, information = _slope_and_information(u, lean, design, ballots, probit)
        if slope > 0.0:
            low = lean
        else:
            high = lean
        step = slope / max(information, _TINY)
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
    floor = _log_likelihood(u, best, design, ballots, probit) - 0.5 * _CHI_SQUARE_95
    _, information = _slope_and_information(u, best, design, ballots, probit)
    end = best + side * math.sqrt(_CHI_SQUARE_95 / max(information, _TINY))
    for _ in range(_MOST_STEPS):
        end = min(max(end, -_FARTHEST), _FARTHEST)
        excess = _log_likelihood(u, end, design, ballots, probit) - floor
        slope, _ = _slope_and_information(u, end, design, ballots, probit)
        if slope == 0.0:
            break
        end -= excess / slope
        if abs(excess / slope) < _NEWTON_TOLERANCE:
            break
    return end


@kernel()
def _lean_shard(
    who: Ints, design: Design, ballots: Counts, probit: bool, interval: bool, out: Floats
) -> None:
    for u in who:
        best = _best_lean(u, design, ballots, probit)
        out[u, 0] = best
        if interval:
            out[u, 1] = _interval_end(u, best, -1.0, design, ballots, probit)
            out[u, 2] = _interval_end(u, best, 1.0, design, ballots, probit)
