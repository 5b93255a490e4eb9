"""`lean_kernels.estimate_shard` and `lean_test.lean_shard` of all annotators at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import erfc

from prefpath.diagnose.few.rows import Rows, cells_of
from prefpath.diagnose.few.tails import Terms, two_sided_ps, upper_normals
from prefpath.diagnose.lean_kernels import (
    CHI_SQUARE_95,
    FARTHEST,
    HALF_CLICK,
    MOST_STEPS,
    NEWTON_TOLERANCE,
    TINY,
    TOLERANCE,
    Counts,
)
from prefpath.diagnose.lean_test import MIDDLE, SHARED_BY, SideModel
from prefpath.model.design import Design, Floats, Ints


@dataclass(frozen=True, eq=False)
class Sided(Rows):
    """Comparisons of known sides: wins and losses of the left item, margin but for a lean."""

    wins: Floats
    losses: Floats
    offset: Floats


def probabilities(margin: Floats, probit: bool) -> tuple[Floats, Floats]:
    """Of left and of right, neither of them rounded to 0 beside the other."""
    if probit:
        scaled = 0.7071067811865476 * margin
        return 0.5 * erfc(-scaled), 0.5 * erfc(scaled)
    e = np.exp(-np.abs(margin))
    likely, ahead = 1.0 / (1.0 + e), margin >= 0.0
    unlikely = e * likely
    return np.where(ahead, likely, unlikely), np.where(ahead, unlikely, likely)


def slopes_and_information(
    margin: Floats, wins: Floats, losses: Floats, probit: bool
) -> tuple[Floats, Floats]:
    """Derivative of comparisons' log-likelihood in the margin, and its expected curvature."""
    p, q = probabilities(margin, probit)
    if not probit:
        return wins * q - losses * p, (wins + losses) * p * q
    density = 0.3989422804014327 * np.exp(-0.5 * margin * margin)
    far = np.fmin(p, q) < 1e-290  # there the hazard is the margin itself
    p, q = np.where(far, 1.0, p), np.where(far, 1.0, q)
    hazard = wins * np.fmax(-margin, 0.0) - losses * np.fmax(margin, 0.0)
    slope = np.where(far, hazard, density * (wins / p - losses / q))
    return slope, (wins + losses) * np.where(far, 1.0, density * density / (p * q))


def likelihoods(margin: Floats, wins: Floats, losses: Floats, probit: bool) -> Floats:
    """Log-likelihood of comparisons."""
    p, q = probabilities(margin, probit)
    return wins * np.log(np.fmax(p, TINY)) + losses * np.log(np.fmax(q, TINY))


def estimate_few(
    who: Ints, design: Design, counts: Counts, probit: bool, interval: bool, out: Floats
) -> None:
    """`estimate_shard` in NumPy."""
    cells, _ = cells_of(who, design)
    sided = np.flatnonzero(design.position[cells.cell])
    cell = cells.cell[sided]
    wins, losses = counts.wins[cell], counts.trials[cell] - counts.wins[cell]
    votes = Sided(len(who), cells.owner[sided], wins, losses, counts.offset[cell])
    best = _best_leans(votes, probit)
    out[who, 0] = best
    if interval:
        out[who, 1] = _interval_ends(votes, best, -1.0, probit)
        out[who, 2] = _interval_ends(votes, best, 1.0, probit)


def _of_leans(votes: Sided, lean: Floats, probit: bool) -> tuple[Floats, Floats]:
    """Derivative of everybody's log-likelihood in the lean, and its expected curvature."""
    half = np.full(votes.n, HALF_CLICK)
    slope, information = slopes_and_information(lean, half, half, probit)
    margin = votes.offset + lean[votes.owner]
    gradient, more = slopes_and_information(margin, votes.wins, votes.losses, probit)
    return slope + votes.total(gradient), information + votes.total(more)


def _log_likelihoods(votes: Sided, lean: Floats, probit: bool) -> Floats:
    half = np.full(votes.n, HALF_CLICK)
    each = likelihoods(votes.offset + lean[votes.owner], votes.wins, votes.losses, probit)
    return likelihoods(lean, half, half, probit) + votes.total(each)


def _best_leans(votes: Sided, probit: bool) -> Floats:
    """Fisher scoring, kept between the two sides on which the slope has changed sign."""
    lean, going = np.zeros(votes.n), np.arange(votes.n)
    low, high = np.full(votes.n, -FARTHEST), np.full(votes.n, FARTHEST)
    tolerance = TOLERANCE if probit else NEWTON_TOLERANCE
    for _ in range(MOST_STEPS):
        now = lean[going]
        slope, information = _of_leans(votes, now, probit)
        low[going] = np.where(slope > 0.0, now, low[going])
        high[going] = np.where(slope > 0.0, high[going], now)
        step = slope / np.fmax(information, TINY)
        after, unsettled = now + step, ~(np.abs(step) < tolerance)
        outside = unsettled & ~((low[going] < after) & (after < high[going]))
        lean[going] = np.where(outside, 0.5 * (low[going] + high[going]), after)
        if not unsettled.any():
            break
        votes, going = votes.of(unsettled), going[unsettled]
    return lean


def _interval_ends(votes: Sided, best: Floats, side: float, probit: bool) -> Floats:
    """Where the log-likelihood has fallen by half the chi-square quantile."""
    floor = _log_likelihoods(votes, best, probit) - 0.5 * CHI_SQUARE_95
    _, information = _of_leans(votes, best, probit)
    end = best + side * np.sqrt(CHI_SQUARE_95 / np.fmax(information, TINY))
    going = np.arange(votes.n)
    for _ in range(MOST_STEPS):
        now = np.clip(end[going], -FARTHEST, FARTHEST)
        excess = _log_likelihoods(votes, now, probit) - floor[going]
        slope, _ = _of_leans(votes, now, probit)
        flat = slope == 0.0
        step = np.where(flat, 0.0, excess / np.where(flat, 1.0, slope))
        end[going] = now - step
        unsettled = ~(np.abs(step) < NEWTON_TOLERANCE)
        if not unsettled.any():
            break
        votes, going = votes.of(unsettled), going[unsettled]
    return end


def lean_test_of_few(who: Ints, design: Design, model: SideModel, out: Floats) -> None:
    """`lean_shard` in NumPy."""
    terms, observed = _residuals(who, design, model)
    size = terms.step  # of residuals; twice that is what a win adds
    squares = 4.0 * terms.p * (1.0 - terms.p) * size * size
    variance = terms.total(terms.trials * squares)
    fourths = terms.total(terms.trials * squares * size * size)
    smallest = np.ones(terms.n)
    np.minimum.at(smallest, terms.owner, size)
    beyond = np.fmax(np.abs(observed) - smallest, 0.0)
    deviation = np.sqrt(variance)
    normal = (variance * variance >= SHARED_BY * fourths) & (beyond <= MIDDLE * deviation)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.fmin(1.0, 2.0 * upper_normals(beyond / deviation))
    doubled = Terms(terms.n, terms.owner, 2.0 * size, terms.trials, terms.p).of(~normal)
    p[~normal] = two_sided_ps(doubled, np.zeros(doubled.n), observed[~normal])
    out[who] = p


def _residuals(who: Ints, design: Design, model: SideModel) -> tuple[Terms, Floats]:
    """Residuals where sides matter, wins and losses by themselves; their sums less their means."""
    cells, _ = cells_of(who, design)
    sided = np.flatnonzero(design.position[cells.cell])
    cell, owner = cells.cell[sided], cells.owner[sided]
    p, swapped, won = model.p[cell], model.swapped[cell], model.wins[cell]
    with np.errstate(invalid="ignore"):
        left_won = np.where(p == swapped, 0.5, p / (p + swapped))
        fair = (1.0 - swapped) / (1.0 - swapped + 1.0 - p)
        left_lost = np.where(p == swapped, 0.5, fair)
    both = Terms(
        len(who),
        np.column_stack((owner, owner)).ravel(),
        np.column_stack((0.5 * (1.0 - p + 1.0 - swapped), 0.5 * (p + swapped))).ravel(),
        np.column_stack((won, model.trials[cell] - won)).ravel(),
        np.column_stack((left_won, left_lost)).ravel(),
    )
    sign = np.tile((1.0, -1.0), len(cell))
    missed = np.where(sign > 0.0, 1.0 - both.p, both.p)
    observed = both.total(
        np.where(both.trials > 0, sign * both.trials * 2.0 * missed * both.step, 0.0)
    )
    there = both.trials > 0.0
    kept = Terms(both.n, both.owner[there], both.step[there], both.trials[there], both.p[there])
    return kept, observed
