"""Weighted graph Laplacians of compared pairs, and systems in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg, sparse
from scipy.linalg import blas
from scipy.sparse.linalg import LinearOperator, cg, splu

from prefpath.pairs.triangles import invert_factor
from prefpath.votes.encode import CodeArray, FloatArray, IntArray

# Up to here a dense factorisation takes less time than it takes to call anything else.
_FACTOR_UP_TO = 128
# Up to here a dense matrix may be kept: 200 MB.
DENSE_UP_TO = 5_000
_MOST_ITERATIONS = 500
_NEWTON_RTOL = 1e-6
_MANY_NEIGHBOURS = 8  # with more than this, a sparse factor of a large graph fills up


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

    @property
    def keeps_matrix(self) -> bool:
        """Whether the matrix is kept dense: it is mostly full, and not too large."""
        n = self.n_items
        return n <= DENSE_UP_TO and len(self.first) >= n * n // 8

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

    def solve(
        self, weight: FloatArray, right: FloatArray, *, rtol: float = _NEWTON_RTOL
    ) -> FloatArray:
        """Solve `(L + ridge I) x = right` for the Laplacian L of these weights.

        Conjugate gradients need few iterations on well-knit graphs, whose factors fill up, and
        many on stringy ones (chains, grids), whose factors stay sparse: where they do not
        arrive, the matrix is factorised.
        """
        if self.n_items == 0:
            return right
        if self.n_items <= _FACTOR_UP_TO:
            return self._centred(self._solve_by_factor(weight, right))
        # What rounding left of a constant has no solution: of a right side that is nearly zero it
        # is a large part, and no number of iterations would arrive.
        right = self._centred(right)
        found, failed = self._conjugate_gradients(weight, right, rtol, _MOST_ITERATIONS)
        if failed and len(self.first) <= _MANY_NEIGHBOURS * self.n_items:
            found = self._factorise(self.matrix(weight), right)
        elif failed and self.n_items <= DENSE_UP_TO:
            found = self._solve_by_factor(weight, right)
        elif failed:
            found, _ = self._conjugate_gradients(weight, right, rtol, 20 * _MOST_ITERATIONS)
        return self._centred(found)

    def factor(self, weight: FloatArray) -> tuple[FloatArray, bool]:
        """Cholesky factor of the dense system, with what pins the constants added."""
        matrix = self.dense(weight)
        scale = self._pin(matrix.diagonal())
        if self.ridge == 0.0:
            self._add_pins(matrix, scale)
        try:
            return linalg.cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:  # flat to working precision: scores are running away
            matrix = self.dense(weight)
            self._add_pins(matrix, scale)
            matrix[np.diag_indices(self.n_items)] += 1e-12 * scale
            return linalg.cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)

    def inverse(self, weight: FloatArray) -> FloatArray:
        """Generalised inverse, dense: scores sum to zero in each component."""
        if self.n_items == 0:
            return np.zeros((0, 0))
        solved = invert_factor(self.factor(weight)[0])
        if self.ridge == 0.0:
            self._add_pins(solved, -1.0 / self._pin(self._degree(weight)))
        return solved

    def dense(self, weight: FloatArray) -> FloatArray:
        """Upper triangle of the matrix; below the diagonal it is zero."""
        n = self.n_items
        matrix = np.zeros((n, n))
        matrix.ravel()[self._place] = -weight
        matrix.ravel()[:: n + 1] = self._degree(weight) + self.ridge
        return matrix

    def matrix(self, weight: FloatArray) -> sparse.csr_array:
        """The whole matrix, sparse."""
        upper = self._upper(weight)
        diagonal = sparse.diags_array(self._degree(weight) + self.ridge)
        return sparse.csr_array(upper + upper.T + diagonal)

    def _pin(self, diagonal: FloatArray) -> float:
        return max(float(diagonal.mean()), 1e-300)

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

    def _solve_by_factor(self, weight: FloatArray, right: FloatArray) -> FloatArray:
        return np.asarray(linalg.cho_solve(self.factor(weight), right, check_finite=False))

    def _conjugate_gradients(
        self, weight: FloatArray, right: FloatArray, rtol: float, most_iterations: int
    ) -> tuple[FloatArray, bool]:
        """An approximate solution, and whether it is not one."""
        n = self.n_items
        diagonal = self._degree(weight) + self.ridge
        inverse = np.divide(1.0, diagonal, out=np.zeros(n), where=diagonal > 0)
        scaling = LinearOperator((n, n), matvec=lambda x: inverse * x, dtype=np.float64)
        product = self._dense_product(weight) if self.keeps_matrix else self._product(weight)
        matrix = LinearOperator((n, n), matvec=product, dtype=np.float64)
        found, failed = cg(matrix, right, rtol=rtol, maxiter=most_iterations, M=scaling)
        return np.asarray(found), bool(failed)

    def _dense_product(self, weight: FloatArray) -> Callable[[FloatArray], FloatArray]:
        # The transpose of the upper triangle in rows is the lower one in columns: no copy.
        lower = self.dense(weight).T
        return lambda x: np.asarray(blas.dsymv(1.0, lower, x, lower=1))

    def _product(self, weight: FloatArray) -> Callable[[FloatArray], FloatArray]:
        upper, diagonal = self._upper(weight), self._degree(weight) + self.ridge
        lower = upper.T
        return lambda x: diagonal * x + upper @ x + lower @ x

    def _upper(self, weight: FloatArray) -> sparse.csr_array:
        shape = (self.n_items, self.n_items)
        return sparse.csr_array((-weight, self.second, self._row_starts), shape=shape)

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
