"""Covariance of the common part, clustered by annotator.

Whole annotators are the draws: their votes share a taste. With `g_u` the gradient of annotator
u's votes at the consensus and `A_u` their curvature (what their own part leaves of it), the
covariance is `P (sum_u h_u h_u^T) P`, where `P` is the inverse of `sum_u A_u` and
`h_u = (1 - A_u P)^-1 g_u` is the gradient where u had no say: the jackknife's correction
(CR3), without which a busy annotator hides their own influence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy import sparse

from prefpath.inference.absorption import (
    annotator_coefficients,
    balanced_pull,
    left_for_common,
    own_hessian,
)
from prefpath.inference.consensus import (
    Consensus,
    common_hessian,
    fit_consensus,
    invert,
)
from prefpath.inference.evidence import Evidence, active_annotators, pooled_target
from prefpath.inference.unseen import flattening
from prefpath.model.design import Design, Floats, Ints, Target
from prefpath.model.losses import scalar_curvature
from prefpath.solver.kernels import (
    Rule,
    Scratch,
    add_to_block,
    gradient_shard,
    make_scratch,
    own_scores,
    rule_of,
)

# From this share of the whole on, an annotator's leverage is removed exactly; below, the
# first term of the series is right to its square. At most rank / share annotators are above.
_EXACT_FROM = 0.05
_RIDGE = 1e-6


@dataclass(frozen=True, eq=False)
class Clustered:
    """Covariance of the common part at the consensus.

    Attributes
    ----------
    consensus : Consensus
    inverse : array
        Inverse of the curvature, the annotators' own parts re-estimated.
    covariance : array
        Clustered by annotator.
    unclustered : array
        As if every vote were drawn by itself and the annotators' own parts were known: no
        estimate is better.
    gradient : sparse array (n_annotators, n_coefficients)
        Each annotator's pull at the consensus.
    held : array
        Curvature of the active annotators together, own parts re-estimated.
    flattened : array
        What unseen tastes are expected to have taken from the consensus (see `unseen`).
    degrees_of_freedom : float
        Annotators less one, as the jackknife's covariance wants (Hansen 2025).
    """

    consensus: Consensus
    inverse: Floats
    covariance: Floats
    unclustered: Floats
    gradient: sparse.csr_array
    held: Floats
    flattened: Floats
    degrees_of_freedom: float

    @property
    def settled(self) -> Floats:
        """The common part intervals are around."""
        return self.consensus.coefficient - self.flattened


def cluster_covariance(evidence: Evidence) -> Clustered:
    """Sandwich covariance of the common part at the consensus beside the offsets."""
    consensus = fit_consensus(evidence)
    held = _active_curvature(evidence, consensus.coefficient)
    bread = invert(evidence, _follower_curvature(evidence, consensus.coefficient) + held)
    blocks, sideways = _pulls(evidence, consensus.coefficient)
    gradient = as_rows(evidence, blocks, sideways)
    _remove_leverage(evidence, consensus.coefficient, bread, blocks, sideways)
    corrected = as_rows(evidence, blocks, sideways)
    n_present = int(np.count_nonzero(np.diff(evidence.problem.design.cells)))
    drift = np.asarray(corrected.sum(axis=0)) / max(n_present, 1)
    meat = (corrected.T @ corrected).toarray() - n_present * np.outer(drift, drift)
    meat *= (n_present - 1) / max(n_present, 1)
    unclustered = _dispersion(evidence, consensus.coefficient) * consensus.inverse
    # One annotator cannot show how annotators differ: their votes are then all there is.
    alone = n_present < 2
    return Clustered(
        consensus=consensus,
        inverse=bread,
        covariance=unclustered if alone else bread @ meat @ bread,
        unclustered=unclustered,
        gradient=gradient,
        held=held,
        flattened=flattening(evidence, consensus.coefficient, bread, gradient),
        degrees_of_freedom=np.inf if alone else float(n_present - 1),
    )


def _follower_curvature(evidence: Evidence, coefficient: Floats) -> Floats:
    follows = (~evidence.active).astype(float)[:, None]
    weight, pull = (column[:, 0] for column in pooled_target(evidence, follows))
    choice = np.divide(pull, weight, out=np.zeros_like(pull), where=weight > 0)
    return common_hessian(evidence, coefficient, weight, choice)


def _active_curvature(evidence: Evidence, coefficient: Floats) -> Floats:
    total = np.zeros((evidence.n_coefficients, evidence.n_coefficients))
    for u in active_annotators(evidence):
        touched = annotator_coefficients(evidence, u)
        total[np.ix_(touched, touched)] += left_for_common(evidence, u, coefficient)
    return total


def annotator_gradients(evidence: Evidence, coefficient: Floats) -> tuple[Floats, Floats]:
    """Gradient of every annotator's summed loss in their block and in the position."""
    problem = evidence.problem
    blocks, sideways = np.zeros_like(evidence.own), np.zeros_like(evidence.own_bias)
    gradient_shard(
        np.arange(problem.votes.n_annotators, dtype=np.int64),
        problem.design,
        problem.target,
        rule_of(problem)._replace(total=1.0),
        evidence.scores(coefficient),
        evidence.common_bias(coefficient),
        evidence.own,
        evidence.own_bias,
        blocks,
        sideways,
        make_scratch(problem.design, problem.votes.n_items),
    )
    return blocks, sideways


def _pulls(evidence: Evidence, coefficient: Floats) -> tuple[Floats, Floats]:
    """The same with the balance of the penalty put in for the active."""
    blocks, sideways = annotator_gradients(evidence, coefficient)
    ends = evidence.problem.design.blocks
    for u in active_annotators(evidence):
        block = slice(int(ends[u]), int(ends[u + 1]))
        pull = balanced_pull(evidence, int(u), blocks[block], float(sideways[u]))
        blocks[block], sideways[u] = pull[:-1], pull[-1]
    return blocks, sideways


def as_rows(evidence: Evidence, blocks: Floats, sideways: Floats) -> sparse.csr_array:
    """Annotators' gradients as the rows of a sparse matrix over the common coefficients."""
    problem = evidence.problem
    design, n_annotators = problem.design, problem.votes.n_annotators
    width = problem.n_common
    columns = design.seen_item if problem.features is None else _tiled(width, n_annotators)
    rows = sparse.csr_array((blocks.copy(), columns, design.blocks), shape=(n_annotators, width))
    if problem.common_position:
        rows = sparse.hstack((rows, sparse.csr_array(sideways[:, None])), format="csr")
    return sparse.csr_array(rows)


def _tiled(width: int, times: int) -> Ints:
    return np.tile(np.arange(width, dtype=np.int64), times)


def _remove_leverage(
    evidence: Evidence, coefficient: Floats, bread: Floats, blocks: Floats, sideways: Floats
) -> None:
    """Put each annotator's pull as it is where they had no say, in place."""
    problem = evidence.problem
    share = np.zeros(problem.votes.n_annotators)
    _remove_little_leverage(
        np.flatnonzero(~evidence.active).astype(np.int64),
        problem.design,
        problem.target,
        rule_of(problem),
        evidence.scores(coefficient),
        evidence.common_bias(coefficient),
        problem.common_position,
        bread,
        _EXACT_FROM,
        blocks,
        sideways,
        share,
        make_scratch(problem.design, problem.votes.n_items),
    )
    exactly = np.flatnonzero(evidence.active | (share >= _EXACT_FROM))
    for u in exactly:
        _remove_exactly(evidence, coefficient, bread, int(u), blocks, sideways)


def _remove_exactly(
    evidence: Evidence,
    coefficient: Floats,
    bread: Floats,
    u: int,
    blocks: Floats,
    sideways: Floats,
) -> None:
    problem = evidence.problem
    touched = annotator_coefficients(evidence, u)
    block = slice(int(problem.design.blocks[u]), int(problem.design.blocks[u + 1]))
    if evidence.active[u]:
        curvature = left_for_common(evidence, u, coefficient)
    else:
        curvature = own_hessian(evidence, u, coefficient)[: len(touched), : len(touched)]
    gradient = blocks[block]
    if problem.common_position:
        gradient = np.append(gradient, sideways[u])
    moved = curvature @ bread[np.ix_(touched, touched)]
    # Whoever alone has seen an item leaves nothing of it when removed; a ridge keeps that
    # direction finite, and the variance is never taken below the unclustered one.
    corrected = np.linalg.solve((1.0 + _RIDGE) * np.eye(len(touched)) - moved, gradient)
    blocks[block] = corrected[: block.stop - block.start]
    if problem.common_position:
        sideways[u] = corrected[-1]


def _dispersion(evidence: Evidence, coefficient: Floats) -> float:
    """Squared gradients over curvature: about 1 where the loss is a likelihood."""
    problem = evidence.problem
    votes, follows = problem.votes, ~evidence.active
    rows = np.flatnonzero(np.repeat(follows, np.diff(votes.offsets)))
    rows = rows[evidence.bounded[votes.left[rows]] & evidence.bounded[votes.right[rows]]]
    if not len(rows):
        return 1.0
    theta = evidence.scores(coefficient)
    margin = theta[votes.left[rows]] - theta[votes.right[rows]]
    margin += evidence.common_bias(coefficient) * votes.position_known[rows]
    choice, weight = votes.choice[rows], problem.weight[rows]
    each = weight / votes.count[rows]
    slope = problem.loss.gradient(margin, choice)
    bend = problem.loss.curvature(margin, choice)
    return float((weight * each * slope**2).sum() / max((weight * bend).sum(), 1e-300))


@njit(cache=True, nogil=True, error_model="numpy")
def _remove_little_leverage(
    who: Ints,
    design: Design,
    target: Target,
    rule: Rule,
    theta: Floats,
    common_bias: float,
    with_bias: bool,
    bread: Floats,
    exact_from: float,
    blocks: Floats,
    sideways: Floats,
    share: Floats,
    scratch: Scratch,
) -> None:
    """`g += A P g` for annotators of little leverage; `share` is the trace of `A P`."""
    last = len(bread) - 1
    own_features = design.features.shape[0] > 0
    zero = np.zeros(len(theta))
    for index in range(len(who)):
        u = who[index]
        start, stop, seen = design.blocks[u], design.blocks[u + 1], design.seen[u]
        width = stop - start
        side = 0.0
        for k in range(width):
            row = k if own_features else design.seen_item[seen + k]
            total = 0.0
            for other in range(width):
                column = other if own_features else design.seen_item[seen + other]
                total += bread[row, column] * blocks[start + other]
            if with_bias:
                total += bread[row, last] * sideways[u]
                side += bread[last, row] * blocks[start + k]
            scratch.coefficient[k] = total
        if with_bias:
            side += bread[last, last] * sideways[u]
        own_scores(u, design, zero, True, scratch.coefficient, scratch.score)
        for k in range(design.seen[u + 1] - seen):
            scratch.pull[k] = 0.0
        trace, turned = 0.0, 0.0
        for c in range(design.cells[u], design.cells[u + 1]):
            a, b = design.left_at[c], design.right_at[c]
            i, j = design.seen_item[seen + a], design.seen_item[seen + b]
            position = design.position[c] if with_bias else 0
            margin = theta[i] - theta[j] + position * common_bias
            bend = scalar_curvature(rule.loss, rule.parameter, margin, target.choice[c])
            bend *= target.weight[c]
            slope = bend * (scratch.score[a] - scratch.score[b] + position * side)
            scratch.pull[a] += slope
            scratch.pull[b] -= slope
            turned += position * slope
            trace += bend * _spread(design, bread, i, j, position)
        share[u] = trace
        if trace < exact_from:
            add_to_block(u, design, scratch.pull, 1.0, blocks, start)
            sideways[u] += turned


@njit(cache=True, nogil=True, error_model="numpy")
def _spread(design: Design, bread: Floats, i: int, j: int, position: int) -> float:
    """`x^T P x` for the comparison of i with j."""
    last = len(bread) - 1
    total = position * bread[last, last]
    if design.features.shape[0] == 0:
        total += bread[i, i] + bread[j, j] - 2.0 * bread[i, j]
        return total + 2.0 * position * (bread[i, last] - bread[j, last])
    for d in range(design.features.shape[1]):
        x = design.features[i, d] - design.features[j, d]
        total += 2.0 * position * x * bread[d, last]
        for e in range(design.features.shape[1]):
            y = design.features[i, e] - design.features[j, e]
            total += x * bread[d, e] * y
    return total
