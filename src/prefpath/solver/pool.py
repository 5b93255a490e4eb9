"""The crowd that has not popped up is one voter: its votes, pooled by pair of items."""

from __future__ import annotations

from typing import NamedTuple

from prefpath.compiling import by_reference, kernel
from prefpath.model.design import Design, Floats, Ints, Places, Target
from prefpath.model.pool_index import PoolIndex
from prefpath.model.problem import Problem
from prefpath.model.scalar_losses import slopes
from prefpath.solver.arguments import CELLS_AT_ONCE, CommonPart, Scratch, Terms
from prefpath.solver.kernels import add_to_pairs, signed_sum


@by_reference
class Pool(NamedTuple):
    """Weight and mean choice of each pooled pair, over the annotators who wait."""

    weight: Floats
    choice: Floats


def fill_pool(problem: Problem) -> Pool:
    """The pool of everybody, from which those who pop up are taken."""
    pooled = problem.pooled_votes
    return Pool(pooled.weight.copy(), pooled.choice.copy())


@kernel(allocates=False)
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


@kernel(allocates=False)
def pool_gradient(
    start: int,
    stop: int,
    index: PoolIndex,
    pool: Pool,
    terms: Terms,
    common: CommonPart,
    scratch: Scratch,
) -> float:
    """Add the pooled pairs' gradient in the items' scores; return the common position's."""
    position_gradient = 0.0
    item_gradient, slope = scratch.item_gradient, scratch.slope
    theta = common.theta
    for begin in range(start, stop, CELLS_AT_ONCE):
        end = min(begin + CELLS_AT_ONCE, stop)
        first, second, side = index.first[begin:end], index.second[begin:end], index.side[begin:end]
        for k in range(len(first)):
            slope[k] = theta[first[k]] - theta[second[k]] + side[k] * common.position
        slopes(terms.loss, terms.parameter, slope, pool.choice, pool.weight, begin, len(first))
        add_to_pairs(first, second, slope, item_gradient)
        position_gradient += signed_sum(side, slope)
    return position_gradient
