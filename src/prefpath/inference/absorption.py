"""What an annotator with a part of their own still says about the common score.

Had the common score been a little higher, a deviation would have come out lower: an active
annotator is weak evidence, not the full one that never varies which holding the deviation
fixed would make of them (intervals then shrink to nothing along the path). Nor is a deviation
a free parameter, which would leave no common score at all where everybody deviates: it is
what one draw from the population of annotators differs by, and it is paid for.

The dual variable `z_u(t)` is the integral of minus annotator u's gradient over the path, so
`-m z_u / t` is their gradient averaged over it, and `z = subgradient + beta / kappa`: over
time, each point of the path balances the loss against the penalty at the rate 1 / t. By that
balance an active annotator pulls on the common part with

    -(m / t) (threshold * beta / ||beta|| + beta / kappa)               (group penalty)

however far away they are, as in a spatial median: whoever deviates more counts no more, and
if all of them do, the common score is the middle of their tastes. Of their curvature A there
is left, c being the common and o their own active coefficients,

    A_cc - A_co (A_oo + R)^-1 A_oc,
    R = (m / t) (threshold * (1 - beta beta^T / ||beta||^2) / size + 1 / kappa).

`size` is the length at which beta would balance the penalty at time t. The path's own beta is
longer, because the path takes the shrinkage of an active coefficient back; taking its length
instead would count that shrinkage twice and make errors up to 1.6 times too large where
everybody deviates. One Newton step along beta is enough, g being u's gradient at beta:

    size = ||beta|| - ((m / t) threshold + g^T beta / ||beta||) / (beta^T A beta / ||beta||^2).

For tastes well known (A large) what is left is then `(m / t) threshold / ||beta||` across
beta, the curvature of the spatial median; for one who has only just entered it is A, as it was
before: nothing jumps. With the l1 penalty the subgradient is the sign of each active
coefficient, which has no curvature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg

from prefpath.inference.evidence import Evidence, deviating_annotators
from prefpath.inference.slots import quadratic_form
from prefpath.model.design import Codes, Floats, Ints, Places

# A penalty so much stiffer than the votes leaves all that they say, to a part in a thousand.
_STIFFEST = 1e3


def annotator_coefficients(evidence: Evidence, u: int) -> Ints:
    """Which common coefficients annotator u's votes touch; the common bias is the last."""
    problem = evidence.problem
    design = problem.design
    if problem.features is None:
        touched = design.seen_item[design.seen[u] : design.seen[u + 1]].astype(np.int64)
    else:
        touched = np.arange(problem.n_common, dtype=np.int64)
    return np.append(touched, problem.n_common) if problem.common_position else touched


class _Comparisons(NamedTuple):
    """One annotator's comparisons of the items they saw, and how each bends their loss."""

    seen: Codes
    a: Places
    b: Places
    position: Floats
    curvature: Floats


def _comparisons(evidence: Evidence, u: int, coefficient: Floats) -> _Comparisons:
    problem = evidence.problem
    design, target = problem.design, problem.target
    cells = slice(int(design.cells[u]), int(design.cells[u + 1]))
    seen = design.seen_item[design.seen[u] : design.seen[u + 1]]
    a, b = design.left_at[cells], design.right_at[cells]
    position = design.position[cells].astype(float)
    score: Floats = evidence.scores(coefficient)[seen]
    score = score + _in_scores(evidence, seen, _own_block(evidence, u))
    bias = evidence.own_bias[u] + evidence.common_bias(coefficient)
    margin = score[a] - score[b] + position * bias
    curvature = target.weight[cells] * problem.loss.curvature(margin, target.choice[cells])
    return _Comparisons(seen, a, b, position, curvature)


def own_hessian(evidence: Evidence, u: int, coefficient: Floats) -> Floats:
    """Hessian of u's summed loss in their block and position, as if both were their own."""
    seen, a, b, position, curvature = _comparisons(evidence, u, coefficient)
    form = quadratic_form(a, b, curvature, position, len(seen))
    if evidence.problem.features is None:
        return form
    phi = evidence.problem.features[seen]
    items, across = phi.T @ form[:-1, :-1] @ phi, phi.T @ form[:-1, -1]
    return np.block([[items, across[:, None]], [across[None, :], form[-1:, -1:]]])


def balanced_sizes(evidence: Evidence, coefficient: Floats, gradient: Floats) -> Floats:
    """Length at which each deviation would balance the penalty; 0 where there is none.

    `gradient` is that of every annotator's summed loss in their block.
    """
    sizes = np.zeros(evidence.problem.votes.n_annotators)
    ends = evidence.path.blocks
    for u in deviating_annotators(evidence):
        own = _own_block(evidence, int(u))
        length = float(np.linalg.norm(own))
        direction = own / length
        seen, a, b, _, curvature = _comparisons(evidence, int(u), coefficient)
        along = _in_scores(evidence, seen, direction)
        stiffness = max(float(curvature @ (along[a] - along[b]) ** 2), 1e-300)
        price = evidence.penalty_rate * evidence.problem.deviation_threshold[u]
        slope = float(gradient[ends[u] : ends[u + 1]] @ direction)
        shortest = price / (_STIFFEST * stiffness)
        sizes[u] = max(length - (price + slope) / stiffness, shortest)
    return sizes


@dataclass(frozen=True, eq=False)
class Absorbed:
    """Curvature of an active annotator in the common coefficients, own part re-estimated.

    Attributes
    ----------
    full : array (n_touched, n_touched)
        In the common coefficients they touch, own part fixed.
    across : array (n_own, n_touched)
        Between those and their own active coefficients.
    factor : array (n_own, n_own)
        Lower Cholesky factor in their own coefficients, penalty included.
    """

    full: Floats
    across: Floats
    factor: Floats

    def matrix(self) -> Floats:
        half = linalg.solve_triangular(self.factor, self.across, lower=True, check_finite=False)
        left: Floats = self.full - half.T @ half
        return left

    def times(self, move: Floats) -> Floats:
        """The matrix times a vector, without the matrix: a tenth of its cost."""
        own = linalg.cho_solve((self.factor, True), self.across @ move, check_finite=False)
        return self.full @ move - self.across.T @ own


def absorb(evidence: Evidence, u: int, coefficient: Floats, size: float) -> Absorbed:
    """What is left of annotator u's curvature for the common part.

    `size` is the length of their deviation where it balances the penalty.
    """
    hessian = own_hessian(evidence, u, coefficient)
    shared = len(annotator_coefficients(evidence, u))
    own = own_coefficients(evidence, u)
    inner = (hessian + _penalty_curvature(evidence, u, size))[np.ix_(own, own)]
    factor = linalg.cholesky(inner, lower=True, overwrite_a=True, check_finite=False)
    return Absorbed(hessian[:shared, :shared], hessian[own, :shared], factor)


def balanced_pull(evidence: Evidence, u: int, gradient: Floats, position_gradient: float) -> Floats:
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
        _is_own(evidence, u), -evidence.penalty_rate * dual, np.append(gradient, position_gradient)
    )


def _penalty_curvature(evidence: Evidence, u: int, size: float) -> Floats:
    own = _own_block(evidence, u)
    length = float(np.linalg.norm(own))
    curvature = np.eye(len(own) + 1) / evidence.path.kappa
    if evidence.problem.penalty.group and length > 0:
        direction = own / length
        tangent = np.eye(len(own)) - np.outer(direction, direction)
        curvature[:-1, :-1] += evidence.problem.deviation_threshold[u] / size * tangent
    return evidence.penalty_rate * curvature


def own_coefficients(evidence: Evidence, u: int) -> Ints:
    """Which of u's block and position are active."""
    return np.flatnonzero(_is_own(evidence, u)).astype(np.int64)


def _is_own(evidence: Evidence, u: int) -> Codes:
    """Which of u's block and position is active (1) and which is not (0)."""
    own = _own_block(evidence, u)
    active = np.full(len(own), own.any()) if evidence.problem.penalty.group else own != 0.0
    return np.append(active, evidence.own_bias[u] != 0.0).astype(np.int32)


def _own_block(evidence: Evidence, u: int) -> Floats:
    return evidence.own[evidence.path.blocks[u] : evidence.path.blocks[u + 1]]


def _in_scores(evidence: Evidence, seen: Codes, block: Floats) -> Floats:
    """A block of own coefficients as scores of the items seen."""
    phi = evidence.problem.features
    return block if phi is None else phi[seen] @ block
