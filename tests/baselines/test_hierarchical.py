"""Rivals that know annotators: derivatives, scikit-learn's solutions, what they find."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from sklearn.linear_model import LogisticRegression

from prefpath import Votes, simulate_crowd
from prefpath.baselines import L1, BTSigma, HeterogeneousJudges, Ridge, RidgeSlopes
from prefpath.baselines.annotator_effects import EffectsModel, Precisions, fit_effects
from prefpath.baselines.training import Training
from prefpath.errors import SettingError


def crowd(**odd) -> Votes:
    return simulate_crowd(1_500, 12, 5, activity="even", ties=0.1, seed=2, **odd).votes


@pytest.mark.parametrize("slope", ["none", "linear", "log"])
@pytest.mark.parametrize("with_features", [False, True])
def test_gradient_is_the_derivative(slope, with_features: bool) -> None:
    rng = np.random.default_rng(0)
    votes = crowd()
    features = rng.normal(size=(votes.n_items, 2)) if with_features else None
    model = EffectsModel.of(Training.from_votes(votes, features), slope=slope, with_taste=True)
    point = rng.normal(scale=0.5, size=sum(model.sizes))
    _, gradient = model.loss_and_gradient(point)
    numeric = approx_fprime(point, lambda x: model.loss_and_gradient(x)[0], 1e-7)
    assert_allclose(gradient, numeric, atol=2e-2, rtol=1e-4)


def dense_design(votes: Votes) -> np.ndarray:
    rows, n = np.arange(votes.n_rows), votes.n_items
    apart = np.zeros((votes.n_rows, n))
    apart[rows, votes.left] += 1
    apart[rows, votes.right] -= 1
    who = np.eye(votes.n_annotators)[votes.annotator]
    tastes = (who[:, :, None] * apart[:, None, :]).reshape(votes.n_rows, -1)
    return np.hstack([apart, tastes, who])


def test_ridge_is_scikit_learns() -> None:
    votes = crowd().without_ties()
    x, n = dense_design(votes), votes.n_items
    precision = np.r_[np.full(n, 0.5), np.full(n * 12, 4.0), np.full(12, 2.0)]
    machine = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=5000)
    machine.fit(x / np.sqrt(precision), votes.choice > 0, sample_weight=votes.weight)
    expected = x @ (machine.coef_[0] / np.sqrt(precision))
    found = Ridge(score=0.5, taste=4.0, lean=2.0).fit(votes).margin(votes)
    assert_allclose(found, expected, atol=2e-3)


def test_l1_is_scikit_learns() -> None:
    votes = crowd().without_ties()
    model = EffectsModel.of(Training.from_votes(votes), slope="none", with_taste=True)
    found = fit_effects(
        model, Precisions(1e-4, 3.0, 3.0), start=np.zeros(sum(model.sizes)), l1=True
    )
    score, taste, lean, _ = model.blocks(found)
    assert (np.abs(taste) < 1e-9).mean() > 0.5  # sparse
    _, gradient = model.loss_and_gradient(found)
    _, at_taste, at_lean, _ = model.blocks(gradient)
    own, pull = np.concatenate([taste, lean]), np.concatenate([at_taste, at_lean])
    moved = np.abs(own) > 1e-6
    assert_allclose(pull[moved], -3.0 * np.sign(own[moved]), atol=0.02)  # optimality
    assert np.abs(pull[~moved]).max() <= 3.02
    assert np.isfinite(score).all()


@pytest.mark.parametrize("rival", [RidgeSlopes, BTSigma, HeterogeneousJudges])
def test_slopes_find_who_answers_at_random(rival) -> None:
    odd = simulate_crowd(3_000, 12, 5, activity="even", random=3, deviants=0, clickers=0, seed=4)
    fitted = rival(n_folds=2).fit(odd.votes)
    multiplier = fitted._learnt.fit.effects.multiplier[:-1]
    is_random = odd.attention == 0
    assert multiplier[is_random].max() < multiplier[~is_random].min()


def test_contrary_annotators_have_a_negative_slope() -> None:
    odd = simulate_crowd(3_000, 12, 5, activity="even", contrary=2, deviants=0, clickers=0, seed=4)
    multiplier = RidgeSlopes(n_folds=2).fit(odd.votes)._learnt.fit.effects.multiplier[:-1]
    assert (multiplier[odd.attention == -1] < 0).all()
    assert (multiplier[odd.attention == 1] > 0.3).all()


def test_ridge_finds_clickers_and_strangers_have_no_lean() -> None:
    odd = simulate_crowd(3_000, 12, 5, activity="even", clickers=2, deviants=0, seed=4)
    fitted = Ridge(n_folds=2).fit(odd.votes)
    lean = fitted._learnt.fit.effects.lean
    assert set(np.argsort(-np.abs(lean[:-1]))[:2]) == set(np.flatnonzero(odd.position_bias))
    items = odd.votes.items
    stranger = Votes.from_arrays(["nobody"], [items[0]], [items[1]], [1])
    scores = fitted.scores()
    assert fitted.margin(stranger)[0] == pytest.approx(scores[0] - scores[1])
    unknown = Votes.from_arrays(
        [odd.clickers[0]] * 1, [items[0]], [items[1]], [1], position_known=False
    )
    known = Votes.from_arrays([odd.clickers[0]], [items[0]], [items[1]], [1])
    who = odd.votes.annotator_code(odd.clickers[0])
    assert fitted.margin(known)[0] - fitted.margin(unknown)[0] == pytest.approx(lean[who])


def test_tuning_is_by_log_loss() -> None:
    votes = crowd()
    assert Ridge().criterion == "log-loss"
    tuned = L1().fit(votes)
    assert tuned.tuning is not None
    assert 0.3 < min(tuned.tuning.errors) < 0.7  # log-losses, not shares of errors
    with pytest.raises(SettingError, match="criterion"):
        Ridge(criterion="deviance")
