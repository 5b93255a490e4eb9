"""How much of a change in the common part an annotator's own part would take up.

An annotator with a deviation of their own says little about the common score: had the common
score been a little higher, their deviation would have come out lower. Once entered, an own
part follows `beta' = -kappa * grad L`; linearised, a shift of the common part by d has moved
it after a time s by about `-(1 - exp(-kappa s A / m)) d`, where A is the annotator's Hessian. With
`G(x) = (1 - exp(-x)) / x`, what is left of the annotator's curvature for the common part is

    A_cc - A_co D G(D A_oo D) D A_oc,      D = diag(sqrt(kappa s / m)),

all of it on entering, nothing in the end (c: common, o: own coefficients that are active).
Holding the deviations fixed instead would count these annotators as full evidence that never
varies: intervals shrink to nothing along the path.
"""

from __future__ import annotations

import numpy as np

from prefpath.inference.evidence import Evidence
from prefpath.model.design import Codes, Floats, Ints

_TINY = 1e-12


def annotator_coefficients(evidence: Evidence, u: int) -> Ints:
    """Which common coefficients annotator u's votes touch; the common bias is the last."""
    problem = evidence.problem
    design = problem.design
    if problem.features is None:
        touched = design.seen_item[design.seen[u] : design.seen[u + 1]].astype(np.int64)
    else:
        touched = np.arange(problem.n_common, dtype=np.int64)
    return np.append(touched, problem.n_common) if problem.common_position else touched


def own_hessian(evidence: Evidence, u: int, coefficient: Floats) -> Floats:
    """Hessian of u's summed loss in their block and position, as if both were their own."""
    problem = evidence.problem
    design, target = problem.design, problem.target
    cells = slice(int(design.cells[u]), int(design.cells[u + 1]))
    seen = design.seen_item[design.seen[u] : design.seen[u + 1]]
    a, b = design.left_at[cells], design.right_at[cells]
    position = design.position[cells].astype(float)
    score: Floats = evidence.scores(coefficient)[seen]
    score = score + _own_scores(evidence, u, seen)
    bias = evidence.own_bias[u] + evidence.common_bias(coefficient)
    margin = score[a] - score[b] + position * bias
    bend = target.weight[cells] * problem.loss.curvature(margin, target.choice[cells])
    rows = np.zeros((len(a), len(seen)))
    place = np.arange(len(a))
    rows[place, a] = 1.0
    rows[place, b] -= 1.0
    if problem.features is not None:
        rows = rows @ problem.features[seen]
    rows = np.column_stack((rows, position))
    result: Floats = rows.T @ (bend[:, None] * rows)
    return result


def left_for_common(evidence: Evidence, u: int, coefficient: Floats) -> Floats:
    """Curvature of annotator u in the common coefficients they touch, own part re-estimated."""
    hessian = own_hessian(evidence, u, coefficient)
    shared = np.arange(len(annotator_coefficients(evidence, u)))
    rate = _rates(evidence, u, len(hessian))
    own = np.flatnonzero(rate > 0)
    full = hessian[np.ix_(shared, shared)]
    if not len(own):
        return full
    root = np.sqrt(rate[own])
    value, vector = np.linalg.eigh(root[:, None] * hessian[np.ix_(own, own)] * root)
    value = np.maximum(value, 0.0)
    taken = np.where(value > _TINY, -np.expm1(-value) / np.maximum(value, _TINY), 1.0)
    across = hessian[np.ix_(shared, own)] * root @ vector
    result: Floats = full - (across * taken) @ across.T
    return result


def _rates(evidence: Evidence, u: int, size: int) -> Floats:
    """`kappa s / m` for each of u's own coefficients that is active, else 0."""
    path, problem = evidence.path, evidence.problem
    rate = np.zeros(size)
    own = evidence.own[path.blocks[u] : path.blocks[u + 1]]
    if own.any():
        chosen = np.ones(len(own), dtype=bool) if problem.penalty.group else own != 0.0
        rate[:-1][chosen] = max(evidence.t - path.entered[u], 0.0)
    if evidence.own_bias[u] != 0.0:
        rate[-1] = max(evidence.t - path.entered_bias[u], 0.0)
    return rate * (problem.kappa / problem.total_weight)


def _own_scores(evidence: Evidence, u: int, seen: Codes) -> Floats:
    own = evidence.own[evidence.path.blocks[u] : evidence.path.blocks[u + 1]]
    phi = evidence.problem.features
    return own if phi is None else phi[seen] @ own
