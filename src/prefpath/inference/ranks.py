"""Rank intervals: how many items are surely above, and how many surely below."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from prefpath.distributions import student_quantile
from prefpath.fitted.ranks import rank_within
from prefpath.inference.loose import Loose
from prefpath.model.design import Floats, Ints
from prefpath.votes.encode import BoolArray, CodeArray

# Items compared with all others at a time.
_ROWS = 32


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
    # The quantile for each number of members that may still be undecided, 0 of them first.
    tails = np.minimum((1.0 - level) / np.arange(1, len(members)), 0.5)
    quantiles = np.append(0.0, student_quantile(tails, common.degrees_of_freedom))
    for start in range(0, len(members), _ROWS):
        rows = slice(start, start + _ROWS)
        ratio = _ratios(common, members, members[rows], loose)
        reach = _undecided_reach(np.abs(ratio), quantiles)[:, None]
        above[rows] = np.count_nonzero(ratio > reach, axis=1)
        below[rows] = np.count_nonzero(ratio < -reach, axis=1)
    return above, below


def _ratios(common: ScoresWithErrors, members: Ints, items: Ints, loose: Loose) -> Floats:
    """How far each member is above each of the items, in standard errors or as surely as that.

    A row an item, a column a member; 0 for itself.
    """
    centre, error = common.difference(members[None, :], items[:, None])
    ratio = np.divide(centre, np.maximum(error, 1e-300, out=error), out=centre)
    freedom = common.degrees_of_freedom
    for row in np.flatnonzero(np.isin(items, list(loose))):
        ratio[row] = _as_ratio(-loose[int(items[row])][members], freedom)
    for column in np.flatnonzero(np.isin(members, list(loose))):
        ratio[:, column] = _as_ratio(loose[int(members[column])][items], freedom)
    ratio[items[:, None] == members] = 0.0
    return ratio


def _as_ratio(evidence: Floats, degrees_of_freedom: float) -> Floats:
    """The quantile whose tail has the probability that the evidence leaves to chance."""
    tail = np.minimum(np.exp(-np.abs(evidence)), 0.5)
    ratio: Floats = np.sign(evidence) * student_quantile(tail, degrees_of_freedom)
    return ratio


def _undecided_reach(sizes: Floats, quantiles: Floats) -> Floats:
    """The quantile at which Holm's steps stop, of each row; `quantiles[k]` is for k undecided.

    The steps settle the largest size first. Those that exceed the quantile all at once do so one
    by one as well, since quantiles fall with the number left: nothing has to be sorted.
    """
    left = np.full(len(sizes), len(quantiles) - 1)
    while True:
        settled = np.count_nonzero(sizes > quantiles[left][:, None], axis=1)
        after = len(quantiles) - 1 - settled
        if np.array_equal(after, left):
            return np.asarray(quantiles[left])
        left = after
