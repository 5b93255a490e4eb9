"""What each annotator's votes pull at: gradients of their summed loss, compiled or in NumPy."""

from __future__ import annotations

import numpy as np

from prefpath.inference.evidence import Evidence
from prefpath.machine import for_rows
from prefpath.model.design import Floats
from prefpath.solver.arguments import CommonPart, Inputs, Personal, make_scratch, terms_of
from prefpath.solver.kernels import gradient_shard


def annotator_gradients(evidence: Evidence, coefficient: Floats) -> tuple[Floats, Floats]:
    """Gradient of every annotator's summed loss in their block and in the position."""
    n_cells = len(evidence.problem.design.left_at)
    gradients = for_rows(n_cells, compiled_gradients, gradients_of_few)
    blocks, position_gradient = gradients(evidence, coefficient)
    return blocks, position_gradient


def compiled_gradients(evidence: Evidence, coefficient: Floats) -> tuple[Floats, Floats]:
    """`annotator_gradients`, annotator by annotator."""
    problem = evidence.problem
    blocks, position_gradient = np.zeros_like(evidence.own), np.zeros_like(evidence.own_bias)
    terms = terms_of(problem)._replace(total=1.0)
    gradient_shard(
        np.arange(problem.votes.n_annotators, dtype=np.int64),
        Inputs(problem.design, problem.target, terms),
        CommonPart(evidence.scores(coefficient), evidence.common_bias(coefficient)),
        Personal(evidence.own, evidence.own_bias[:, None]),
        Personal(blocks, position_gradient[:, None]),
        make_scratch(problem),
    )
    return blocks, position_gradient


def gradients_of_few(evidence: Evidence, coefficient: Floats) -> tuple[Floats, Floats]:
    """The same in NumPy, of all annotators at once."""
    problem, design = evidence.problem, evidence.problem.design
    n, n_seen = problem.votes.n_annotators, len(design.seen_item)
    owner = np.repeat(np.arange(n), np.diff(design.cells))
    left, right = design.seen[owner] + design.left_at, design.seen[owner] + design.right_at
    score, bias = _own_scores(evidence, coefficient), evidence.common_bias(coefficient)
    lean = design.position * (evidence.own_bias[owner] + bias)
    margin, target = score[left] - score[right] + lean, problem.target
    slope = target.weight * problem.loss.gradient(margin, target.choice)
    pull = np.bincount(left, slope, n_seen) - np.bincount(right, slope, n_seen)
    position_gradient = np.bincount(owner, design.position * slope, n)
    return _on_blocks(evidence, pull.astype(np.float64)), position_gradient.astype(np.float64)


def _own_scores(evidence: Evidence, coefficient: Floats) -> Floats:
    """The score each annotator gives to each item they have seen."""
    design = evidence.problem.design
    common = evidence.scores(coefficient)[design.seen_item]
    if evidence.problem.features is None:
        return np.asarray(common + evidence.own)
    own = evidence.own.reshape(len(design.seen) - 1, -1)
    who = np.repeat(np.arange(len(own)), np.diff(design.seen))
    return np.asarray(common + (design.features[design.seen_item] * own[who]).sum(axis=1))


def _on_blocks(evidence: Evidence, pull: Floats) -> Floats:
    """Gradients in scores of items seen as gradients in coefficients."""
    design = evidence.problem.design
    if evidence.problem.features is None:
        return pull
    n = len(design.seen) - 1
    who = np.repeat(np.arange(n), np.diff(design.seen))
    each = design.features[design.seen_item] * pull[:, None]
    columns = [np.bincount(who, column, n) for column in each.T]
    return np.ascontiguousarray(np.column_stack(columns), dtype=np.float64).ravel()
