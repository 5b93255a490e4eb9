"""Taste or noise: is there a taste beside lean and attention, and could one be hidden?

Both questions are asked of the same number: the squared norm of an annotator's score in a
deviation, with what a lean and a slope on the common scores explain taken out. A taste makes it
large. Two models draw the votes again. In the first nothing but the slope, and the lean, is there:
a number larger than its draws shows a taste. In the second the annotator is as sharp as the
crowd and has a ranking of their own, just as far from the common one as the slope says: a number
smaller than its draws rules such a taste out, so that noise is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prefpath.diagnose.attention import Attention
from prefpath.diagnose.ballots import Ballots
from prefpath.diagnose.beyond_kernels import Decided, SlopeFit, beyond_shard
from prefpath.diagnose.few.beyond import beyond_of_few
from prefpath.diagnose.pvalues import Draws, over_shards
from prefpath.diagnose.without_own import CommonMargins
from prefpath.model.design import Floats, Ints
from prefpath.votes.encode import BoolArray

# Normal noise of variance v flattens a logistic curve to slope 1 / sqrt(1 + 0.346 v).
_FLATTENS = {False: 0.346, True: 1.0}
_NEARLY_ONE = 0.99  # correlations beyond are as good as 1
# A taste held more sharply than the crowd's is flattened less: chance correlations show more.
_SHARPER_TASTE = 1.5
_SEED = 0x5DEECE66D  # other draws than those of the tests that name people


@dataclass(frozen=True, eq=False)
class BeyondSlope:
    """P-values for those asked about; not a number for the others.

    Attributes
    ----------
    p_no_taste : array (n_annotators,)
        Of no taste beside lean and attention; small: there is one.
    p_own_ranking : array (n_annotators,)
        Of a ranking of their own, held as sharply as the crowd holds its; small: there is none.
    correlation_high : array (n_annotators,)
        Upper end of the correlation between their ranking and the crowd's, were the items a
        sample: rankings of few items agree or disagree by chance.
    """

    p_no_taste: Floats
    p_own_ranking: Floats
    correlation_high: Floats


def look_beyond_slope(
    ballots: Ballots,
    margins: CommonMargins,
    attention: Attention,
    asked: BoolArray,
    draws: Draws,
) -> BeyondSlope:
    """Ask both questions of some annotators."""
    out: Floats = np.full((ballots.n_annotators, 2), np.nan)
    flatten = 2.0 * _FLATTENS[ballots.probit] * margins.spread**2
    fit = SlopeFit(
        attention.estimate,
        attention.lean,
        attention.own_lean,
        margins.difference,
        margins.score_variance,
        _correlation(attention.estimate, flatten),
        margins.spread,
        ballots.probit,
    )
    votes = Decided(ballots.trials, ballots.wins)
    order, seed = ballots.draw_order, np.uint64(draws.seed ^ _SEED)
    per_coefficient = _spread_of_coefficients(ballots.features)

    shard = ballots.in_numpy_if_few(beyond_shard, beyond_of_few)

    def one_shard(who: Ints) -> None:
        shard(who, ballots.design, votes, fit, (order, seed, per_coefficient), out)

    known = asked & ~np.isnan(attention.estimate)
    over_shards(one_shard, ballots, known, draws.n_threads)
    highest = _highest_correlation(attention, flatten, np.diff(ballots.design.blocks))
    return BeyondSlope(out[:, 0].copy(), out[:, 1].copy(), highest)


def _correlation(slope: Floats, flatten: float) -> Floats:
    """Correlation of two rankings, held equally sharply, that makes one's slope on the other.

    What is not shared is noise to the slope, and flattens it.
    """
    inside = np.clip(slope, -1.0, 1.0)
    result: Floats = inside * np.sqrt((1.0 + flatten) / (1.0 + flatten * inside**2))
    return result


def _highest_correlation(attention: Attention, flatten: float, n_free: Ints) -> Floats:
    """The interval's upper end of the slope as a correlation, and one standard error of few items.

    On Fisher's scale. Together they are further off than 97.5 % of rankings unrelated to the
    crowd's, whatever the share of the two kinds of error.
    """
    inside = np.clip(_correlation(attention.high, flatten), -_NEARLY_ONE, _NEARLY_ONE)
    by_items = _SHARPER_TASTE / np.sqrt(np.fmax(n_free - 3.0, 1.0))
    result: Floats = np.tanh(np.arctanh(inside) + by_items)
    return result


def _spread_of_coefficients(features: Floats | None) -> float:
    """Standard deviation of coefficients that give scores of standard deviation 1."""
    if features is None:
        return 1.0
    centred = features - features.mean(axis=0)
    return float(1.0 / np.sqrt(max(float(np.mean(np.sum(centred**2, axis=1))), 1e-300)))
