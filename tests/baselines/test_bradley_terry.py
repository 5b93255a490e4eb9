"""Bradley-Terry against a published table, choix and scikit-learn."""

from __future__ import annotations

import choix
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import check_grad

from prefpath import Votes
from prefpath.baselines import BradleyTerry
from prefpath.baselines.linear_solves import (
    log_loss,
    log_loss_gradient,
    logistic_regression,
)

WIKIPEDIA_WINS = {"AB": 2, "AD": 1, "BA": 3, "BC": 5, "CB": 3, "CD": 1, "DA": 4, "DC": 3}
WIKIPEDIA_STRENGTH = {"A": 0.640, "B": 1.043, "C": 0.660, "D": 2.270}


def choix_data(votes: Votes) -> list[tuple[int, int]]:
    return [
        (i, j) if y > 0 else (j, i)
        for i, j, y, n in zip(votes.left, votes.right, votes.choice, votes.count, strict=True)
        if y != 0
        for _ in range(n)
    ]


def test_the_worked_example_of_wikipedia() -> None:
    """Four teams of the article "Bradley-Terry model"; strengths have geometric mean 1."""
    games = [pair for pair, wins in WIKIPEDIA_WINS.items() for _ in range(wins)]
    votes = Votes.from_arrays(
        ["u"] * len(games), [g[0] for g in games], [g[1] for g in games], [1] * len(games)
    )
    strength = np.exp(BradleyTerry().fit(votes).scores())
    assert_allclose(strength, list(WIKIPEDIA_STRENGTH.values()), atol=5e-4)


def test_equals_choix(votes: Votes) -> None:
    votes = votes.without_ties()
    expected = choix.opt_pairwise(votes.n_items, choix_data(votes), alpha=1e-6, tol=1e-12)
    found = BradleyTerry(ridge=1e-6).fit(votes).scores()
    assert_allclose(found, expected - expected.mean(), atol=1e-6)


def test_with_features_equals_logistic_regression(votes: Votes) -> None:
    from sklearn.linear_model import LogisticRegression

    features = np.random.default_rng(0).normal(size=(votes.n_items, 3))
    decided = votes.without_ties()
    x = features[decided.left] - features[decided.right]
    machine = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=1000)
    machine.fit(x, decided.choice > 0, sample_weight=decided.weight)
    expected = features @ machine.coef_[0]
    found = BradleyTerry(ridge=1.0).fit(decided, features).scores()
    assert_allclose(found, expected - expected.mean(), atol=1e-6)


def test_a_tie_is_half_of_each() -> None:
    tied = Votes.from_arrays(["u"] * 3, ["a"] * 3, ["b"] * 3, [1, 0, 0])
    split = Votes.from_arrays(["u"] * 3, ["a"] * 3, ["b"] * 3, [1, 1, -1])
    assert_allclose(BradleyTerry().fit(tied).scores(), BradleyTerry().fit(split).scores())
    assert_allclose(BradleyTerry().fit(tied).scores(), np.log(2) / 2 * np.array([1, -1]), atol=1e-6)


def test_gradient_is_the_derivative() -> None:
    rng = np.random.default_rng(1)
    design, wins, losses = rng.normal(size=(30, 4)), rng.random(30), rng.random(30)
    ridge = np.full(4, 0.3)
    point = rng.normal(size=4)
    args = (design, wins, losses, ridge)
    assert check_grad(log_loss, log_loss_gradient, point, *args) < 1e-5


def test_a_fit_that_did_not_converge_says_so() -> None:
    design = np.ones((1, 1))
    with pytest.warns(UserWarning, match="did not converge"):
        logistic_regression(design, np.ones(1), np.zeros(1), ridge=1e-9, max_iterations=2)
