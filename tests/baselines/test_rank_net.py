"""RankNet: gradients by finite differences, and Bradley-Terry where it must be one."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

from prefpath import Votes
from prefpath.baselines import BradleyTerry, RankNet
from prefpath.baselines.rank_net import Adam, forward, initial_weights, loss_and_gradient
from prefpath.baselines.training import Training


@pytest.mark.parametrize("with_features", [False, True])
def test_backpropagation_is_the_derivative(votes: Votes, with_features: bool) -> None:
    features = np.random.default_rng(0).normal(size=(votes.n_items, 3)) if with_features else None
    training = Training.from_votes(votes, features)
    inputs, counts = training.item_design, training.counts
    into, bias, _ = initial_weights(inputs.shape[1], 4, random_state=1)
    start = (into, bias, np.array([1.0, -0.5, 0.3, 2.0]))
    shapes = [part.shape for part in start]
    cuts = np.cumsum([part.size for part in start])[:-1]

    def unpack(flat: np.ndarray):
        parts = np.split(flat, cuts)
        return tuple(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))

    flat = np.concatenate([part.ravel() for part in start])
    numeric = approx_fprime(flat, lambda p: loss_and_gradient(unpack(p), inputs, counts, 0.1)[0])
    _, gradient = loss_and_gradient(start, inputs, counts, 0.1)
    analytic = np.concatenate([np.ravel(part) for part in gradient])
    assert np.abs(analytic).max() > 0.01
    assert_allclose(analytic, numeric, atol=1e-6)


def test_the_loss_is_the_cross_entropy_of_the_votes() -> None:
    votes = Votes.from_arrays(["u"] * 4, ["a"] * 4, ["b"] * 4, [1, 1, -1, 0])
    training = Training.from_votes(votes)
    into, bias, _ = initial_weights(2, 3, random_state=0)
    weights = (into, bias, np.array([1.0, -2.0, 0.5]))
    scores, _ = forward(weights, training.item_design)
    p = 1 / (1 + np.exp(scores[1] - scores[0]))
    loss, _ = loss_and_gradient(weights, training.item_design, training.counts, 0.0)
    assert_allclose(loss, -(2.5 * np.log(p) + 1.5 * np.log(1 - p)) / 4)


def test_flexible_enough_it_is_bradley_terry(votes: Votes) -> None:
    """One-hot items and no decay: the optimum over networks is that over free scores."""
    net = RankNet(decay=0.0, epochs=3000, learning_rate=0.01).fit(votes)
    assert_allclose(net.scores(), BradleyTerry().fit(votes).scores(), atol=0.01)


def test_adams_first_step_is_the_learning_rate_against_the_sign() -> None:
    weights = (np.zeros((1, 2)), np.zeros(1), np.zeros(1))
    gradient = (np.array([[3.0, -0.2]]), np.array([1e-3]), np.array([-40.0]))
    moved = Adam(weights, 0.1).step(weights, gradient)
    assert_allclose(moved[0], [[-0.1, 0.1]], rtol=1e-4)
    assert_allclose(moved[2], [0.1], rtol=1e-4)


def test_units_of_the_features_do_not_matter(votes: Votes) -> None:
    features = np.random.default_rng(3).normal(size=(votes.n_items, 3))
    net = RankNet(decay=1e-3, epochs=50)
    expected = net.fit(votes, features).scores()
    found = net.fit(votes, 5.0 + features * np.array([100.0, 1.0, 0.01])).scores()
    assert_allclose(found, expected, atol=1e-9)
