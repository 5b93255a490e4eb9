"""Weighted graph Laplacians of compared pairs, dense or sparse, and systems in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, cg, splu

from prefpath.votes.encode import CodeArray, FloatArray, IntArray

# Seconds of a dense factorisation per cubed item, of conjugate gradients per pair; measured.
_DENSE_SECONDS = 3e-11
_SPARSE_SECONDS = 2e-7
_DENSE_AT_MOST = 5_000
_DENSE_ALWAYS = 64
_MOST_ITERATIONS = 500


@dataclass(frozen=True, eq=False)
class PairGraph:
    """The pairs as edges of a graph; their weights come with each system to solve.

    Scores enter through differences only, so that in each connected component a constant is
    free: solutions sum to zero there, unless a ridge holds them.
    """

    n_items: int
    first: CodeArray
    second: CodeArray
    component: CodeArray
    ridge: float = 0.0

    @cached_property
    def is_dense(self) -> bool:
        """Whether a dense factorisation is cheaper than conjugate gradients."""
        n = self.n_items
        cheap = _DENSE_SECONDS * n**3 <= _SPARSE_SECONDS * len(self.first)
        return n <= _DENSE_ALWAYS or (n <= _DENSE_AT_MOST and cheap)

    def differences(self, scores: FloatArray) -> FloatArray:
        """`score_first - score_second` of each pair."""
        apart: FloatArray = scores[self.first] - scores[self.second]
        return apart

    def divergence(self, flow: FloatArray) -> FloatArray:
        """What flows out of each item, less what flows in: the adjoint of `differences`."""
        out: FloatArray = np.zeros(self.n_items)
        out += np.bincount(self.first, flow, self.n_items)
        out -= np.bincount(self.second, flow, self.n_items)
        return out

    def solve(self, weight: FloatArray, right: FloatArray, *, rtol: float = 1e-10) -> FloatArray:
        """Solve `(L + ridge I) x = right` for the Laplacian L of these weights."""
        if self.is_dense:
            return self._centred(linalg.cho_solve(self.factor(weight), right, check_finite=False))
        return self._solve_sparse(weight, right, rtol)

    def factor(self, weight: FloatArray) -> tuple[FloatArray, bool]:
        """Cholesky factor of the dense system, with what pins the constants added."""
        matrix = self.dense(weight)
        if self.ridge == 0.0:
            self._add_pins(matrix, self._pin(matrix))
        try:
            return linalg.cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:  # flat to working precision: scores are running away
            matrix = self.dense(weight)
            scale = self._pin(matrix)
            self._add_pins(matrix, scale)
            matrix[np.diag_indices(self.n_items)] += 1e-12 * scale
            return linalg.cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)

    def inverse(self, weight: FloatArray) -> FloatArray:
        """Generalised inverse, dense: scores sum to zero in each component."""
        solved = linalg.cho_solve(self.factor(weight), np.eye(self.n_items), check_finite=False)
        if self.ridge == 0.0:
            self._add_pins(solved, -1.0 / self._pin(self.dense(weight)))
        return np.asarray(solved)

    def dense(self, weight: FloatArray) -> FloatArray:
        """Upper triangle of the matrix; below the diagonal it is zero."""
        n = self.n_items
        matrix = np.zeros((n, n))
        matrix.ravel()[self._place] = -weight
        matrix.ravel()[:: n + 1] = self._degree(weight) + self.ridge
        return matrix

    def matrix(self, weight: FloatArray) -> sparse.csr_array:
        """The whole matrix, sparse."""
        upper = sparse.csr_array(
            (-weight, self.second, self._row_starts), shape=(self.n_items, self.n_items)
        )
        diagonal = sparse.diags_array(self._degree(weight) + self.ridge)
        return sparse.csr_array(upper + upper.T + diagonal)

    def _pin(self, matrix: FloatArray) -> float:
        return max(float(matrix.ravel()[:: self.n_items + 1].mean()), 1e-300)

    def _add_pins(self, matrix: FloatArray, scale: float) -> None:
        """Add `scale` times the projection on constants of each component, in place."""
        if len(self._members) == 1:
            matrix += scale / self.n_items
            return
        for members in self._members:
            matrix[np.ix_(members, members)] += scale / len(members)

    def _degree(self, weight: FloatArray) -> FloatArray:
        degree: FloatArray = np.zeros(self.n_items)
        degree += np.bincount(self.first, weight, self.n_items)
        degree += np.bincount(self.second, weight, self.n_items)
        return degree

    def _centred(self, solution: FloatArray) -> FloatArray:
        if self.ridge > 0.0:
            return np.asarray(solution)
        mean = np.bincount(self.component, solution) / np.bincount(self.component)
        centred: FloatArray = solution - mean[self.component]
        return centred

    def _solve_sparse(self, weight: FloatArray, right: FloatArray, rtol: float) -> FloatArray:
        """Conjugate gradients, and a factorisation where they do not arrive.

        They need few iterations on the well-knit graphs whose factors fill up, and many on
        the stringy ones (chains, grids) whose factors stay sparse.
        """
        matrix = self.matrix(weight)
        diagonal = matrix.diagonal()
        inverse = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)
        scaling = LinearOperator(matrix.shape, matvec=lambda x: inverse * x, dtype=np.float64)
        found, failed = cg(matrix, right, rtol=rtol, maxiter=_MOST_ITERATIONS, M=scaling)
        return self._centred(self._factorise(matrix, right) if failed else np.asarray(found))

    def _factorise(self, matrix: sparse.csr_array, right: FloatArray) -> FloatArray:
        """Solve with the first item of each component held at 0, and refine once."""
        free = np.ones(self.n_items, bool)
        if self.ridge == 0.0:
            free[np.unique(self.component, return_index=True)[1]] = False
        inner = sparse.csc_array(matrix[free][:, free])
        factor = splu(inner, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
        solution = np.zeros(self.n_items)
        solution[free] = factor.solve(right[free])
        solution[free] += factor.solve(right[free] - inner @ solution[free])
        return solution

    @cached_property
    def _place(self) -> IntArray:
        return self.first.astype(np.int64) * self.n_items + self.second

    @cached_property
    def _row_starts(self) -> IntArray:
        return np.searchsorted(self.first, np.arange(self.n_items + 1))

    @cached_property
    def _members(self) -> list[IntArray]:
        order = np.argsort(self.component, kind="stable")
        ends = np.cumsum(np.bincount(self.component))[:-1]
        return np.split(order, ends)
