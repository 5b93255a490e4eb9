"""The jackknife's correction: each annotator's pull as it is where they had no say.

`(1 - A P)^-1 g`, with `A` the annotator's curvature and `P` the inverse of everybody's. Nearly
everybody holds next to nothing of the whole, and a few terms of the series are enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from prefpath.compiling import inner_kernel, kernel
from prefpath.inference.absorption import absorb, annotator_coefficients, own_hessian
from prefpath.inference.bending import At, bend
from prefpath.inference.evidence import Evidence
from prefpath.inference.leaning import OwnLeans
from prefpath.machine import FEW_ROWS
from prefpath.model.design import Codes, Design, Floats, Ints
from prefpath.model.loops import sum_of_squares
from prefpath.solver.arguments import Inputs, Scratch, inputs_of, make_scratch
from prefpath.solver.kernels import add_to_block
from prefpath.votes.encode import BoolArray
from prefpath.votes.segments import rows_of

# Leverage is removed by a series up to a term so small; it is solved for whoever holds so much
# of the whole that the series is slow.
_SMALL_TERM = 1e-3
_MOST_TERMS = 8
_RIDGE = 1e-6
# Who has seen a larger share of the items is multiplied by P together with others, so many at once.
_SEEN_BY_BUSY = 0.1
_BUSY_AT_ONCE = 500
# Up to so many one by one are done before kernels would be loaded.
_FEW_ANNOTATORS = 500


class Gradients(NamedTuple):
    """Each annotator's pull: on the coefficients of their block, and on the common position."""

    block: Floats
    position: Floats


def remove_leverage(
    evidence: Evidence,
    coefficient: Floats,
    sizes: Floats,
    bread: Floats,
    blocks: Floats,
    position: Floats,
    kept: Mapping[int, Floats] = MappingProxyType({}),
) -> None:
    """Put each annotator's pull as it is where they had no say, in place.

    `kept` is what is known of the curvature that active annotators leave.
    """
    problem = evidence.problem
    gradients = Gradients(blocks, position)
    for u in np.flatnonzero(_left_over(evidence, coefficient, bread, gradients)):
        touched = annotator_coefficients(evidence, int(u))
        block = slice(int(problem.design.blocks[u]), int(problem.design.blocks[u + 1]))
        gradient = blocks[block]
        if problem.common_position:
            gradient = np.append(gradient, position[u])
        inner = bread[np.ix_(touched, touched)]
        left = kept.get(int(u))
        if left is not None:
            gradient = _without_leverage(left.dot, left.view, inner, gradient)
        elif evidence.active[u]:
            absorbed = absorb(evidence, int(u), coefficient, float(sizes[u]))
            gradient = _without_leverage(absorbed.times, absorbed.matrix, inner, gradient)
        else:
            curvature = own_hessian(evidence, int(u), coefficient)[: len(touched), : len(touched)]
            gradient = _without_leverage(curvature.dot, curvature.view, inner, gradient)
        blocks[block] = gradient[: block.stop - block.start]
        if problem.common_position:
            position[u] = gradient[-1]


def _left_over(
    evidence: Evidence, coefficient: Floats, bread: Floats, gradients: Gradients
) -> BoolArray:
    """Who remains after compiled code has done all without a taste; of few votes, everybody."""
    problem = evidence.problem
    slow = np.zeros(problem.votes.n_annotators, dtype=np.bool_)
    if len(slow) <= _FEW_ANNOTATORS and len(problem.design.left_at) <= FEW_ROWS:
        return ~slow
    inputs, scratch = inputs_of(problem), make_scratch(problem)
    theta, bias = evidence.scores(coefficient), evidence.common_bias(coefficient)
    at = At(theta, bias, OwnLeans.of(evidence))
    follows = np.flatnonzero(~evidence.active | evidence.leaning).astype(np.int64)
    busy = np.zeros(len(follows), dtype=bool)
    if problem.features is None:
        busy = np.diff(problem.design.seen)[follows] > _SEEN_BY_BUSY * problem.n_common
    _remove_by_series(follows[~busy], inputs, at, bread, gradients, slow, scratch)
    for k in range(0, int(busy.sum()), _BUSY_AT_ONCE):
        who = follows[busy][k : k + _BUSY_AT_ONCE]
        _remove_from_busy(who, inputs, at, bread, gradients, slow, scratch)
    return (evidence.active & ~evidence.leaning) | slow


def _remove_from_busy(
    who: Ints,
    inputs: Inputs,
    at: At,
    bread: Floats,
    gradients: Gradients,
    slow: BoolArray,
    scratch: Scratch,
) -> None:
    """`_remove_by_series` of those who have seen many of the items: `P` times all at once.

    One by one, all of P would be read from memory for each of them.
    """
    places = _Places.of(who, inputs.design)
    first = np.zeros((len(who), len(bread)))
    first[places.row, places.item] = gradients.block[places.block]
    if inputs.terms.common_position:
        first[:, -1] = gradients.position[who]
    total, slow[who] = _sum_of_series(who, inputs, at, bread, first, scratch)
    gradients.block[places.block] = total[places.row, places.item]
    if inputs.terms.common_position:
        gradients.position[who] = total[:, -1]


def _sum_of_series(
    who: Ints,
    inputs: Inputs,
    at: At,
    bread: Floats,
    first: Floats,
    scratch: Scratch,
) -> tuple[Floats, BoolArray]:
    """Rows `g + A P g + ...`; whose many terms would be needed keeps g, and is said so."""
    total, term, left = first.copy(), first, np.arange(len(who))
    goal = _SMALL_TERM**2 * np.einsum("ij,ij->i", first, first)
    for _ in range(_MOST_TERMS):
        term = term @ bread
        _bend_rows(who[left], inputs, at, term, scratch)
        total[left] += term
        long = np.einsum("ij,ij->i", term, term) > goal[left]
        left, term = left[long], term[long]
        if not len(left):
            break
    slow = np.zeros(len(who), dtype=bool)
    slow[left], total[left] = True, first[left]
    return total, slow


class _Places(NamedTuple):
    """Where entries of some annotators' blocks are: which of the annotators, item, and block."""

    row: Ints
    item: Codes
    block: Ints

    @classmethod
    def of(cls, who: Ints, design: Design) -> _Places:
        seen = rows_of(design.seen, who)
        row = np.repeat(np.arange(len(who)), np.diff(design.seen)[who])
        return cls(row, design.seen_item[seen], seen)  # without features, a block is the items


def _without_leverage(
    times: Callable[[Floats], Floats],
    matrix: Callable[[], Floats],
    inner: Floats,
    gradient: Floats,
) -> Floats:
    """`(1 - A P)^-1 g` by its series, or solved where the series is slow."""
    total, term = gradient.copy(), gradient
    for _ in range(_MOST_TERMS):
        term = times(inner @ term)
        total += term
        if np.linalg.norm(term) <= _SMALL_TERM * np.linalg.norm(gradient):
            return total
    return _solve_leverage(matrix(), inner, gradient)


def _solve_leverage(curvature: Floats, inner: Floats, gradient: Floats) -> Floats:
    # Whoever alone has seen an item leaves nothing of it when removed; a ridge keeps that
    # direction finite, and the variance is never taken below the unclustered one.
    stayed = (1.0 + _RIDGE) * np.eye(len(gradient)) - curvature @ inner
    return np.linalg.solve(stayed, gradient).astype(float, copy=False)


@kernel()
def _remove_by_series(
    who: Ints,
    inputs: Inputs,
    at: At,
    bread: Floats,
    gradients: Gradients,
    slow: BoolArray,
    scratch: Scratch,
) -> None:
    """`g + A P g + (A P)^2 g ...` in place; whoever needs many terms is left as they are."""
    design, blocks = inputs.design, gradients.block
    with_bias = inputs.terms.common_position
    widest = 0
    for u in who:
        widest = max(widest, design.blocks[u + 1] - design.blocks[u])
    term, total = np.empty(widest), np.empty(widest)
    for u in who:
        start, width = design.blocks[u], design.blocks[u + 1] - design.blocks[u]
        for k in range(width):
            term[k] = blocks[start + k]
            total[k] = term[k]
        position_term = gradients.position[u] if with_bias else 0.0
        position_total = position_term
        goal = _SMALL_TERM**2 * (sum_of_squares(term[:width]) + position_term**2)
        slow[u] = True
        for _ in range(_MOST_TERMS):
            position_term = _apply_leverage(u, inputs, at, bread, term, position_term, scratch)
            for k in range(width):
                total[k] += term[k]
            position_total += position_term
            if sum_of_squares(term[:width]) + position_term**2 <= goal:
                slow[u] = False
                break
        if not slow[u]:
            for k in range(width):
                blocks[start + k] = total[k]
            if with_bias:
                gradients.position[u] = position_total


@inner_kernel(allocates=False)
def _apply_leverage(
    u: int,
    inputs: Inputs,
    at: At,
    bread: Floats,
    term: Floats,
    position_term: float,
    scratch: Scratch,
) -> float:
    """Put `A_u P term` into `term`; return its entry for the position."""
    design, with_bias = inputs.design, inputs.terms.common_position
    last = len(bread) - 1
    own_features = design.features.shape[0] > 0
    seen, width = design.seen[u], design.blocks[u + 1] - design.blocks[u]
    side = bread[last, last] * position_term if with_bias else 0.0
    for k in range(width):
        row = k if own_features else design.seen_item[seen + k]
        moved = bread[row, last] * position_term if with_bias else 0.0
        if own_features:
            for other in range(width):
                moved += bread[row, other] * term[other]
        else:
            others, before = design.seen_item[seen : seen + k], scratch.coefficient[:k]
            moved += _add_both_ways(bread[row], others, term[:k], term[k], before)
            moved += bread[row, row] * term[k]
        if with_bias:
            side += bread[last, row] * term[k]
        scratch.coefficient[k] = moved
    turned = bend(u, inputs, at, side, scratch)
    for k in range(width):
        term[k] = 0.0
    add_to_block(u, design, scratch.score_gradient, 1.0, term, 0)
    return turned


@inner_kernel(allocates=False, fastmath={"reassoc", "contract"})
def _add_both_ways(row: Floats, at: Codes, term: Floats, own: float, before: Floats) -> float:
    """Some entries of a row times `term`, added up in any order; and times `own`, to `before`.

    The matrix is symmetric, and to read it is what takes the time.
    """
    total = 0.0
    for k in range(len(term)):
        entry = row[np.uint32(at[k])]
        total += entry * term[k]
        before[k] += entry * own
    return total


@kernel()
def _bend_rows(who: Ints, inputs: Inputs, at: At, rows: Floats, scratch: Scratch) -> None:
    """Put `A_u row` into the row of each annotator, over all common coefficients."""
    design, last = inputs.design, rows.shape[1] - 1
    for k in range(len(who)):
        u, row = who[k], rows[k]
        seen = design.seen_item[design.seen[u] : design.seen[u + 1]]
        for j in range(len(seen)):
            scratch.coefficient[j] = row[seen[j]]
        turned = bend(u, inputs, at, row[last], scratch)
        row[:] = 0.0
        for j in range(len(seen)):
            row[seen[j]] = scratch.score_gradient[j]
        if inputs.terms.common_position:
            row[last] = turned
