"""Rank intervals: how many items are surely above, and how many surely below."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import t as student

from prefpath.model.design import Ints

if TYPE_CHECKING:
    from prefpath.inference.intervals import CommonScores


def rank_intervals(common: CommonScores, level: float) -> tuple[Ints, Ints]:
    """Lowest and highest rank of each item within its component that the votes allow.

    Item j is surely above item i where the difference of their scores exceeds the quantile of
    its own standard error at `1 - (1 - level) / (n - 1)`. For each j only one error is
    possible, the wrong order, so that all n - 1 comparisons with i are right together with
    probability `level` (Bonferroni; Mogstad, Romano, Shaikh and Wilhelm 2024), and so is the
    interval of i's rank. Comparing single intervals for overlap instead is too strict for a
    few items and too lenient for many. An unbounded item may have any rank.
    """
    n_items = len(common.score)
    first = np.ones(n_items, dtype=np.int64)
    last = np.empty(n_items, dtype=np.int64)
    for c in np.unique(common.component):
        members = np.flatnonzero(common.component == c)
        last[members] = len(members)
        bounded = members[common.bounded[members]]
        if len(bounded) > 1:
            above, below = _surely(common, bounded, level)
            first[bounded] += above
            last[bounded] -= below
    return first, last


def _surely(common: CommonScores, members: Ints, level: float) -> tuple[Ints, Ints]:
    """How many members are surely above and below each of them."""
    tail = (1.0 - level) / (len(members) - 1)
    quantile = float(student.isf(min(tail, 0.5), common.degrees_of_freedom))
    above = np.empty(len(members), dtype=np.int64)
    below = np.empty(len(members), dtype=np.int64)
    for k, i in enumerate(members):
        centre, error = common.difference(members, i)
        above[k] = np.count_nonzero(centre > quantile * error)
        below[k] = np.count_nonzero(centre < -quantile * error)
    return above, below
