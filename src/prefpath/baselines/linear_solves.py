"""Weighted least squares and logistic regression on pair differences, few columns or many."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import expit

from prefpath.baselines.training import Design
from prefpath.errors import VoteWarning
from prefpath.votes.encode import FloatArray

_DENSE_COLUMNS = 2_000  # up to here a dense factorisation is faster than conjugate gradients


def gram(design: Design, weight: FloatArray) -> Design:
    """`design.T @ diag(weight) @ design`, dense where it is small."""
    if not isinstance(design, np.ndarray):
        product = (design.T @ design.multiply(weight[:, None])).tocsr()
        return product.toarray() if product.shape[0] <= _DENSE_COLUMNS else product
    return design.T @ (weight[:, None] * design)


def solve_ridged(matrix: Design, right_hand_side: FloatArray, ridge: float) -> FloatArray:
    """Solve `(matrix + ridge * I) x = rhs` for a positive semi-definite matrix and ridge > 0."""
    n = matrix.shape[0]
    if isinstance(matrix, np.ndarray):
        return np.asarray(
            linalg.solve(matrix + ridge * np.eye(n), right_hand_side, assume_a="pos"), dtype=float
        )
    ridged = matrix + ridge * sparse.eye_array(n, format="csr")
    jacobi = 1.0 / ridged.diagonal()
    scale = LinearOperator((n, n), matvec=lambda x: jacobi * np.ravel(x), dtype=np.float64)
    solution, info = cg(ridged, right_hand_side, rtol=1e-10, maxiter=10 * n, M=scale)
    if info != 0:
        warnings.warn("a linear system was not solved to 1e-10", VoteWarning, stacklevel=2)
    return np.asarray(solution, dtype=float)


def least_squares(
    design: Design, target: FloatArray, weight: FloatArray, ridge: float
) -> FloatArray:
    """Minimise `sum(weight * (design @ x - target)**2) + ridge * ||x||**2`."""
    return solve_ridged(gram(design, weight), design.T @ (weight * target), ridge)


def log_loss(
    coef: FloatArray, design: Design, wins: FloatArray, losses: FloatArray, ridge: FloatArray
) -> float:
    """`sum(wins * log(1 + e^-m) + losses * log(1 + e^m)) + ridge @ coef**2 / 2`, m the margins."""
    margin = design @ coef
    fit = wins @ np.logaddexp(0.0, -margin) + losses @ np.logaddexp(0.0, margin)
    return float(fit + ridge @ coef**2 / 2)


def log_loss_gradient(
    coef: FloatArray, design: Design, wins: FloatArray, losses: FloatArray, ridge: FloatArray
) -> FloatArray:
    """Gradient of `log_loss` in the coefficients."""
    probability = expit(design @ coef)
    gradient: FloatArray = design.T @ ((wins + losses) * probability - wins) + ridge * coef
    return gradient


def logistic_regression(
    design: Design,
    wins: FloatArray,
    losses: FloatArray,
    *,
    ridge: float,
    start: FloatArray | None = None,
    max_iterations: int = 100,
    tolerance: float = 1e-9,
) -> FloatArray:
    """Minimise `log_loss` by Newton's method with step halving.

    The ridge keeps the coefficients finite where the likelihood has no maximum (an item that
    never lost) and picks the smallest ones where several are as good (collinear features).
    """
    coef = np.zeros(design.shape[1]) if start is None else start
    ridges = np.full(design.shape[1], ridge)
    loss = log_loss(coef, design, wins, losses, ridges)
    for _ in range(max_iterations):
        gradient = log_loss_gradient(coef, design, wins, losses, ridges)
        probability = expit(design @ coef)
        curvature = (wins + losses) * probability * (1.0 - probability)
        step = solve_ridged(gram(design, curvature), gradient, ridge)
        decrement = float(gradient @ step)
        if decrement <= tolerance**2 * max(1.0, float(wins.sum() + losses.sum())):
            return coef
        scale = 1.0
        while True:
            candidate = coef - scale * step
            next_loss = log_loss(candidate, design, wins, losses, ridges)
            if next_loss <= loss - 1e-4 * scale * decrement or scale < 1e-8:
                break
            scale /= 2.0
        if next_loss >= loss:  # rounding: no step improves the loss any more
            return coef
        coef, loss = candidate, next_loss
    warnings.warn(
        f"logistic regression did not converge in {max_iterations} Newton steps",
        VoteWarning,
        stacklevel=2,
    )
    return coef
