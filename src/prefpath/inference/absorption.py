"""What an annotator with a part of their own still says about the common score.

Had the common score been a little higher, a deviation would have come out lower: an active
annotator is weak evidence, not the full one that never varies which holding the deviation
fixed would make of them (intervals then shrink to nothing along the path).

The dual variable `z_u(t)` is the integral of minus annotator u's gradient over the path, so
`-m z_u / t` is their gradient averaged over it, and `z = subgradient + beta / kappa`: over
time, each point of the path balances the loss against the penalty at the rate 1 / t. By that
balance an active annotator pulls on the common part with

    -(m / t) (threshold * beta / ||beta|| + beta / kappa)               (group penalty)

however far away they are, as in a spatial median, and of their curvature A there is left

    A_cc - A_co (A_oo + R)^-1 A_oc,
    R = (m / t) (threshold * (1 - beta beta^T / ||beta||^2) / ||beta|| + 1 / kappa),

c being the common and o their own active coefficients. With the l1 penalty the subgradient is
the sign of each active coefficient, which has no curvature.
"""

from __future__ import annotations

import numpy as np

from prefpath.inference.evidence import Evidence
from prefpath.model.design import Codes, Floats, Ints, Places


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
    items, across = _laplacian(a, b, bend, position, len(seen))
    if problem.features is not None:
        phi = problem.features[seen]
        items, across = phi.T @ items @ phi, phi.T @ across
    corner = np.array([[float(np.sum(bend * position**2))]])
    return np.block([[items, across[:, None]], [across[None, :], corner]])


def _laplacian(
    a: Places, b: Places, bend: Floats, position: Floats, n: int
) -> tuple[Floats, Floats]:
    """Weighted Laplacian of comparisons a against b, and its coupling with the position.

    By counting: a row for each comparison would take gigabytes for a busy annotator.
    """
    pair = a.astype(np.int64) * n + b
    weight = np.bincount(pair, weights=bend, minlength=n * n).reshape(n, n)
    weight += weight.T
    sided = bend * position
    across: Floats = np.zeros(n)
    across += np.bincount(a, weights=sided, minlength=n)
    across -= np.bincount(b, weights=sided, minlength=n)
    return np.diag(weight.sum(axis=1)) - weight, across


def left_for_common(evidence: Evidence, u: int, coefficient: Floats) -> Floats:
    """Curvature of annotator u in the common coefficients they touch, own part re-estimated."""
    hessian = own_hessian(evidence, u, coefficient)
    shared = np.arange(len(annotator_coefficients(evidence, u)))
    own = np.flatnonzero(_is_own(evidence, u))
    full = hessian[np.ix_(shared, shared)]
    inner = hessian[np.ix_(own, own)] + _penalty_curvature(evidence, u)[np.ix_(own, own)]
    across = hessian[np.ix_(own, shared)]
    result: Floats = full - across.T @ np.linalg.solve(inner, across)
    return result


def balanced_pull(evidence: Evidence, u: int, gradient: Floats, sideways: float) -> Floats:
    """u's gradient in their block and position with what the penalty balances put in.

    Coefficients that are not active keep the gradient itself.
    """
    path, problem = evidence.path, evidence.problem
    own, bias = _own_block(evidence, u), evidence.own_bias[u]
    threshold, side = problem.deviation_threshold[u], problem.position_threshold[u]
    direction = own / max(float(np.linalg.norm(own)), 1e-300)
    if not problem.penalty.group:
        direction = np.sign(own)
    dual = np.append(
        threshold * direction + own / path.kappa,
        side * np.sign(bias) + bias / path.kappa if bias else 0.0,
    )
    return np.where(
        _is_own(evidence, u), -evidence.penalty_rate * dual, np.append(gradient, sideways)
    )


def _penalty_curvature(evidence: Evidence, u: int) -> Floats:
    own = _own_block(evidence, u)
    size = float(np.linalg.norm(own))
    curvature = np.eye(len(own) + 1) / evidence.path.kappa
    if evidence.problem.penalty.group and size > 0:
        direction = own / size
        tangent = np.eye(len(own)) - np.outer(direction, direction)
        curvature[:-1, :-1] += evidence.problem.deviation_threshold[u] / size * tangent
    return evidence.penalty_rate * curvature


def _is_own(evidence: Evidence, u: int) -> Codes:
    """Which of u's block and position is active (1) and which is not (0)."""
    own = _own_block(evidence, u)
    active = np.full(len(own), own.any()) if evidence.problem.penalty.group else own != 0.0
    return np.append(active, evidence.own_bias[u] != 0.0).astype(np.int32)


def _own_block(evidence: Evidence, u: int) -> Floats:
    return evidence.own[evidence.path.blocks[u] : evidence.path.blocks[u + 1]]


def _own_scores(evidence: Evidence, u: int, seen: Codes) -> Floats:
    own, phi = _own_block(evidence, u), evidence.problem.features
    return own if phi is None else phi[seen] @ own
