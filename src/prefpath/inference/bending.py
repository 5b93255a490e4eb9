"""Compiled: an annotator's curvature times a vector, their own lean re-estimated."""

from __future__ import annotations

from typing import NamedTuple

from prefpath.compiling import inner_kernel
from prefpath.inference.leaning import OwnLeans
from prefpath.model.design import Floats
from prefpath.model.scalar_losses import scalar_curvature
from prefpath.solver.arguments import Inputs, Scratch
from prefpath.solver.kernels import own_scores


class At(NamedTuple):
    """Where curvatures are taken: scores of items, the position effect all share, own leans."""

    theta: Floats
    position: float
    leans: OwnLeans


@inner_kernel(allocates=False)
def bend(u: int, inputs: Inputs, at: At, side: float, scratch: Scratch) -> float:
    """`A_u` times what is in `scratch.coefficient` and `side`: scores there, the position here."""
    design, theta, seen = inputs.design, at.theta, inputs.design.seen[u]
    own_scores(u, design, theta, True, scratch.coefficient, scratch.score)
    for k in range(design.seen[u + 1] - seen):
        # own_scores adds theta; only what was moved counts here.
        scratch.score[k] -= theta[design.seen_item[seen + k]]
        scratch.score_gradient[k] = 0.0
    side = side if inputs.terms.common_position else 0.0
    if at.leans.alone[u]:
        side -= _own_move(u, inputs, at, side, scratch)
    turned = 0.0
    for c in range(design.cells[u], design.cells[u + 1]):
        a, b, position = design.left_at[c], design.right_at[c], design.position[c]
        slope = _curvature(c, u, inputs, at)
        slope *= scratch.score[a] - scratch.score[b] + position * side
        scratch.score_gradient[a] += slope
        scratch.score_gradient[b] -= slope
        turned += position * slope
    return turned if inputs.terms.common_position else 0.0


@inner_kernel(allocates=False)
def _curvature(c: int, u: int, inputs: Inputs, at: At) -> float:
    """Of a cell of annotator u."""
    design, target, terms = inputs
    seen, position = design.seen[u], design.position[c]
    i, j = design.seen_item[seen + design.left_at[c]], design.seen_item[seen + design.right_at[c]]
    margin = at.theta[i] - at.theta[j] + position * (at.position + at.leans.bias[u])
    curvature = scalar_curvature(terms.loss, terms.parameter, margin, target.choice[c])
    return curvature * target.weight[c]


@inner_kernel(allocates=False)
def _own_move(u: int, inputs: Inputs, at: At, side: float, scratch: Scratch) -> float:
    """How far u's own lean gives way to moves of scores and of the position effect."""
    design = inputs.design
    push, stiffness = 0.0, at.leans.bend
    for c in range(design.cells[u], design.cells[u + 1]):
        position = design.position[c]
        if position:
            curvature = _curvature(c, u, inputs, at)
            apart = scratch.score[design.left_at[c]] - scratch.score[design.right_at[c]]
            push += curvature * position * (apart + position * side)
            stiffness += curvature
    return push / stiffness
