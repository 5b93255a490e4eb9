"""Light annotators: thousands with a few votes each, in one pass over the cells of all of them.

Calling a kernel for each costs more than their votes do. Their cells are laid out one after another
with places in y instead of places among an annotator's items; what they think of the items and
what pulls at it are vectors as long as y. Without features only; everybody else, and all others,
go through `kernels.unit_gradient`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefpath.compiling import by_reference, inner_kernel
from prefpath.model.design import Codes, Design, Floats, Ints, Places, Target
from prefpath.model.penalties import add_scaled_prox, soft_threshold
from prefpath.model.scalar_losses import slopes
from prefpath.solver.arguments import (
    ATTENTION,
    CELLS_AT_ONCE,
    DEVIATION,
    FIRST_SCALAR,
    POSITION,
    CommonPart,
    Scratch,
    Terms,
)

# Beyond so many cells a kernel of their own costs an annotator little.
MOST_CELLS = 512


@by_reference
class LightCells(NamedTuple):
    """Cells of the light ones among the active annotators; the k-th owns `cell_at[k:k + 2]`.

    Who owns none is not light. `left`, `right` and `bias` are places in y; `item` and `score` go
    with y: an item's code, and what its annotator thinks of it (at a scalar: its value, and of an
    attention `1 + sigma`). To the common part the k-th is `stands_for[k]` annotators.
    """

    cell_at: Ints
    stands_for: Floats
    left: Places
    right: Places
    bias: Places
    position: NDArray[np.int8]
    choice: Floats
    weight: Floats
    item: Codes
    score: Floats


def no_light_cells() -> LightCells:
    """Nobody is light."""
    return LightCells(
        cell_at=np.zeros(1, dtype=np.int64),
        stands_for=np.zeros(0),
        left=np.zeros(0, dtype=np.uint32),
        right=np.zeros(0, dtype=np.uint32),
        bias=np.zeros(0, dtype=np.uint32),
        position=np.zeros(0, dtype=np.int8),
        choice=np.zeros(0),
        weight=np.zeros(0),
        item=np.zeros(0, dtype=np.int32),
        score=np.zeros(0),
    )


def add_light_cells(
    light: LightCells, who: Ints, at: Ints, design: Design, target: Target, terms: Terms
) -> LightCells:
    """The same with those who become active; the part of `who[k]` in y begins at `at[k]`."""
    n_cells, n_y = int(light.cell_at[-1]), int(at[-1])
    n_scalars = terms.threshold.shape[1] - FIRST_SCALAR
    sizes = np.diff(design.cells)[who]
    sizes = np.where(sizes <= MOST_CELLS, sizes, 0)
    owner = np.repeat(np.arange(len(who)), sizes)
    cell = ranges(design.cells[who], sizes)
    voted = target.weight[cell] > 0.0  # what a fold holds out is not there
    owner, cell = owner[voted], cell[voted]
    begin, end = at[:-1][owner], at[1:][owner] - n_scalars
    added = np.concatenate(([n_cells], n_cells + np.cumsum(np.bincount(owner, minlength=len(who)))))
    widths = np.diff(at) - n_scalars
    item = np.full(n_y - int(at[0]), -1, dtype=np.int32)  # a scalar is of no item
    item[ranges(at[:-1] - at[0], widths)] = design.seen_item[ranges(design.seen[who], widths)]
    return LightCells(
        np.concatenate((light.cell_at, added[1:])),
        np.concatenate((light.stands_for, terms.stands_for[who])),
        _put(light.left, n_cells, begin + design.left_at[cell]),
        _put(light.right, n_cells, begin + design.right_at[cell]),
        _put(light.bias, n_cells, end),
        _put(light.position, n_cells, design.position[cell]),
        _put(light.choice, n_cells, target.choice[cell]),
        _put(light.weight, n_cells, target.weight[cell]),
        _put(light.item, int(at[0]), item),
        _put(light.score, int(at[0]), np.zeros(len(item))),
    )


def ranges(starts: Ints, sizes: Ints) -> Ints:
    """`starts[0], starts[0] + 1, ...` of each size, one after another."""
    ends = np.cumsum(sizes)
    return np.repeat(starts - ends + sizes, sizes) + np.arange(ends[-1] if len(ends) else 0)


def _put(buffer: NDArray[Any], start: int, values: NDArray[Any]) -> NDArray[Any]:
    """Write values at a place of a buffer, which grows by half where they do not fit."""
    if start + len(values) > len(buffer):
        grown = np.zeros(max(3 * len(buffer) // 2, start + len(values)), dtype=buffer.dtype)
        kept = min(start, len(buffer))
        grown[:kept] = buffer[:kept]
        buffer = grown
    buffer[start : start + len(values)] = values
    return buffer


# Loops over annotators stand in one function each, over arrays taken out of their tuples: a call
# with a tuple of arrays, or a slice, counts references, which takes longer than a few votes do.
@inner_kernel(allocates=False)
def light_values(
    start: int,
    stop: int,
    who: Ints,
    at: Ints,
    light: LightCells,
    terms: Terms,
    common: CommonPart,
    y: Floats,
) -> None:
    """What the light ones of the active annotators `start:stop` think of their items."""
    cell_at, item, score = light.cell_at, light.item, light.score
    threshold, theta, kappa, penalty = terms.threshold, common.theta, terms.kappa, terms.penalty
    n_scalars = threshold.shape[1] - FIRST_SCALAR
    for index in range(start, stop):
        if cell_at[index] == cell_at[index + 1]:
            continue
        u, begin, end = who[index], at[index], at[index + 1] - n_scalars
        attention = 1.0
        if n_scalars > 1:
            b = kappa * soft_threshold(y[end + 1], threshold[u, ATTENTION])
            attention += terms.attention_unit * b
            score[end + 1] = attention
        for j in range(begin, end):
            score[j] = attention * theta[item[j]]
        add_scaled_prox(penalty, y, begin, end, threshold[u, DEVIATION], kappa, score)
        score[end] = kappa * soft_threshold(y[end], threshold[u, POSITION]) + common.position


@inner_kernel(allocates=False)
def light_gradient(
    first: int, last: int, light: LightCells, terms: Terms, f: Floats, scratch: Scratch
) -> None:
    """Add the gradient of the cells `first:last` in what their annotators think to f."""
    score, slope = light.score, scratch.slope
    for begin in range(first, last, CELLS_AT_ONCE):
        stop = min(begin + CELLS_AT_ONCE, last)
        left, right = light.left[begin:stop], light.right[begin:stop]
        bias, position = light.bias[begin:stop], light.position[begin:stop]
        for k in range(len(left)):
            slope[k] = score[left[k]] - score[right[k]] + position[k] * score[bias[k]]
        slopes(terms.loss, terms.parameter, slope, light.choice, light.weight, begin, len(left))
        for k in range(len(left)):
            f[left[k]] += slope[k]
            f[right[k]] -= slope[k]
        _add_runs(bias, position, slope, f)


@inner_kernel(allocates=False)
def _add_runs(place: Places, sign: NDArray[np.int8], slope: Floats, f: Floats) -> None:
    """`f[place] += sign * slope`; runs of one place are summed before they are stored."""
    at, total = place[0], 0.0
    for k in range(len(place)):
        if place[k] != at:
            f[at] += total
            at, total = place[k], 0.0
        total += sign[k] * slope[k]
    f[at] += total


@inner_kernel(allocates=False)
def light_slopes(
    start: int,
    stop: int,
    at: Ints,
    light: LightCells,
    terms: Terms,
    theta: Floats,
    f: Floats,
    scratch: Scratch,
) -> float:
    """Turn the gradients of light annotators in f into slopes; return the sum in the biases."""
    cell_at, item, score = light.cell_at, light.item, light.score
    n_scalars, item_gradient = terms.threshold.shape[1] - FIRST_SCALAR, scratch.item_gradient
    stands_for = light.stands_for
    total, position_gradient = terms.total, 0.0
    for index in range(start, stop):
        if cell_at[index] == cell_at[index + 1]:
            continue
        begin, end = at[index], at[index + 1] - n_scalars
        if n_scalars > 1:
            f[end + 1] = _attention_slope(begin, end, light, terms, theta, f)
        seen_by = stands_for[index] * (score[end + 1] if n_scalars > 1 else 1.0)
        for j in range(begin, end):
            item_gradient[item[j]] += seen_by * f[j]
            f[j] = -f[j] / total
        position_gradient += stands_for[index] * f[end]
        f[end] = -f[end] / total
    return position_gradient


@inner_kernel(allocates=False)
def _attention_slope(
    begin: int, end: int, light: LightCells, terms: Terms, theta: Floats, f: Floats
) -> float:
    product = 0.0
    for j in range(begin, end):
        product += f[j] * theta[light.item[j]]
    return -terms.attention_unit * product / terms.total
