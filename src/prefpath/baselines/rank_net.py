"""RankNet: a small neural network scores items; pairs are compared by a logistic link."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from prefpath.baselines.base import Baseline, Fit, Grid, as_grid, centred
from prefpath.baselines.training import Design, Outcomes, Training
from prefpath.votes.encode import FloatArray

Weights = tuple[FloatArray, FloatArray, FloatArray]  # into the hidden layer, its bias, out of it


@dataclass(frozen=True, kw_only=True)
class RankNet(Baseline):
    """P(i over j) = sigmoid(f(x_i) - f(x_j)), f one hidden layer of tanh units; Adam.

    The loss is the mean cross-entropy of the votes plus weight decay; a tie has target 1/2, as
    in the paper. Scores are computed once an item and gradients summed over pairs, so an epoch
    is a full batch and costs O(items * hidden + pairs). Features are standardised.

    Parameters
    ----------
    hidden : int
        Units of the hidden layer.
    decay : float or tuple of float
        Weight decay; every value is one run.
    epochs : int or tuple of int
        When to stop: snapshots of each run.
    learning_rate : float

    References
    ----------
    C. Burges et al. (2005). Learning to rank using gradient descent. ICML.
    """

    name: ClassVar[str] = "RankNet"
    probabilistic: ClassVar[bool] = True

    hidden: int = 16
    decay: Grid = (1e-2, 1e-3)
    epochs: Grid = (10, 20, 50, 100, 200)
    learning_rate: float = 0.05

    def _fit_path(self, training: Training) -> Sequence[Fit]:
        inputs = _standardised(training)
        stops = as_grid(self.epochs)
        return [
            Fit(centred(scores, training.item_weight), {"decay": decay, "epochs": stop})
            for decay in as_grid(self.decay)
            for scores, stop in zip(
                self._train(inputs, training.counts, decay, stops), stops, strict=True
            )
        ]

    def _train(
        self, inputs: Design, counts: Outcomes, decay: float, stops: Sequence[float]
    ) -> Iterator[FloatArray]:
        weights = initial_weights(inputs.shape[1], self.hidden, self.random_state)
        adam = Adam(weights, self.learning_rate)
        n_done = 0
        for stop in stops:
            while n_done < stop:
                n_done += 1
                _, gradient = loss_and_gradient(weights, inputs, counts, decay)
                weights = adam.step(weights, gradient)
            yield forward(weights, inputs)[0]


def _standardised(training: Training) -> Design:
    features = training.features
    if features is None:
        return training.item_design
    seen = features[training.item_weight > 0]
    spread = seen.std(axis=0)
    return (features - seen.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def initial_weights(n_inputs: int, hidden: int, random_state: int) -> Weights:
    rng = np.random.default_rng(random_state)
    # Nothing out of the hidden layer yet: before the first vote every item scores the same.
    return (
        rng.normal(scale=1.0 / np.sqrt(n_inputs), size=(n_inputs, hidden)),
        rng.normal(scale=0.1, size=hidden),
        np.zeros(hidden),
    )


def forward(weights: Weights, inputs: Design) -> tuple[FloatArray, FloatArray]:
    """Score of every item, and what the hidden units said."""
    into, bias, out = weights
    activation = np.tanh(inputs @ into + bias)
    return activation @ out, activation


def loss_and_gradient(
    weights: Weights, inputs: Design, counts: Outcomes, decay: float
) -> tuple[float, Weights]:
    """Mean cross-entropy plus `decay / 2 * ||weights||**2`, and its gradient (biases are free)."""
    into, _, out = weights
    scores, activation = forward(weights, inputs)
    margin = scores[counts.first] - scores[counts.second]
    wins, losses = counts.half_tied
    total = float(counts.total.sum())
    loss = (wins @ np.logaddexp(0, -margin) + losses @ np.logaddexp(0, margin)) / total
    pull = (counts.total * expit(margin) - wins) / total
    n = len(scores)
    to_scores = np.bincount(counts.first, pull, n) - np.bincount(counts.second, pull, n)
    to_hidden = np.outer(to_scores, out) * (1.0 - activation**2)
    gradient = (
        inputs.T @ to_hidden + decay * into,
        to_hidden.sum(axis=0),
        activation.T @ to_scores + decay * out,
    )
    return float(loss + decay / 2 * ((into**2).sum() + (out**2).sum())), gradient


class Adam:
    """Adam (Kingma and Ba 2015) with its usual constants."""

    def __init__(self, weights: Weights, learning_rate: float) -> None:
        self.learning_rate = learning_rate
        self.n_steps = 0
        self.mean = tuple(np.zeros_like(part) for part in weights)
        self.square = tuple(np.zeros_like(part) for part in weights)

    def step(self, weights: Weights, gradient: Weights) -> Weights:
        self.n_steps += 1
        to_mean, to_square = 1.0 - 0.9**self.n_steps, 1.0 - 0.999**self.n_steps
        for mean, square, part in zip(self.mean, self.square, gradient, strict=True):
            mean += 0.1 * (part - mean)
            square += 0.001 * (part**2 - square)
        into, bias, out = (
            part - self.learning_rate * (mean / to_mean) / (np.sqrt(square / to_square) + 1e-8)
            for part, mean, square in zip(weights, self.mean, self.square, strict=True)
        )
        return into, bias, out
