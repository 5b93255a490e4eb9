"""How much each annotator votes, in all and on one item."""

from __future__ import annotations

import numpy as np

from prefpath.compiling import kernel
from prefpath.model.design import Design, Floats, Target
from prefpath.model.loops import longest_run
from prefpath.model.problem import Problem

# Cells from which NumPy's arrays in between cost more than to load a compiled loop.
_MANY_CELLS = 2_000_000


def weight_by_annotator(problem: Problem) -> Floats:
    """The weight of each annotator's votes in this problem (a fold has its own)."""
    n_cells = len(problem.target.weight)
    starts = np.minimum(problem.design.cells[:-1], n_cells)
    sums = np.add.reduceat(np.append(problem.target.weight, 0.0), starts)
    return np.where(np.diff(problem.design.cells) > 0, sums, 0.0)


def heaviest_items(design: Design, target: Target) -> Floats:
    """For each annotator the weight of the votes on the item they voted on most."""
    if len(design.left_at) > _MANY_CELLS:
        return np.asarray(_heaviest_of_many(design, target.weight))
    begin = np.repeat(design.seen[:-1], np.diff(design.cells))
    weight = np.bincount(begin + design.left_at, target.weight, minlength=design.seen[-1] + 1)
    weight += np.bincount(begin + design.right_at, target.weight, minlength=design.seen[-1] + 1)
    heaviest = np.maximum.reduceat(weight, design.seen[:-1])
    return np.where(np.diff(design.seen) > 0, heaviest, 0.0)


@kernel()
def _heaviest_of_many(design: Design, weight: Floats) -> Floats:
    """The same without arrays as long as the votes in between."""
    heaviest = np.zeros(len(design.cells) - 1)
    degree = np.zeros(longest_run(design.seen))
    for u in range(len(heaviest)):
        for c in range(design.cells[u], design.cells[u + 1]):
            degree[design.left_at[c]] += weight[c]
            degree[design.right_at[c]] += weight[c]
        for k in range(design.seen[u + 1] - design.seen[u]):
            heaviest[u] = max(heaviest[u], degree[k])
            degree[k] = 0.0
    return heaviest
