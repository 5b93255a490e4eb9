"""HodgeRank and URLR against numpy's least squares and scikit-learn's lasso."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from prefpath import Votes
from prefpath.baselines import URLR, HodgeRank
from prefpath.baselines.training import Training
from prefpath.baselines.urlr import huber_regression, outlier_order, prune


def incidence(votes: Votes) -> np.ndarray:
    matrix = np.zeros((votes.n_rows, votes.n_items))
    matrix[np.arange(votes.n_rows), votes.left] = 1
    matrix[np.arange(votes.n_rows), votes.right] = -1
    return matrix


@pytest.mark.parametrize("with_features", [False, True])
def test_hodge_rank_is_numpys_least_squares(votes: Votes, with_features: bool) -> None:
    features = np.random.default_rng(0).normal(size=(votes.n_items, 4))
    items = features if with_features else np.eye(votes.n_items)
    root = np.sqrt(votes.weight)
    coef, *_ = np.linalg.lstsq(
        root[:, None] * incidence(votes) @ items, root * votes.choice, rcond=None
    )
    found = HodgeRank().fit(votes, features if with_features else None).scores()
    expected = items @ coef
    assert_allclose(found, expected - expected.mean(), atol=1e-7)


def test_hodge_rank_of_iqa_is_the_published_one(data_dir) -> None:
    """The paper: mean test mismatch 0.1874, standard deviation 0.0081 (20 splits at random)."""
    table = np.genfromtxt(data_dir / "iqa_ref1.csv", delimiter=",", skip_header=1, dtype=int)
    names = np.unique(table[:, 1:3])
    errors = []
    for seed in range(20):
        train = np.random.default_rng(seed).random(len(table)) < 0.7
        fitted = HodgeRank().fit(Votes.from_arrays(*table[train].T, items=names))
        held_out = Votes.from_arrays(*table[~train].T, items=names)
        agreement = fitted.predict(held_out) * held_out.choice
        errors.append(np.average((1 - agreement) / 2, weights=held_out.weight))
    assert abs(np.mean(errors) - 0.1874) < 2 * 0.0081 / np.sqrt(20) * np.sqrt(2)


def test_urlr_outliers_are_the_lassos(votes: Votes) -> None:
    """Eliminating theta instead of the outliers leaves a lasso in the outliers alone."""
    from sklearn.linear_model import Lasso

    training = Training.from_votes(votes)
    groups = training.groups
    design = training.differences(groups.first, groups.second).toarray()
    rows = np.repeat(np.arange(len(groups.choice)), training.group_weight.astype(int))
    x, y = design[rows], groups.choice[rows]
    penalty = 0.8
    start = np.zeros(votes.n_items)
    theta = huber_regression(design, groups.choice, training.group_weight, penalty, start=start)
    residual = y - x @ theta
    found = np.sign(residual) * np.maximum(np.abs(residual) - penalty, 0)
    annihilator = np.eye(len(y)) - x @ np.linalg.pinv(x)
    lasso = Lasso(alpha=penalty / len(y), fit_intercept=False, tol=1e-12, max_iter=100_000)
    lasso.fit(annihilator, annihilator @ y)
    assert (np.abs(found) > 0).mean() > 0.02
    assert_allclose(found, lasso.coef_, atol=1e-4)


def test_urlr_without_pruning_is_hodge_rank(votes: Votes) -> None:
    assert_allclose(URLR(share=0.0).fit(votes).scores(), HodgeRank().fit(votes).scores(), atol=1e-6)


def test_urlr_finds_planted_outliers(planted_votes) -> None:
    """Strengths are exact but for a tenth of the votes: pruning a tenth leaves no error."""
    truth = np.linspace(-1, 1, 8)
    votes = planted_votes(truth, n_votes=600, tie_share=0.0)
    exact = truth[votes.left] - truth[votes.right]
    outlier = np.random.default_rng(3).random(votes.n_rows) < 0.1
    choice = np.where(outlier, exact + 4 * np.sign(exact), exact)
    clean = Votes.from_codes(
        votes.annotator, votes.left, votes.right, choice,
        annotators=votes.annotators, items=votes.items,
    )  # fmt: skip
    robust = URLR(share=float(outlier.mean())).fit(clean).scores()
    assert_allclose(robust, truth, atol=1e-4)
    assert np.abs(HodgeRank().fit(clean).scores() - truth).max() > 0.05


def test_prune_takes_exactly_the_share() -> None:
    weight = np.array([2.0, 1.0, 4.0, 3.0])
    order = np.array([2, 0, 3, 1])
    assert_allclose(prune(weight, order, 0.5), [1.0, 1.0, 0.0, 3.0])
    assert_allclose(prune(weight, order, 0.0), weight)


def test_outliers_enter_in_the_order_of_their_size() -> None:
    design = np.ones((5, 1))
    target = np.array([0.0, 0.0, 5.0, 0.0, -3.0])
    order = outlier_order(design, target, np.ones(5), n_penalties=20, share=0.4)
    assert order[:2].tolist() == [2, 4]


def test_outliers_that_enter_together_go_by_their_size() -> None:
    target = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5.0, -3.0, 4.0])
    order = outlier_order(np.ones((9, 1)), target, np.ones(9), n_penalties=2, share=0.3)
    assert order[:3].tolist() == [6, 8, 7]


def test_huber_regression_is_stationary() -> None:
    rng = np.random.default_rng(4)
    design, target, weight = rng.normal(size=(50, 3)), rng.standard_t(2, 50), rng.random(50)
    coef = huber_regression(design, target, weight, 0.5, start=np.zeros(3))
    slope = design.T @ (weight * np.clip(target - design @ coef, -0.5, 0.5))
    assert_allclose(slope, 0, atol=1e-4)
