"""The distinct pairs of a problem's votes: how the cells of all annotators pool by pair.

It depends on who compared what and not on weights: all folds of a problem share one index.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefpath.compiling import by_reference, kernel
from prefpath.machine import for_rows
from prefpath.model.design import Codes, Design, Floats, Ints, Places
from prefpath.model.losses import Loss
from prefpath.pairs.keys import number_keys


@by_reference
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
    levels, level = _choice_levels(design, loss, choice)
    side = _cell_sides(design, with_sides=with_sides)
    key = _keys_of_cells(design, n_items, side, level, len(levels))
    distinct, pair_of = number_keys(key, n_items * n_items * 3 * len(levels))
    return index_of_keys(distinct, n_items, len(levels))._replace(pair_of=pair_of)


def index_of_keys(key: Ints, n_items: int, n_levels: int = 1) -> PoolIndex:
    """The pairs of distinct keys, to which no cell belongs yet."""
    pair, rest = np.divmod(key, 3 * n_levels)
    first, second = np.divmod(pair, n_items)
    return PoolIndex(
        first.astype(np.uint32),
        second.astype(np.uint32),
        (rest // n_levels - 1).astype(np.int8),
        np.zeros(0, dtype=np.uint32),
    )


def cell_keys(design: Design, n_items: int, *, with_sides: bool) -> Ints:
    """The pair of each cell as a number that is the same in every shard of the votes.

    For losses whose votes can be averaged.
    """
    level = np.zeros(len(design.left_at), dtype=np.int32)
    return _keys_of_cells(design, n_items, _cell_sides(design, with_sides=with_sides), level, 1)


def _choice_levels(design: Design, loss: Loss, choice: Floats) -> tuple[Floats, Codes]:
    if loss.affine_in_choice:
        return np.zeros(1), np.zeros(len(design.left_at), dtype=np.int32)
    swapped = design.left_at > design.right_at
    levels, level = np.unique(np.where(swapped, -choice, choice), return_inverse=True)
    return levels, level.astype(np.int32)


def _cell_sides(design: Design, *, with_sides: bool) -> NDArray[np.int8]:
    """Whether each cell's first item was on the left (1) or right (-1), or that is all the same."""
    if not with_sides:
        return np.zeros(len(design.left_at), dtype=np.int8)
    ahead = np.where(design.left_at < design.right_at, 1, -1)
    return (design.position * ahead).astype(np.int8)


def _keys_of_cells(design: Design, *how: Any) -> Ints:
    keys: Ints = for_rows(len(design.left_at), _cell_keys, _few_cell_keys)(design, *how)
    return keys


def _few_cell_keys(
    design: Design, n_items: int, side: NDArray[np.int8], level: Codes, n_levels: int
) -> Ints:
    """The same in NumPy."""
    start = np.repeat(design.seen[:-1], np.diff(design.cells))
    a, b = design.seen_item[start + design.left_at], design.seen_item[start + design.right_at]
    pair = np.minimum(a, b).astype(np.int64) * n_items + np.maximum(a, b)
    keys: Ints = (pair * 3 + side + 1) * n_levels + level
    return keys


@kernel()
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
