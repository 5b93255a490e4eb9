"""The crowd that has not popped up is one voter: its votes, pooled by pair of items."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from prefpath.model.design import Codes, Design, Floats, Ints, Places, Target
from prefpath.model.losses import slopes
from prefpath.model.problem import Problem
from prefpath.pairs.keys import number_keys
from prefpath.solver.kernels import CELLS_AT_ONCE, Rule, Scratch, add_to_pairs, along


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


class Pool(NamedTuple):
    """Weight and mean choice of each pooled pair, over the annotators who wait."""

    weight: Floats
    choice: Floats


def build_pool_index(problem: Problem) -> PoolIndex:
    """Number the distinct pooled pairs of a problem's cells."""
    design, n = problem.design, problem.votes.n_items
    side = (
        _cell_sides(design.left_at, design.right_at, design.position)
        if problem.common_position
        else np.zeros(len(design.left_at), dtype=np.int8)
    )
    levels, level = _choice_levels(problem)
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


def fill_pool(problem: Problem, index: PoolIndex) -> Pool:
    """The pool of everybody."""
    n_pairs = len(index.first)
    pool = Pool(np.zeros(n_pairs), np.zeros(n_pairs))
    everybody = np.arange(problem.votes.n_annotators, dtype=np.int64)
    move_votes(everybody, problem.design, problem.target, index.pair_of, 1.0, pool)
    return pool


def _choice_levels(problem: Problem) -> tuple[Floats, Codes]:
    if problem.loss.affine_in_choice:
        return np.zeros(1), np.zeros(len(problem.design.left_at), dtype=np.int32)
    swapped = problem.design.left_at > problem.design.right_at
    choice = np.where(swapped, -problem.target.choice, problem.target.choice)
    levels, level = np.unique(choice, return_inverse=True)
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


@njit(cache=True, nogil=True, error_model="numpy")
def move_votes(
    who: Ints, design: Design, target: Target, pair_of: Places, sign: float, pool: Pool
) -> None:
    """Add the votes of some annotators to the pool (sign 1) or take them out (-1)."""
    for index in range(len(who)):
        u = who[index]
        for c in range(design.cells[u], design.cells[u + 1]):
            pair = pair_of[c]
            weight = sign * target.weight[c]
            # Places among the seen items ascend with the items: they tell the orientation.
            ahead = 1.0 if design.left_at[c] < design.right_at[c] else -1.0
            total = pool.weight[pair] + weight
            if total > 0.0:
                pulled = pool.weight[pair] * pool.choice[pair]
                pool.choice[pair] = (pulled + ahead * weight * target.choice[c]) / total
                pool.weight[pair] = total
            else:
                pool.choice[pair] = 0.0
                pool.weight[pair] = 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def pool_gradient(
    start: int,
    stop: int,
    index: PoolIndex,
    pool: Pool,
    rule: Rule,
    theta: Floats,
    common_bias: float,
    scratch: Scratch,
) -> float:
    """Add the pooled pairs' gradient in the items' scores; return the one in the common bias."""
    sideways = 0.0
    item_pull, slope = scratch.item_pull, scratch.slope
    for begin in range(start, stop, CELLS_AT_ONCE):
        end = min(begin + CELLS_AT_ONCE, stop)
        first, second, side = index.first[begin:end], index.second[begin:end], index.side[begin:end]
        for k in range(len(first)):
            slope[k] = theta[first[k]] - theta[second[k]] + side[k] * common_bias
        slopes(rule.loss, rule.parameter, slope, pool.choice, pool.weight, begin, len(first))
        add_to_pairs(first, second, slope, item_pull)
        sideways += along(side, slope)
    return sideways
