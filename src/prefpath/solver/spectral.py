"""The largest singular value of the design, by Lanczos on the kernels; no matrix is formed."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh_tridiagonal

from prefpath.model.design import Floats
from prefpath.model.problem import Problem
from prefpath.model.scalar_losses import GRAM
from prefpath.solver.arguments import CommonPart, Inputs, Personal, make_scratch, terms_of
from prefpath.solver.executors import Serial, Threads, split_annotators
from prefpath.solver.kernels import attention_curvatures, gradient_shard


def design_norm_squared(
    problem: Problem, executor: Serial | Threads, *, with_common: bool = True
) -> float:
    """`||[d Phi, X]||_2^2`, weighted; of X alone without `with_common`."""
    operator = _Gram(problem, executor, with_common=with_common)
    return largest_eigenvalue(operator.apply, operator.size)


def largest_eigenvalue(
    apply: Callable[[Floats], Floats], size: int, *, tolerance: float = 1e-9, most: int = 500
) -> float:
    """Largest eigenvalue of a symmetric positive semi-definite operator.

    Lanczos by its three-term recurrence: two vectors of memory. Orthogonality is lost in the
    end, which only makes copies of eigenvalues already found; the largest stays right.
    """
    vector = np.random.default_rng(0).standard_normal(size)
    vector /= np.linalg.norm(vector)
    previous = np.zeros(size)
    diagonal: list[float] = []
    beside: list[float] = []
    for _ in range(min(most, size)):
        image = apply(vector)
        diagonal.append(float(vector @ image))
        image -= diagonal[-1] * vector
        if beside:
            image -= beside[-1] * previous
        remainder = float(np.linalg.norm(image))
        top = len(diagonal) - 1
        value, ritz = eigh_tridiagonal(
            np.array(diagonal), np.array(beside), select="i", select_range=(top, top)
        )
        # |remainder * last entry| bounds the distance to an eigenvalue; the error is its square.
        if remainder * abs(ritz[-1, 0]) <= np.sqrt(tolerance) * value[0] * 1e-2:
            return float(value[0])
        beside.append(remainder)
        previous, vector = vector, image / remainder
    return float(value[0])


def stability_norm_squared(problem: Problem, base: float, theta: Floats, attention: float) -> float:
    """An upper bound of the squared norm of a design whose annotators have attention.

    The columns of the common scores are multiplied by an attention (at most `attention`), each
    annotator has a column of score differences, and the columns of two do not touch: their
    squared norm is the largest of one of them. `base` is the norm without attention.
    """
    terms = terms_of(problem)._replace(loss=GRAM, total=1.0)
    inputs = Inputs(problem.design, problem.target, terms)
    everybody = np.arange(problem.votes.n_annotators, dtype=np.int64)
    columns = attention_curvatures(everybody, inputs, CommonPart(theta, 0.0))
    return max(1.0, attention**2) * base + float(columns.max())


class _Gram:
    """`v -> A^T W A v` for `A = [d Phi, position, X]`."""

    def __init__(self, problem: Problem, executor: Serial | Threads, *, with_common: bool) -> None:
        self.problem, self.executor, self.with_common = problem, executor, with_common
        terms = terms_of(problem)._replace(loss=GRAM, total=1.0)
        self.inputs = Inputs(problem.design, problem.target, terms)
        self.shards = split_annotators(problem.design.cells)
        self.scratch = [make_scratch(problem) for _ in self.shards]
        self.n_common = problem.n_common if with_common else 0
        self.n_block = int(problem.design.blocks[-1])
        self.common_bias = problem.common_position and with_common
        self.size = (
            self.n_common + int(self.common_bias) + self.n_block + problem.votes.n_annotators
        )

    def apply(self, vector: Floats) -> Floats:
        problem = self.problem
        common, bias0, block, bias = self._split(vector)
        theta = problem.scores(common) if self.with_common else np.zeros(problem.votes.n_items)
        result = np.zeros(self.size)
        out_common, out_bias0, out_block, out_bias = self._split(result)
        masked = bias if problem.position_bias else np.zeros_like(bias)
        shared = CommonPart(theta, float(bias0.sum()))
        value, out = Personal(block, masked[:, None]), Personal(out_block, out_bias[:, None])

        def shard_image(k: int) -> float:
            scratch = self.scratch[k]
            return float(gradient_shard(self.shards[k], self.inputs, shared, value, out, scratch))

        position_gradient = self.executor.map(shard_image, range(len(self.shards)))
        if self.with_common:
            item_gradient = np.sum([scratch.item_gradient for scratch in self.scratch], axis=0)
            out_common[:] = problem.pull_back(item_gradient)
        out_bias0[:] = sum(position_gradient)
        if not problem.position_bias:
            out_bias[:] = 0.0
        return result

    def _split(self, vector: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        a = self.n_common
        b = a + int(self.common_bias)
        c = b + self.n_block
        return vector[:a], vector[a:b], vector[b:c], vector[c:]


def weighted_norm(y: Floats, n_common: int, kappa: float) -> float:
    """Norm of `(eta / sqrt(kappa), sqrt(kappa) z)`; a busy BLAS would take far longer."""
    squares = y * y
    common, personal = squares[:n_common].sum(), squares[n_common:].sum()
    return math.sqrt(common / kappa + personal * kappa)


def rounded_up(radius: float) -> float:
    """To a power of the eighth root of 2: rounding errors must not decide about stages."""
    return float(2.0 ** (math.ceil(8.0 * math.log2(radius)) / 8.0))
