"""Derivatives by finite differences, and the mode by an independent optimiser."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from weak_cases import LOSSES, small_posterior, small_problem, small_votes

from prefpath.model.problem import Problem
from prefpath.weak.mode import Posterior, find_mode

CASES = [(loss, features) for loss in LOSSES for features in (False, True)]


def a_point(posterior: Posterior, seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=len(posterior.scale.flat()))


def jacobian(posterior: Posterior, q: np.ndarray) -> np.ndarray:
    """Derivative of the margins in q, column by column."""
    h, columns = 1e-6, []
    for k in range(len(q)):
        step = np.zeros_like(q)
        step[k] = h
        above, below = posterior.state(q + step).margin, posterior.state(q - step).margin
        columns.append((above - below) / (2 * h))
    return np.array(columns).T


@pytest.mark.parametrize(("loss", "features"), CASES)
def test_gradient_is_the_derivative_of_the_value(loss: str, features: bool) -> None:
    posterior, _ = small_posterior(small_problem(loss, features=features))
    q = a_point(posterior)
    state = posterior.state(q)
    gradient = posterior.gradient(state, posterior.slopes(state).pull)
    for k in range(len(q)):
        step = np.zeros_like(q)
        step[k] = 1e-5
        above, below = (
            posterior.value(posterior.state(q + step)),
            posterior.value(posterior.state(q - step)),
        )
        assert gradient[k] == pytest.approx((above - below) / 2e-5, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(("loss", "features"), CASES)
def test_curvature_is_that_of_the_loss_through_the_margins(loss: str, features: bool) -> None:
    posterior, _ = small_posterior(small_problem(loss, features=features))
    q = a_point(posterior)
    state = posterior.state(q)
    slope = posterior.slopes(state)
    by_hand = jacobian(posterior, q)
    hessian = (by_hand.T * slope.curvature) @ by_hand + np.diag(posterior.precision)
    way = a_point(posterior, 4)
    np.testing.assert_allclose(
        posterior.product(state, slope, way), hessian @ way, rtol=1e-5, atol=1e-6
    )
    np.testing.assert_allclose(posterior.diagonal(state, slope), np.diag(hessian), rtol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_bend_is_the_derivative_of_pull(loss: str) -> None:
    posterior, _ = small_posterior(small_problem(loss))
    state = posterior.state(a_point(posterior))
    h = 1e-5
    above = posterior.slopes(state._replace(margin=state.margin + h)).pull
    below = posterior.slopes(state._replace(margin=state.margin - h)).pull
    np.testing.assert_allclose(
        posterior.slopes(state).curvature, (above - below) / (2 * h), atol=1e-5
    )


@pytest.mark.parametrize(("loss", "features"), CASES)
def test_mode_agrees_with_an_optimiser_that_sees_plain_arrays(loss: str, features: bool) -> None:
    problem = small_problem(loss, features=features)
    posterior, _ = small_posterior(problem)
    state = find_mode(posterior, np.zeros(len(posterior.scale.flat())), tolerance=1e-12)
    votes, scale = problem.votes, posterior.scale
    turned = posterior.ballots.design.features

    def margins(q: np.ndarray) -> np.ndarray:
        """The model as it is written down, on rows and a full table of tastes."""
        b = scale.like(scale.flat() * q)
        theta, taste = b.item.copy(), np.zeros((votes.n_annotators, votes.n_items))
        if features:
            theta += turned @ b.common
            taste += b.taste.reshape(votes.n_annotators, -1) @ turned.T
        for u in range(votes.n_annotators):
            mine = slice(posterior.ballots.design.seen[u], posterior.ballots.design.seen[u + 1])
            taste[u, posterior.ballots.design.seen_item[mine]] += b.own[mine]
        u, i, j = votes.annotator, votes.left, votes.right
        common = (1 + b.attention[u]) * (theta[i] - theta[j])
        return common + taste[u, i] - taste[u, j] + b.position[0] + b.lean[u]

    def value(q: np.ndarray) -> float:
        cost = votes.weight @ problem.loss.value(margins(q), votes.choice)
        return float(cost + 0.5 * posterior.precision @ q**2)

    found = minimize(value, np.zeros(len(state.q)), method="BFGS", options={"gtol": 1e-6})
    assert posterior.value(state) <= found.fun + 1e-6
    np.testing.assert_allclose(
        state.margin[posterior.ballots.cell_of_row], margins(found.x), atol=2e-3
    )
    np.testing.assert_allclose(
        state.margin[posterior.ballots.cell_of_row], margins(state.q), atol=1e-9
    )


def test_strengths_of_choices_far_apart_do_not_make_coefficients_run_away() -> None:
    """Huber's loss has no curvature far out: a step too long by more than a million was taken."""
    votes = small_votes()
    strong = replace(votes, choice=1e9 * votes.choice)
    problem = Problem.build(strong, loss="huber", common_position=True)
    heavy = replace(problem.votes, weight=1e9 * problem.votes.weight)
    posterior, _ = small_posterior(Problem.build(heavy, loss="huber", common_position=True))
    start = posterior.state(np.zeros(len(posterior.scale.flat())))
    with np.errstate(all="raise"):
        state = find_mode(posterior, start.q)
    assert posterior.value(state) <= posterior.value(start)
    assert np.isfinite(state.q).all()


def test_a_scale_of_zero_switches_effects_off() -> None:
    posterior, _ = small_posterior(small_problem())
    off = Posterior(posterior.ballots, posterior.scale._replace(own=0.0 * posterior.scale.own))
    state = find_mode(off, np.zeros(len(off.scale.flat())))
    assert not state.values.own.any()
    assert state.values.item.any()
