"""Counting who won: votes of weight 1 that won, lost or tied, in one pass over them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefpath.compiling import kernel
from prefpath.pairs.keys import items_of_keys, pair_keys
from prefpath.votes.encode import CodeArray, IntArray

Sides = NDArray[np.int8]

# Below this many votes NumPy is done before a compiled function is loaded.
_COMPILED_FROM = 50_000


class Tally(NamedTuple):
    """Half-points of the first and of the second item of each pair: 2 a win, 1 a tie."""

    first: CodeArray
    second: CodeArray
    for_first: IntArray
    for_second: IntArray


def whole_sides(choice: NDArray[Any]) -> Sides | None:
    """Choices as 1, -1 and 0; None where one of them is anything else.

    >>> whole_sides(np.array([1.0, 0.0, -1.0])), whole_sides(np.array([0.5]))
    (array([ 1,  0, -1], dtype=int8), None)
    """
    if len(choice) and not (choice.min() >= -1 and choice.max() <= 1):
        return None
    sides = choice.astype(np.int8)
    return sides if choice.dtype.kind in "iub" or np.array_equal(sides, choice) else None


def tally_by_table(left: CodeArray, right: CodeArray, sides: Sides, n_items: int) -> Tally:
    """Count in one table of half-points, a row for each item and a column for its opponent."""
    points = np.zeros((n_items, n_items), dtype=np.int32 if len(left) < 2**30 else np.int64)
    if len(left) >= _COMPILED_FROM:
        _add_points(left, right, sides, n_items, points.ravel())
    else:
        key = left.astype(np.int64) * n_items + right
        for side, shift in ((1, 2), (0, 1), (-1, 0)):
            told = np.bincount(key[sides == side], minlength=n_items * n_items)
            shown = told.reshape(n_items, n_items)
            points += (shift * shown).astype(points.dtype)
            points += ((2 - shift) * shown.T).astype(points.dtype)
    met = points + points.T
    first, second = np.nonzero(np.triu(met, 1))
    return Tally(
        first.astype(np.int32),
        second.astype(np.int32),
        points[first, second].astype(np.int64),
        points[second, first].astype(np.int64),
    )


def tally_by_sorting(left: CodeArray, right: CodeArray, sides: Sides, n_items: int) -> Tally:
    """Sort one number a vote, pair and outcome, and count equal ones."""
    key, swapped = pair_keys(left, right, n_items)
    key *= 3
    key += np.where(swapped, -sides, sides)
    key += 1
    key.sort()
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    times = np.diff(starts, append=len(key))
    pair, outcome = np.divmod(key[starts], 3)
    begins = np.flatnonzero(np.diff(pair, prepend=-1))
    for_first = np.add.reduceat(times * outcome, begins)
    for_second = np.add.reduceat(times * (2 - outcome), begins)
    return Tally(*items_of_keys(pair[begins], n_items), for_first, for_second)


@kernel()
def _add_points(
    left: CodeArray, right: CodeArray, sides: Sides, n_items: int, points: IntArray
) -> None:
    """Add half-points to a table with a row for each item, laid out flat."""
    for row in range(len(left)):
        i, j, side = np.int64(left[row]), np.int64(right[row]), np.int64(sides[row])
        ahead, behind = i * n_items + j, j * n_items + i
        if side == 0:
            points[ahead] += 1
            points[behind] += 1
        else:
            # Arithmetic instead of a branch, which the processor would guess wrong half the time.
            points[behind + (ahead - behind) * ((side + 1) >> 1)] += 2
