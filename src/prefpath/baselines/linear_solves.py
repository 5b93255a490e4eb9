"""Weighted least squares and logistic regression on pair differences, few columns or many."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.special import expit

from prefpath.baselines.training import Design
from prefpath.errors import VoteWarning
from prefpath.pairs.newton import minimise
from prefpath.pairs.systems import gram, solve_ridged
from prefpath.votes.encode import FloatArray


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
    max_iterations: int = 100,
) -> FloatArray:
    """Minimise `log_loss` by Newton's method.

    The ridge keeps the coefficients finite where the likelihood has no maximum (an item that
    never lost) and picks the smallest ones where several are as good (collinear features).
    """
    ridges = np.full(design.shape[1], ridge)

    def evaluate(coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        probability = expit(design @ coef)
        curvature = (wins + losses) * probability * (1.0 - probability)
        return log_loss_gradient(coef, design, wins, losses, ridges), curvature

    coef, converged, _ = minimise(
        evaluate,
        lambda curvature, gradient: solve_ridged(gram(design, curvature), gradient, ridge),
        np.zeros(design.shape[1]),
        longest=np.inf,  # the size of a coefficient depends on its feature
        most_steps=max_iterations,
    )
    if not converged:
        warnings.warn(
            f"logistic regression did not converge in {max_iterations} Newton steps",
            VoteWarning,
            stacklevel=2,
        )
    return coef
