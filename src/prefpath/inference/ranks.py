"""Rank intervals: how many items are surely above, and how many surely below."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.stats import t as student

from prefpath.fitted.ranks import rank_within
from prefpath.inference.loose import Loose
from prefpath.model.design import Floats, Ints
from prefpath.votes.encode import BoolArray, CodeArray


class ScoresWithErrors(Protocol):
    """Scores whose differences have standard errors."""

    @property
    def score(self) -> Floats: ...
    @property
    def component(self) -> CodeArray: ...
    @property
    def bounded(self) -> BoolArray: ...
    @property
    def degrees_of_freedom(self) -> float: ...
    def difference(self, a: Ints | int, b: Ints | int) -> tuple[Floats, Floats]: ...


def rank_intervals(
    common: ScoresWithErrors, level: float, loose: Loose | None = None
) -> tuple[Ints, Ints]:
    """Lowest and highest rank of each item within its component that the votes allow.

    Item j is surely above item i where the difference of their scores exceeds its standard
    error times the quantile at `1 - (1 - level) / k`. For each j only one error is possible,
    the wrong order, so that with k = n - 1 all comparisons with i are right together with
    probability `level` (Bonferroni), and so is the interval of i's rank. Whoever is surely
    above or below is settled, and k falls to the number of those who are not, until nobody
    more can be told apart (Holm's steps; Mogstad, Romano, Shaikh and Wilhelm 2024). Comparing
    single intervals for overlap instead is too strict for a few items and too lenient for
    many. An unbounded item has no standard error: `loose` says how surely it is above or below
    others, and without that it may have any rank. The rank shown is always among those allowed:
    scores may be ordered otherwise than the centres of their intervals.
    """
    n_items = len(common.score)
    first = np.ones(n_items, dtype=np.int64)
    last = np.empty(n_items, dtype=np.int64)
    for c in np.unique(common.component):
        members = np.flatnonzero(common.component == c)
        last[members] = len(members)
        known = members[common.bounded[members] | np.isin(members, list(loose or ()))]
        if len(known) > 1:
            above, below = _surely(common, known, level, loose or {})
            first[known] += above
            last[known] -= below
    rank = rank_within(common.score, common.component)
    return np.minimum(first, rank), np.maximum(last, rank)


def _surely(
    common: ScoresWithErrors, members: Ints, level: float, loose: Loose
) -> tuple[Ints, Ints]:
    """How many members are surely above and below each of them."""
    above = np.empty(len(members), dtype=np.int64)
    below = np.empty(len(members), dtype=np.int64)
    # The quantile for each number of members that may still be undecided.
    tails = np.minimum((1.0 - level) / np.arange(1, len(members)), 0.5)
    quantiles = student.isf(tails, common.degrees_of_freedom)
    for k, i in enumerate(members):
        ratio = _ratios(common, members, int(i), loose)[members != i]
        reach = _undecided_reach(np.sort(np.abs(ratio))[::-1], quantiles)
        above[k] = np.count_nonzero(ratio > reach)
        below[k] = np.count_nonzero(ratio < -reach)
    return above, below


def _ratios(common: ScoresWithErrors, members: Ints, i: int, loose: Loose) -> Floats:
    """How far each member is above item i, in standard errors or as surely as that."""
    centre, error = common.difference(members, i)
    ratio = centre / np.maximum(error, 1e-300)
    if i in loose:
        ratio = _as_ratio(-loose[i][members], common.degrees_of_freedom)
    for k, other in enumerate(members.tolist()):
        if other in loose and other != i:
            ratio[k] = _as_ratio(loose[other][[i]], common.degrees_of_freedom)[0]
    return ratio


def _as_ratio(evidence: Floats, degrees_of_freedom: float) -> Floats:
    """The quantile whose tail has the probability that the evidence leaves to chance."""
    tail = np.minimum(np.exp(-np.abs(evidence)), 0.5)
    ratio: Floats = np.sign(evidence) * student.isf(tail, degrees_of_freedom)
    return ratio


def _undecided_reach(sizes: Floats, quantiles: Floats) -> float:
    """The quantile at which Holm's steps stop; sizes fall, `quantiles[k - 1]` is for k left."""
    left = quantiles[::-1][: len(sizes)]
    stops = np.flatnonzero(sizes <= left)
    return float(left[stops[0]]) if len(stops) else 0.0
