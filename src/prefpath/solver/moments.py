"""The linear loss with features: what an annotator's votes say is one small matrix.

With squared errors the gradient is linear in the coefficients, `A c - b`, and with d features
A is (d + 1) x (d + 1) (the last row is the position bias): a stage costs that much an annotator,
however many votes they cast. The same sums over everybody who waits are the pool.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prefpath.compiling import inner_kernel, kernel
from prefpath.model.design import Design, Floats, Ints, Target
from prefpath.model.penalties import scaled_prox, soft_threshold
from prefpath.model.problem import Problem
from prefpath.model.scalar_losses import LINEAR
from prefpath.solver.active import Active
from prefpath.solver.arguments import ATTENTION, DEVIATION, POSITION, Terms, terms_of


class Moments(NamedTuple):
    """`A` and `b` of each annotator."""

    matrix: Floats
    vector: Floats


def moments_pay(problem: Problem) -> bool:
    """Whether the matrices are there to have, and smaller than the votes they replace."""
    if problem.loss.code != LINEAR or problem.features is None:
        return False
    design, d = problem.design, problem.n_common
    by_votes = 4 * int(design.cells[-1]) + 2 * d * int(design.seen[-1])
    return problem.votes.n_annotators * (d + 1) ** 2 < by_votes


def moments_of(problem: Problem) -> Moments:
    """The moments of all annotators."""
    shape = (problem.votes.n_annotators, problem.n_common + 1)
    moments = Moments(np.zeros((*shape, shape[1])), np.zeros(shape))
    _add_votes(problem.design, problem.target, moments)
    return moments


class Pooled:
    """The moments of those who wait: everybody's, less those of the active."""

    def __init__(self, problem: Problem) -> None:
        self.each = moments_of(problem)
        self._stands_for = terms_of(problem).stands_for
        self._everybody = self._summed(np.arange(problem.votes.n_annotators))
        self._n_active = -1
        self._pool = self._everybody

    def without(self, active: Active) -> Moments:
        """The moments of all but the active annotators, who only ever become more."""
        if len(active.who) != self._n_active:
            self._n_active = len(active.who)
            own = self._summed(active.who)
            self._pool = Moments(
                self._everybody.matrix - own.matrix, self._everybody.vector - own.vector
            )
        return self._pool

    def _summed(self, who: Ints) -> Moments:
        """The moments of these together, each as many as they stand for."""
        number, each = self._stands_for[who], self.each
        return Moments(
            np.sum(number[:, None, None] * each.matrix[who], axis=0),
            np.sum(number[:, None] * each.vector[who], axis=0),
        )


@kernel()
def _add_votes(design: Design, target: Target, moments: Moments) -> None:
    d = design.features.shape[1]
    row = np.zeros(d + 1)
    for u in range(len(design.cells) - 1):
        start = design.seen[u]
        for c in range(design.cells[u], design.cells[u + 1]):
            left = design.features[design.seen_item[start + design.left_at[c]]]
            right = design.features[design.seen_item[start + design.right_at[c]]]
            for k in range(d):
                row[k] = left[k] - right[k]
            row[d] = design.position[c]
            for k in range(d + 1):
                weighted = target.weight[c] * row[k]
                moments.vector[u, k] += weighted * target.choice[c]
                for j in range(d + 1):
                    moments.matrix[u, k, j] += weighted * row[j]


@kernel()
def evaluate_moments(
    y: Floats, f: Floats, active: Active, each: Moments, pool: Moments, terms: Terms
) -> None:
    """y' at y."""
    d = each.vector.shape[1] - 1
    common, summed, own = np.zeros(d + 1), np.zeros(d + 1), np.zeros(d + 1)
    common[:d] = y[:d]
    common[d] = y[d] if terms.common_position else 0.0
    _gradient(pool.matrix, pool.vector, common, summed)
    personal, gradient = np.zeros(d), np.zeros(d + 1)
    for index in range(len(active.who)):
        u = active.who[index]
        at = active.at[index]
        threshold = terms.threshold[u, DEVIATION]
        scaled_prox(terms.penalty, y, at, at + d, threshold, terms.kappa, personal)
        attention = _attention(u, y, active.at[index + 1] - 1, terms)
        for k in range(d):
            own[k] = attention * common[k] + personal[k]
        bias = soft_threshold(y[at + d], terms.threshold[u, POSITION])
        own[d] = common[d] + terms.kappa * bias
        _gradient(each.matrix[u], each.vector[u], own, gradient)
        for k in range(d + 1):
            f[at + k] = -gradient[k] / terms.total
            seen_by = terms.stands_for[u] * (1.0 if k == d else attention)
            summed[k] += seen_by * gradient[k]
        if terms.threshold.shape[1] > ATTENTION:
            product = 0.0
            for k in range(d):
                product += gradient[k] * common[k]
            f[at + d + 1] = -terms.attention_unit * product / terms.total
    for k in range(d):
        f[k] = -terms.kappa / terms.total * summed[k]
    if terms.common_position:
        f[d] = -terms.kappa / terms.total * summed[d]


@inner_kernel(allocates=False)
def _attention(u: int, y: Floats, at: int, terms: Terms) -> float:
    """`1 + sigma` of an active annotator whose z is at place `at`; 1 without attention."""
    if terms.threshold.shape[1] <= ATTENTION:
        return 1.0
    b = terms.kappa * soft_threshold(y[at], terms.threshold[u, ATTENTION])
    return 1.0 + terms.attention_unit * b


# Sums in any order: several products at once.
@inner_kernel(allocates=False, fastmath={"reassoc", "contract"})
def _gradient(matrix: Floats, vector: Floats, coefficient: Floats, out: Floats) -> None:
    for k in range(len(vector)):
        total = 0.0
        for j in range(len(coefficient)):
            total += matrix[k, j] * coefficient[j]
        out[k] = total - vector[k]
