"""Distinct integer keys: by a table of all there could be, or by sorting those there are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prefpath.compiling import kernel
from prefpath.machine import FEW_ROWS
from prefpath.votes.encode import BoolArray, CodeArray, IntArray

Places = NDArray[np.uint32]

# A table is read once more than the keys; sorting a key costs about as much as eight entries.
_ENTRIES_PER_KEY = 8
_SMALL_TABLE = 2**16
_LARGEST_TABLE = 2**27


def by_table(n_rows: int, n_keys: int) -> bool:
    """Whether a table of all conceivable keys is cheaper than sorting the keys given."""
    return n_keys <= min(max(_ENTRIES_PER_KEY * n_rows, _SMALL_TABLE), _LARGEST_TABLE)


def distinct_keys(key: IntArray, n_keys: int) -> IntArray:
    """Distinct keys in order; every key is below `n_keys`.

    >>> distinct_keys(np.array([3, 1, 3]), 10)
    array([1, 3])
    """
    if by_table(len(key), n_keys):
        taken = np.zeros(n_keys, dtype=bool)
        taken[key] = True
        return np.flatnonzero(taken)
    key = np.sort(key)  # far faster than `np.unique` for millions
    return key[np.diff(key, prepend=-1) != 0]


def number_keys(key: IntArray, n_keys: int) -> tuple[IntArray, Places]:
    """Distinct keys in order, and the place of each key among them.

    >>> number_keys(np.array([3, 1, 3]), 10)
    (array([1, 3]), array([1, 0, 1], dtype=uint32))
    """
    if len(key) > FEW_ROWS and by_table(len(key), n_keys):
        return _number_by_table(key, n_keys)
    distinct, place = np.unique(key, return_inverse=True)
    return distinct, place.astype(np.uint32)


def pair_keys(left: CodeArray, right: CodeArray, n_items: int) -> tuple[IntArray, BoolArray]:
    """One number for each pair, `first * n_items + second`, and where the sides are swapped."""
    key = np.minimum(left, right).astype(np.int64)
    key *= n_items
    key += np.maximum(left, right)
    return key, left > right


def items_of_keys(key: IntArray, n_items: int) -> tuple[CodeArray, CodeArray]:
    """The two items of each pair's number."""
    first, second = np.divmod(key, n_items)
    return first.astype(np.int32), second.astype(np.int32)


@kernel()
def _number_by_table(key: IntArray, size: int) -> tuple[IntArray, Places]:
    number = np.full(size, -1, dtype=np.int32)
    for c in range(len(key)):
        number[key[c]] = 0
    n_distinct = 0
    for k in range(size):
        if number[k] == 0:
            number[k] = n_distinct
            n_distinct += 1
    distinct = np.empty(n_distinct, dtype=np.int64)
    for k in range(size):
        if number[k] >= 0:
            distinct[number[k]] = k
    place = np.empty(len(key), dtype=np.uint32)
    for c in range(len(key)):
        place[c] = number[key[c]]
    return distinct, place
