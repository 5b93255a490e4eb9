"""What features say of the items, beside what the items' own scores would."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath import PreferenceModel, Votes, simulate_crowd
from prefpath.findings import cautions
from prefpath.findings.explained import explained_by_features
from prefpath.fitted import Fitted


def fit_with_features(own: float, n_votes: int = 4_000) -> Fitted:
    """Twelve items whose scores are a feature's, and so much of their own."""
    rng = np.random.default_rng(0)
    feature = rng.normal(size=(12, 1))
    theta = feature[:, 0] + own * rng.normal(size=12)
    left = rng.integers(0, 12, n_votes)
    right = (left + rng.integers(1, 12, n_votes)) % 12
    chance = 1.0 / (1.0 + np.exp(theta[right] - theta[left]))
    choice = np.where(rng.random(n_votes) < chance, 1.0, -1.0)
    votes = Votes.from_arrays(rng.integers(0, 30, n_votes), left, right, choice)
    return PreferenceModel(features=feature, cv=0, t_ratio=2.0, n_threads=1).fit(votes).fitted_


def test_features_that_say_all_leave_chance_alone() -> None:
    fitted = fit_with_features(own=0.0)
    assert explained_by_features(fitted) is None
    assert not any("features say" in sentence for sentence in cautions(fitted))


def test_features_that_say_little_are_said_to() -> None:
    fitted = fit_with_features(own=3.0)
    explained = explained_by_features(fitted)
    assert explained is not None and 0.02 < explained < 0.5
    assert any(f"features say {explained:.0%}" in sentence for sentence in cautions(fitted))


@pytest.mark.parametrize("own", [0.3, 1.0])
def test_the_share_is_that_of_two_logistic_regressions(own: float) -> None:
    """Deviance saved by a regression on the feature, over that saved by one on the items."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    fitted = fit_with_features(own=own)
    votes, feature = fitted.votes, fitted.problem.features
    assert feature is not None
    items = np.eye(12)[votes.left] - np.eye(12)[votes.right]
    win = votes.choice > 0
    saved = []
    for design in (items @ feature, items):
        model = linear_model.LogisticRegression(C=1e6, fit_intercept=False, tol=1e-10)
        model.fit(design, win, sample_weight=votes.weight)
        chance = np.where(win, *model.predict_proba(design).T[::-1])
        saved.append(float(votes.weight @ (np.log(2.0) + np.log(chance))))
    assert explained_by_features(fitted) == pytest.approx(saved[0] / saved[1], abs=1e-3)


def test_without_features_there_is_nothing_to_say() -> None:
    votes = simulate_crowd(400, 8, 5, seed=0).votes
    fitted = PreferenceModel(cv=0, n_threads=1).fit(votes).fitted_
    assert explained_by_features(fitted) is None
