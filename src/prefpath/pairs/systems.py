"""Ridged normal equations of a design with few columns or many."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, cg

from prefpath.errors import VoteWarning
from prefpath.votes.encode import FloatArray

Matrix = Any  # an ndarray or a scipy sparse array

_LEAST_RIDGE = 16.0 * float(np.finfo(np.float64).eps)  # of the largest entry
DENSE_COLUMNS = 2_000  # up to here a dense factorisation is faster than conjugate gradients


def gram(design: Matrix, weight: FloatArray) -> Matrix:
    """`design.T @ diag(weight) @ design`, dense where it is small."""
    if not isinstance(design, np.ndarray):
        product = (design.T @ sparse.diags_array(weight) @ design).tocsr()
        return product.toarray() if product.shape[0] <= DENSE_COLUMNS else product
    return design.T @ (weight[:, None] * design)


def solve_ridged(matrix: Matrix, right: FloatArray, ridge: float) -> FloatArray:
    """Solve `(matrix + ridge * I) x = right` for a positive semi-definite matrix and ridge > 0.

    A ridge too small to be seen beside the matrix is raised to the least that is.
    """
    n = matrix.shape[0]
    ridge = max(ridge, _LEAST_RIDGE * float(matrix.diagonal().max(initial=0.0)))
    if isinstance(matrix, np.ndarray):
        ridged = matrix + ridge * np.eye(n)
        # Less than a third of the time of `linalg.solve`, which estimates the condition, too.
        factor = linalg.cho_factor(ridged, lower=True, overwrite_a=True, check_finite=False)
        return np.asarray(linalg.cho_solve(factor, right, check_finite=False), dtype=float)
    ridged = matrix + ridge * sparse.eye_array(n, format="csr")
    jacobi = 1.0 / ridged.diagonal()
    scale = LinearOperator((n, n), matvec=lambda x: jacobi * np.ravel(x), dtype=np.float64)
    solution, info = cg(ridged, right, rtol=1e-10, maxiter=10 * n, M=scale)
    if info != 0:
        warnings.warn("a linear system was not solved to 1e-10", VoteWarning, stacklevel=2)
    return np.asarray(solution, dtype=float)
