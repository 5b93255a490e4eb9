"""CrowdBT: gradient, limit, an independent EM step, and what it finds in a bad crowd."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.special import expit, logit
from scipy.stats import kendalltau

from prefpath import Votes
from prefpath.baselines import BradleyTerry, CrowdBT
from prefpath.baselines.crowd_bt import CrowdLikelihood, maximise
from prefpath.baselines.training import Training

TRUTH = np.linspace(-2, 2, 9)


def crowd(reliability: list[float], n_each: int = 250, seed: int = 0) -> Votes:
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(len(reliability)), n_each)
    left = rng.integers(9, size=len(who))
    right = (left + rng.integers(1, 9, size=len(who))) % 9
    honest = rng.random(len(who)) < np.array(reliability)[who]
    truth = rng.random(len(who)) < expit(TRUTH[left] - TRUTH[right])
    names = np.array([f"u{k:02d}" for k in range(len(reliability))])
    return Votes.from_arrays(names[who], left, right, np.where(honest == truth, 1, -1))


@pytest.mark.parametrize("with_features", [False, True])
def test_gradient_is_the_derivative(votes: Votes, with_features: bool) -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(votes.n_items, 3)) if with_features else None
    likelihood = CrowdLikelihood.from_training(Training.from_votes(votes, features), 10.0, 1.0)
    point = rng.normal(size=likelihood.item_design.shape[1] + votes.n_annotators)
    _, gradient = likelihood.loss_and_gradient(point, 0.3)
    numeric = approx_fprime(point, lambda p: likelihood.loss_and_gradient(p, 0.3)[0], 1e-6)
    assert_allclose(gradient, numeric, atol=2e-3, rtol=1e-4)


def test_an_em_step_does_not_move_the_maximum() -> None:
    """The E- and M-step of the reliabilities, written out, leave the solution where it is."""
    votes = crowd([0.95, 0.9, 0.6, 0.1])
    training = Training.from_votes(votes)
    likelihood = CrowdLikelihood.from_training(training, 10.0, 1.0)
    start = np.concatenate([np.zeros(9), np.full(4, logit(10 / 11))])
    found = maximise(likelihood, 0.3, start=start)
    scores, reliable = found[:9], expit(found[9:])
    for u in range(4):
        mine = votes.annotator == u
        gap = votes.choice[mine] * (scores[votes.left[mine]] - scores[votes.right[mine]])
        p = 1 / (1 + np.exp(-gap))
        posterior = reliable[u] * p / (reliable[u] * p + (1 - reliable[u]) * (1 - p))
        weight = votes.weight[mine]
        expected = (weight @ posterior + 10) / (weight.sum() + 11)
        assert reliable[u] == pytest.approx(expected, abs=1e-3)


def test_a_crowd_known_to_be_honest_is_bradley_terry(votes: Votes) -> None:
    found = CrowdBT(virtual=1e-9, honest=1e9, contrary=1e-3).fit(votes).scores()
    assert_allclose(found, BradleyTerry().fit(votes).scores(), atol=5e-3)


def test_finds_who_is_contrary_and_who_flips_a_coin() -> None:
    votes = crowd([0.97] * 6 + [0.5] * 3 + [0.05] * 3)
    model = CrowdBT().fit(votes)
    found = model.reliability()
    assert (found[:6] > 0.85).all()
    assert (np.abs(found[6:9] - 0.5) < 0.2).all()
    assert (found[9:] < 0.2).all()
    assert kendalltau(model.scores(), TRUTH).statistic > 0.9


def test_ignoring_annotators_costs() -> None:
    """Against fresh votes of the same crowd CrowdBT errs less, and turns contrary ones round."""
    reliability = [0.97] * 5 + [0.03] * 4
    train, test = crowd(reliability, seed=1), crowd(reliability, seed=2)

    def error(model: CrowdBT | BradleyTerry) -> float:
        return float(np.average(model.predict(test) != test.choice, weights=test.weight))

    aware, blind = CrowdBT().fit(train), BradleyTerry().fit(train)
    assert error(aware) < error(blind) - 0.1
    contrary = test.annotator == 8
    gap = aware.scores()[test.left] - aware.scores()[test.right]
    assert (np.sign(aware.margin(test)) == -np.sign(gap))[contrary].all()


def test_a_stranger_has_the_priors_reliability() -> None:
    model = CrowdBT().fit(crowd([0.9, 0.1]))
    stranger = Votes.from_arrays(["somebody new"], [8], [0], [1])
    p = expit(model.scores()[8] - model.scores()[0])
    assert model.predict_proba(stranger)[0] == pytest.approx(10 / 11 * p + 1 / 11 * (1 - p))


def test_no_convergence_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    likelihood = CrowdLikelihood.from_training(Training.from_votes(crowd([0.9])), 10.0, 1.0)
    broken = lambda self, p, virtual: (float(p @ p), -p - 1.0)  # noqa: E731
    monkeypatch.setattr(CrowdLikelihood, "loss_and_gradient", broken)
    with pytest.warns(UserWarning, match="did not converge"):
        maximise(likelihood, 0.3, start=np.ones(10))
