"""The best common part for given offsets: Newton's method on pooled comparisons."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from prefpath.inference.evidence import Evidence
from prefpath.inference.slots import quadratic_form
from prefpath.model.design import Floats
from prefpath.pairs.fit import LARGEST_MARGIN
from prefpath.pairs.newton import minimise
from prefpath.pairs.triangles import invert_factor

_MOST_ITERATIONS = 60
_RELATIVE_CUTOFF = 1e-10


@dataclass(frozen=True, eq=False)
class Consensus:
    """The common part that fits best beside the given offsets.

    Attributes
    ----------
    coefficient : array (n_coefficients,)
    inverse : array (n_coefficients, n_coefficients)
        Generalised inverse of the Hessian there (sum of the losses, not their mean).
    converged : bool
        False where the votes do not bound the coefficients.
    """

    coefficient: Floats
    inverse: Floats
    converged: bool


def fit_consensus(evidence: Evidence) -> Consensus:
    """Minimise the loss in the common part, from the full fit's value on."""
    weight, choice = evidence.slot_votes.everybody

    def hessian_at(coefficient: Floats) -> Floats:
        return common_hessian(evidence, coefficient, weight, choice)

    coefficient, converged, _ = minimise(
        lambda x: (common_gradient(evidence, x, weight, choice), x),
        lambda x, gradient: _solve(evidence, hessian_at(x), gradient),
        evidence.coefficient,
        most_steps=_MOST_ITERATIONS,
    )
    bounded = evidence.scores(coefficient)[evidence.bounded]
    spread = float(np.ptp(bounded)) if len(bounded) else 0.0
    bias = abs(evidence.common_bias(coefficient))
    converged &= bool(max(spread, bias) < LARGEST_MARGIN)
    return Consensus(coefficient, invert(evidence, hessian_at(coefficient)), converged)


def common_gradient(
    evidence: Evidence, coefficient: Floats, weight: Floats, choice: Floats
) -> Floats:
    """Gradient of the summed loss in the common part."""
    margin = slot_margins(evidence, coefficient)
    return slot_gradient(evidence, weight * evidence.problem.loss.gradient(margin, choice))


def slot_margins(evidence: Evidence, coefficient: Floats) -> Floats:
    """Margin of each slot."""
    left, right, position, offset = evidence.slots
    scores, bias = evidence.scores(coefficient), evidence.common_bias(coefficient)
    margins: Floats = scores[left] - scores[right] + position * bias + offset
    return margins


def slot_gradient(evidence: Evidence, slope: Floats) -> Floats:
    """`sum of slope x` over the slots, in the common part."""
    problem, slots = evidence.problem, evidence.slots
    n_items = problem.votes.n_items
    by_item: Floats = np.zeros(n_items)
    by_item += np.bincount(slots.left, slope, n_items)
    by_item -= np.bincount(slots.right, slope, n_items)
    gradient = problem.pull_back(by_item)
    if not problem.common_position:
        return gradient
    return np.append(gradient, float(slope @ slots.position))


def common_hessian(
    evidence: Evidence, coefficient: Floats, weight: Floats, choice: Floats
) -> Floats:
    """Hessian of the summed loss in the common part; dense."""
    margin = slot_margins(evidence, coefficient)
    curvature = weight * evidence.problem.loss.curvature(margin, choice)
    left, right, position, _ = evidence.slots
    by_item = quadratic_form(left, right, curvature, position, evidence.problem.votes.n_items)
    return in_coefficients(evidence, by_item)


def in_coefficients(evidence: Evidence, by_item: Floats) -> Floats:
    """A quadratic form in (scores, common bias) as one in the common part."""
    problem = evidence.problem
    phi = problem.features
    inner = by_item[:-1, :-1] if phi is None else phi.T @ by_item[:-1, :-1] @ phi
    if not problem.common_position:
        return np.ascontiguousarray(inner)
    cross = by_item[:-1, -1] if phi is None else phi.T @ by_item[:-1, -1]
    return np.block([[inner, cross[:, None]], [cross[None, :], by_item[-1:, -1:]]])


def invert(evidence: Evidence, hessian: Floats) -> Floats:
    """Generalised inverse: scores sum to zero over the bounded items of each component."""
    if evidence.problem.features is not None:
        result: Floats = linalg.pinvh(hessian, rtol=_RELATIVE_CUTOFF)
        return result
    free, level = evidence.free, evidence.level
    inverse = np.zeros_like(hessian)
    if not np.any(free):  # older SciPy refuses to factor an empty matrix
        return inverse
    inner, scale = _free_part(evidence, hessian)
    try:
        solved = invert_factor(linalg.cholesky(inner + scale * level, lower=True)) - level / scale
    except linalg.LinAlgError:  # flat to working precision: the fit is running away
        solved = linalg.pinvh(inner, rtol=_RELATIVE_CUTOFF)
    inverse[np.ix_(free, free)] = solved
    return inverse


def _solve(evidence: Evidence, hessian: Floats, right: Floats) -> Floats:
    """`invert(...) @ right`, without the inverse."""
    free = evidence.free
    if evidence.problem.features is None and np.any(free):
        inner, scale = _free_part(evidence, hessian)
        try:
            factor = linalg.cho_factor(inner + scale * evidence.level, lower=True)
        except linalg.LinAlgError:  # as above
            return invert(evidence, hessian) @ right
        solved = np.zeros(len(right))
        solved[free] = linalg.cho_solve(factor, right[free]) - evidence.level @ right[free] / scale
        return solved
    return invert(evidence, hessian) @ right


def _free_part(evidence: Evidence, hessian: Floats) -> tuple[Floats, float]:
    """The Hessian in coefficients the votes bound, and a scale of its entries."""
    free = evidence.free
    inner = hessian if free.all() else hessian[np.ix_(free, free)]
    return inner, max(float(np.diag(inner).mean()), 1e-300)
