"""RankSVM against a direct minimisation, and scikit-learn on every vote."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.svm import LinearSVC

from prefpath import Votes
from prefpath.baselines import RankSVM


def test_minimises_its_objective(votes: Votes) -> None:
    features = np.random.default_rng(0).normal(size=(votes.n_items, 3))
    decided = votes.without_ties()
    x = decided.choice[:, None] * (features[decided.left] - features[decided.right])

    def objective(w: np.ndarray) -> float:
        return float(w @ w / 2 + 0.05 * decided.weight @ np.maximum(0, 1 - x @ w) ** 2)

    expected = features @ minimize(objective, np.zeros(3), tol=1e-12).x
    found = RankSVM(C=0.05).fit(votes, features).scores()
    assert_allclose(found, expected - expected.mean(), atol=1e-4)


def test_pooled_by_pair_equals_every_vote_in_both_orientations(votes: Votes) -> None:
    decided = votes.without_ties()
    rows = np.repeat(np.arange(decided.n_rows), decided.count)
    items = np.eye(votes.n_items)
    x = items[decided.left[rows]] - items[decided.right[rows]]
    machine = LinearSVC(C=0.05, dual=False, fit_intercept=False, tol=1e-8)  # twice the samples
    machine.fit(np.vstack([x, -x]), np.tile(decided.choice[rows], 2) * np.repeat([1, -1], len(x)))
    found = RankSVM(C=0.1).fit(votes).scores()
    assert_allclose(found, machine.coef_[0] - machine.coef_[0].mean(), atol=1e-4)


def test_unanimous_votes_are_no_special_case() -> None:
    """liblinear wants two classes; with one item always on the winning side there is only one."""
    votes = Votes.from_arrays(["u"] * 3, ["a"] * 3, ["b"] * 3, [1, 1, 1])
    # w = (t, -t): minimise t^2 + 3 C (1 - 2 t)^2
    C = 0.2
    t = 6 * C / (1 + 12 * C)
    assert_allclose(RankSVM(C=C).fit(votes).scores(), [t, -t], atol=1e-5)
