"""Algorithm 1 in dense NumPy, with no thought of speed: what our LBI must reproduce."""

from __future__ import annotations

from typing import Any

import numpy as np

from prefpath import Votes
from prefpath.model.losses import as_loss


def dense_design(
    votes: Votes, features: np.ndarray | None, position_bias: bool, common_position: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Columns of the common part, and of everybody's deviation and bias, one row a vote."""
    phi = np.eye(votes.n_items) if features is None else features
    difference = phi[votes.left] - phi[votes.right]
    side = votes.position_known.astype(float)[:, None]
    is_of = (votes.annotator[:, None] == np.arange(votes.n_annotators)).astype(float)
    common = np.hstack((difference, side)) if common_position else difference
    deviation = (is_of[:, :, None] * difference[:, None, :]).reshape(votes.n_rows, -1)
    return common, np.hstack((deviation, is_of * side * float(position_bias)))


def attention_design(votes: Votes, theta: np.ndarray, scale: float) -> np.ndarray:
    """Columns of everybody's attention at given scores, one row a vote."""
    apart = theta[votes.left] - theta[votes.right]
    return (votes.annotator[:, None] == np.arange(votes.n_annotators)) * apart[:, None] / scale


def shrink(z: np.ndarray, group: bool, threshold: np.ndarray, kappa: float, p: int) -> np.ndarray:
    """`kappa * prox(z)`: z holds a block of p for each annotator, then the biases."""
    n = len(threshold)
    blocks, bias = z[: n * p].reshape(n, p), z[n * p :]
    size = np.linalg.norm(blocks, axis=1)[:, None] if group else np.abs(blocks)
    factor = np.maximum(1 - threshold[:, None] / np.maximum(size, 1e-300), 0.0)
    thin = np.sign(bias) * np.maximum(np.abs(bias) - threshold, 0.0)
    return kappa * np.concatenate(((factor * blocks).ravel(), thin))


def dense_lbi(
    votes: Votes,
    *,
    step: float,
    n_iterations: int,
    loss: Any = "bradley-terry",
    penalty: str = "group",
    features: np.ndarray | None = None,
    position_bias: bool = True,
    common_position: bool = False,
    kappa: float = 20.0,
    threshold: np.ndarray | None = None,
    attention: tuple[float, np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Common part and beta (deviations in a dense block each, then biases) after each iteration.

    With `attention` (its scale and thresholds) beta ends with everybody's sigma.
    """
    the_loss = as_loss(loss)
    a, x = dense_design(votes, features, position_bias, common_position)
    p = votes.n_items if features is None else features.shape[1]
    ones = np.ones(votes.n_annotators) if threshold is None else threshold
    scale, thin = (1.0, ones) if attention is None else attention
    phi = np.eye(votes.n_items) if features is None else features
    eta, z, z_b = np.zeros(a.shape[1]), np.zeros(x.shape[1]), np.zeros(votes.n_annotators)
    etas, betas = [], []
    for iteration in range(n_iterations + 1):
        beta = shrink(z, penalty == "group", ones, kappa, p)
        b = kappa * np.sign(z_b) * np.maximum(np.abs(z_b) - thin, 0.0)
        etas.append(eta)
        betas.append(beta if attention is None else np.concatenate((beta, b / scale)))
        if iteration == n_iterations:
            break
        sees = attention_design(votes, phi @ eta[:p], scale)
        sight = 1.0 + (b / scale)[votes.annotator]
        common = np.hstack((sight[:, None] * a[:, :p], a[:, p:]))
        slope = votes.weight * the_loss.gradient(common @ eta + x @ beta, votes.choice)
        eta = eta - kappa * step * (common.T @ slope) / votes.total_weight
        z = z - step * (x.T @ slope) / votes.total_weight
        if attention is not None:
            z_b = z_b - step * (sees.T @ slope) / votes.total_weight
    return np.array(etas), np.array(betas)
