"""What is known of each annotator besides the tests: agreement, own taste, attention to items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.stats import norm

from prefpath.diagnose.ballots import Ballots
from prefpath.diagnose.consensus import Consensus
from prefpath.diagnose.lean import estimate_leans
from prefpath.diagnose.pvalues import Draws, taste_p_values
from prefpath.model.design import Floats, Ints
from prefpath.path import Path
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray

_ATTENTION_DRAWS = 400
_SURE_ENOUGH = 0.025  # a slope this clear needs no second test
_ROUNDING = 1e-20  # of squares


@dataclass(frozen=True, eq=False)
class Attention:
    """Whether choices depend on the items at all.

    Attributes
    ----------
    p_follows : array (n_annotators,)
        One-sided p-value of a coin (with the annotator's own lean) against choices that go
        with the common scores.
    p_ignores : array (n_annotators,)
        P-value of the same coin against choices that depend on the items in any way.
    """

    p_follows: Floats
    p_ignores: Floats


def measure_attention(
    ballots: Ballots, consensus: Consensus, tested: BoolArray, draws: Draws
) -> Attention:
    """Test everybody against a coin that knows nothing of the items.

    Two tests, doubled for there being two: of the slope in the common scores, and of the
    squared norm of the score in a taste.
    """
    nothing = np.zeros(len(ballots.trials))
    coin = estimate_leans(ballots, nothing, interval=False, n_threads=draws.n_threads).estimate
    margin = ballots.margin(np.zeros(ballots.votes.n_items), coin)
    z = _slope_in_common_scores(ballots, consensus, margin)
    p_slope = 2.0 * norm.sf(np.abs(z))
    unsure = tested & (p_slope > _SURE_ENOUGH)
    no_error = np.zeros(ballots.votes.n_items)
    outside = np.zeros(ballots.n_annotators, dtype=bool)
    fewer = Draws(min(draws.n_draws, _ATTENTION_DRAWS), draws.seed, draws.n_threads)
    p_any = taste_p_values(ballots, margin, no_error, outside, unsure, fewer)
    p_ignores = np.fmin(1.0, 2.0 * np.fmin(p_slope, p_any))
    return Attention(norm.sf(z), p_ignores)


def _slope_in_common_scores(ballots: Ballots, consensus: Consensus, margin: Floats) -> Floats:
    """Standardised score of "the margin goes with the common scores" in a coin's model."""
    position = ballots.design.position
    p = ballots.probability(margin)
    slope = ballots.slope_at(margin, p)
    difference = ballots.margin(consensus.scores)
    pressure = position * ballots.trials * slope
    lean = ballots.sum_by_annotator(pressure)
    shared = ballots.sum_by_annotator(pressure * difference)
    center = np.divide(shared, lean, out=np.zeros_like(lean), where=lean > 0)
    beyond_lean = difference - position * center[ballots.annotator]
    pull = ballots.sum_by_annotator((ballots.wins - ballots.trials * p) * beyond_lean)
    scatter = ballots.trials * p * (1.0 - p)
    spread = ballots.sum_by_annotator(scatter * beyond_lean**2)
    # Where a lean explains every comparison, rounding alone is left, and says nothing.
    told = spread > _ROUNDING * ballots.sum_by_annotator(scatter * difference**2)
    return np.divide(pull, np.sqrt(spread), out=np.zeros_like(pull), where=told)


def agreement_with(votes: Votes, scores: Floats) -> Floats:
    """Share of each annotator's decisive votes that go with the scores; equal ones count half.

    Not a number for those who only gave ties.
    """
    margin = scores[votes.left] - scores[votes.right]
    side = np.sign(votes.choice)
    weight = votes.weight * (side != 0)
    who, n = votes.annotator, votes.n_annotators
    agrees = np.bincount(who, weight * 0.5 * (1.0 + np.sign(margin) * side), n)
    total = np.bincount(who, weight, n)
    return np.divide(agrees, total, out=np.full(n, np.nan), where=total > 0)


@dataclass(frozen=True, eq=False)
class Tastes:
    """Deviations at one time on the path, of those who have one.

    Attributes
    ----------
    size : array (n_annotators,)
        2-norm of the deviation's coefficients; 0 without one.
    most_up, most_down : array of int (n_annotators,)
        Item moved most; -1 without a deviation or a move in that direction.
    distance : array (n_annotators,)
        Share of the pairs of items seen that the personal ranking orders the other way
        (Kendall's distance); 0 without a deviation.
    """

    size: Floats
    most_up: Ints
    most_down: Ints
    distance: Floats


def describe_tastes(votes: Votes, path: Path, t: float) -> Tastes:
    """Size, extremes and effect on the ranking of every deviation at time t."""
    n = votes.n_annotators
    tastes = Tastes(
        np.zeros(n), np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64), np.zeros(n)
    )
    common, deviation = path.scores(t), path.deviation(t)
    coefficient = np.zeros(deviation.shape[1])
    for u in np.flatnonzero(np.diff(deviation.indptr)):
        entries = slice(deviation.indptr[u], deviation.indptr[u + 1])
        coefficient[:] = 0.0
        coefficient[deviation.indices[entries]] = deviation.data[entries]
        rows = slice(votes.offsets[u], votes.offsets[u + 1])
        seen = np.unique(np.concatenate((votes.left[rows], votes.right[rows])))
        own = coefficient[seen] if path.features is None else path.features[seen] @ coefficient
        move = own - own.mean()
        up, down = int(move.argmax()), int(move.argmin())
        tastes.size[u] = np.linalg.norm(coefficient)
        tastes.most_up[u] = seen[up] if move[up] > 0 else -1
        tastes.most_down[u] = seen[down] if move[down] < 0 else -1
        tastes.distance[u] = discordant_share(common[seen], common[seen] + own)
    return tastes


@njit(cache=True, nogil=True)
def discordant_share(first: Floats, second: Floats) -> float:
    """Share of pairs that two scores order differently; equal in one of them counts half.

    >>> float(discordant_share(np.array([3.0, 2.0, 1.0]), np.array([2.0, 3.0, 1.0])))
    0.3333333333333333
    """
    n = len(first)
    different = 0.0
    for i in range(n):
        for j in range(i):
            a, b = np.sign(first[i] - first[j]), np.sign(second[i] - second[j])
            different += 0.5 * abs(a - b)
    return different / max(1, n * (n - 1) // 2)
