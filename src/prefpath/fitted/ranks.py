"""Ranks: they hold among items that were compared with each other, directly or through others."""

from __future__ import annotations

import numpy as np

from prefpath.model.design import Floats, Ints
from prefpath.votes.encode import CodeArray


def order_within(scores: Floats, component: CodeArray | Ints) -> Ints:
    """Items from best to worst, one component after the other; equal ones in their own order.

    >>> order_within(np.array([0.5, 9.0, 2.0]), np.array([0, 1, 0]))
    array([2, 0, 1])
    """
    return np.lexsort((-scores, component))


def rank_within(scores: Floats, component: CodeArray | Ints) -> Ints:
    """Rank of each item, from 1, among the items of its component.

    >>> rank_within(np.array([0.5, 2.0, 9.0]), np.array([0, 0, 1]))
    array([2, 1, 1])
    """
    order = order_within(scores, component)
    sizes = np.bincount(component)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    rank = np.empty(len(scores), dtype=np.int64)
    rank[order] = 1 + np.arange(len(scores)) - starts
    return rank
