"""The distinct pairs of a problem's votes: how the cells of all annotators pool by pair.

It depends on who compared what and not on weights: all folds of a problem share one index.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from prefpath.model.design import Codes, Design, Floats, Ints, Places
from prefpath.model.losses import Loss
from prefpath.pairs.keys import number_keys


class PoolIndex(NamedTuple):
    """Which pooled pair each cell belongs to; the same for every fold.

    A pair is stored with the smaller item first. `side` is 1 where the first item was on the
    left, -1 where it was on the right, and 0 where that does not matter (no common position
    effect, or position unknown). `level` is the choice of losses whose votes cannot be
    averaged.
    """

    first: Places
    second: Places
    side: NDArray[np.int8]
    pair_of: Places


def build_pool_index(
    design: Design, n_items: int, loss: Loss, choice: Floats, *, with_sides: bool
) -> PoolIndex:
    """Number the distinct pooled pairs of a problem's cells.

    `choice` is each cell's; `with_sides` keeps apart who was on the left.
    """
    n = n_items
    side = (
        _cell_sides(design.left_at, design.right_at, design.position)
        if with_sides
        else np.zeros(len(design.left_at), dtype=np.int8)
    )
    levels, level = _choice_levels(design, loss, choice)
    radix = 3 * len(levels)
    key = _cell_keys(design, n, side, level, len(levels))
    distinct, pair_of = number_keys(key, n * n * radix)
    pair, rest = np.divmod(distinct, radix)
    first, second = np.divmod(pair, n)
    return PoolIndex(
        first.astype(np.uint32),
        second.astype(np.uint32),
        (rest // len(levels) - 1).astype(np.int8),
        pair_of,
    )


def _choice_levels(design: Design, loss: Loss, choice: Floats) -> tuple[Floats, Codes]:
    if loss.affine_in_choice:
        return np.zeros(1), np.zeros(len(design.left_at), dtype=np.int32)
    swapped = design.left_at > design.right_at
    levels, level = np.unique(np.where(swapped, -choice, choice), return_inverse=True)
    return levels, level.astype(np.int32)


def _cell_sides(left_at: Places, right_at: Places, position: NDArray[np.int8]) -> NDArray[np.int8]:
    return (position * np.where(left_at < right_at, 1, -1)).astype(np.int8)


@njit(cache=True, nogil=True)
def _cell_keys(
    design: Design, n_items: int, side: NDArray[np.int8], level: Codes, n_levels: int
) -> Ints:
    key = np.empty(len(design.left_at), dtype=np.int64)
    for u in range(len(design.cells) - 1):
        start = design.seen[u]
        for c in range(design.cells[u], design.cells[u + 1]):
            a = np.int64(design.seen_item[start + design.left_at[c]])
            b = np.int64(design.seen_item[start + design.right_at[c]])
            pair = min(a, b) * n_items + max(a, b)
            key[c] = (pair * 3 + side[c] + 1) * n_levels + level[c]
    return key
