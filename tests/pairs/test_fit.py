"""Common scores of counts: against choix, a general minimiser, and finite differences."""

from __future__ import annotations

import choix
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime, minimize

from prefpath import simulate_crowd
from prefpath.model.losses import BradleyTerry, Linear, Loss, ThurstoneMosteller
from prefpath.pairs import (
    PairCounts,
    bounded_items,
    fit_bradley_terry,
    fit_counts,
    pool_pairs,
    pool_votes,
    strong_components,
)
from prefpath.pairs.fit import logistic_derivatives
from prefpath.pairs.laplacian import PairGraph
from prefpath.pairs.newton import minimise
from prefpath.votes.graph import components_of_pairs


def crowd_counts(n_items: int = 12) -> PairCounts:
    return pool_votes(simulate_crowd(3_000, 40, n_items, seed=5).votes)


def chain(n_items: int) -> PairCounts:
    """Each item against its neighbours only: conjugate gradients need as many steps as items."""
    left = np.arange(n_items - 1, dtype=np.int32)
    choice = np.random.default_rng(0).uniform(-0.5, 0.5, n_items - 1)
    return pool_pairs(left, left + 1, choice, np.full(n_items - 1, 8.0), n_items=n_items)


@pytest.mark.parametrize("loss", [BradleyTerry(), ThurstoneMosteller(), Linear()])
def test_the_fit_of_each_loss_is_the_minimum(loss: Loss) -> None:
    counts = crowd_counts()

    def cost(scores: np.ndarray) -> float:
        margin = scores[counts.first] - scores[counts.second]
        return float(counts.weight @ loss.value(margin, counts.choice))

    expected = minimize(cost, np.zeros(counts.n_items), method="BFGS").x
    found = fit_counts(counts, loss.derivatives)
    assert found.converged
    assert_allclose(found.scores, expected - expected.mean(), atol=1e-4)
    margin = found.graph.differences(found.scores)
    pull = counts.weight * loss.gradient(margin, counts.choice)
    assert np.abs(found.graph.divergence(pull)).max() < 1e-7


def test_bradley_terry_equals_choix() -> None:
    counts = crowd_counts()
    wins = np.zeros((counts.n_items, counts.n_items))
    wins[counts.first, counts.second] = counts.wins
    wins[counts.second, counts.first] = counts.losses
    expected = choix.ilsr_pairwise_dense(wins, tol=1e-12)
    assert_allclose(fit_bradley_terry(counts).scores, expected - expected.mean(), atol=1e-8)


@pytest.mark.parametrize("kept", [0, 5_000])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_conjugate_gradients_and_factors_agree(
    kept: int, ridge: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = crowd_counts()
    factorised = fit_bradley_terry(counts, ridge=ridge)
    monkeypatch.setattr("prefpath.pairs.laplacian._FACTOR_UP_TO", 0)
    monkeypatch.setattr("prefpath.pairs.laplacian.DENSE_UP_TO", kept)
    iterated = fit_bradley_terry(counts, ridge=ridge)
    assert iterated.graph.keeps_matrix == (kept > 0)
    assert_allclose(iterated.scores, factorised.scores, atol=1e-8)


@pytest.mark.parametrize("n_items", [900, 6_000])
def test_a_long_chain_is_solved(n_items: int) -> None:
    counts = chain(n_items)
    fitted = fit_bradley_terry(counts)
    expected = np.log1p(counts.choice) - np.log1p(-counts.choice)  # a tree: every pair exactly
    assert_allclose(fitted.graph.differences(fitted.scores), expected, atol=1e-8)


def test_groups_are_centred_apart() -> None:
    left, right = np.array([0, 0, 2, 2, 2]), np.array([1, 1, 3, 3, 3])
    counts = pool_pairs(left, right, np.array([1.0, -1, 1, 1, -1]), n_items=5)
    fitted = fit_bradley_terry(counts)
    assert_allclose(fitted.scores, [0, 0, np.log(2) / 2, -np.log(2) / 2, 0], atol=1e-9)
    assert len(np.unique(fitted.component)) == 3


def test_generalised_inverse() -> None:
    counts = crowd_counts(5)
    component = components_of_pairs(counts.first, counts.second, 5)
    graph = PairGraph(5, counts.first, counts.second, component)
    whole = graph.matrix(counts.weight).toarray()
    assert_allclose(graph.inverse(counts.weight), np.linalg.pinv(whole), atol=1e-10)


def test_separated_counts_are_said_not_to_converge() -> None:
    left, right = np.array([0, 1, 0]), np.array([1, 0, 2])
    counts = pool_pairs(left, right, np.array([1.0, 1.0, -1.0]), n_items=3)  # item 2 never lost
    assert not fit_bradley_terry(counts).converged
    assert fit_bradley_terry(counts, ridge=1e-3).converged


def test_without_curvature_no_minimum_is_said_to_be_found() -> None:
    """A step without end, made as long as one may be, was not a number."""
    start = np.zeros(2)
    with np.errstate(all="raise"):
        found = minimise(lambda x: (x + 1.0, x), lambda _, slope: slope * np.inf, start)
    assert not found.converged
    assert_array_equal(found.coefficient, start)


def test_far_starts_come_home() -> None:
    counts = crowd_counts()
    far = np.random.default_rng(0).normal(scale=15, size=counts.n_items)
    expected = fit_bradley_terry(counts).scores
    found = fit_bradley_terry(counts, start=far).scores
    assert_allclose(found - found.mean(), expected, atol=1e-8)


def test_logistic_derivatives() -> None:
    loss, choice = BradleyTerry(), np.array([1.0, -1.0, 0.3])
    point = np.array([0.4, -1.2, 2.0])
    slope, curvature = logistic_derivatives(point, choice)
    assert_allclose(
        slope, np.diag(approx_fprime(point, lambda m: loss.value(m, choice))), atol=1e-6
    )
    bend = approx_fprime(point, lambda m: logistic_derivatives(m, choice)[0])
    assert_allclose(curvature, np.diag(bend), atol=1e-6)


def test_bounded_items_are_the_largest_group_of_each_component() -> None:
    # 0, 1, 2 beat each other; 3 beats 0; 4 and 5 tie, alone; 6 beats 7, alone; 8 met nobody.
    left = np.array([0, 1, 2, 3, 4, 6])
    right = np.array([1, 2, 0, 0, 5, 7])
    counts = pool_pairs(left, right, np.array([1.0, 1, 1, 1, 0, 1]), n_items=9)
    component = components_of_pairs(counts.first, counts.second, 9)
    expected = [True, True, True, False, True, True, False, False, False]
    assert_array_equal(bounded_items(counts, component), expected)
    group = strong_components(counts)
    assert len(np.unique(group)) == 6
    assert group[4] == group[5]
