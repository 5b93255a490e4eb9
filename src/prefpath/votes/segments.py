"""Arrays that hold the parts of annotators one after another, between given starts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefpath.votes.encode import FloatArray, IntArray


def rows_of(starts: IntArray, who: NDArray[np.integer[Any]]) -> IntArray:
    """Places of all that belongs to some annotators, in their order.

    >>> rows_of(np.array([0, 2, 2, 5]), np.array([2, 0]))
    array([2, 3, 4, 0, 1])
    """
    length = np.diff(starts)[who]
    before = np.cumsum(length) - length
    return np.repeat(starts[who] - before, length) + np.arange(int(length.sum()))


def sums_between(starts: IntArray, values: NDArray[Any]) -> FloatArray:
    """Sum of each annotator's values; 0 where there are none.

    >>> sums_between(np.array([0, 2, 2, 5]), np.arange(5.0))
    array([1., 0., 9.])
    """
    total = np.zeros(len(starts) - 1)
    some = np.flatnonzero(np.diff(starts))
    if len(some):
        total[some] = np.add.reduceat(values, starts[some], dtype=np.float64)
    return total
