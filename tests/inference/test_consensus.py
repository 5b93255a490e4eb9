"""The consensus against independent solvers, and which scores the votes bound."""

from __future__ import annotations

import choix
import numpy as np
import pytest
from scipy.optimize import minimize

from prefpath import Votes, fit_path, simulate_crowd
from prefpath.fitted import Fitted
from prefpath.inference.bounded import bounded_items
from prefpath.inference.consensus import common_gradient, common_hessian, fit_consensus
from prefpath.inference.evidence import Evidence, gather_evidence, pooled_target
from prefpath.model.losses import LOSSES, as_loss
from prefpath.model.problem import Problem
from prefpath.predict import Comparisons, path_margins
from prefpath.votes.graph import connected_components


def evidence_of(crowd, ratio=4.0, **settings) -> Evidence:
    """Evidence at `ratio` times the first entry."""
    path = fit_path(crowd.votes, n_times=3, t_ratio=ratio, n_threads=1, **settings)
    problem = Problem.build(crowd.votes, **settings)
    return gather_evidence(Fitted.of(problem, path))


def summed_loss(evidence: Evidence, coefficient) -> float:
    """The loss of all votes, straight from the rows and the path's own margins."""
    votes, path = evidence.problem.votes, evidence.path
    asked = Comparisons.of(votes, np.arange(votes.n_rows))
    theta, before = evidence.scores(coefficient), evidence.scores(evidence.coefficient)
    margin = path_margins(path, asked, evidence.t)
    margin += (theta - before)[votes.left] - (theta - before)[votes.right]
    shift = evidence.common_bias(coefficient) - evidence.common_bias(evidence.coefficient)
    margin += shift * votes.position_known
    return float((votes.weight * evidence.problem.loss.value(margin, votes.choice)).sum())


@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("common_position", [False, True])
def test_gradient_and_hessian_are_those_of_the_summed_loss(loss, common_position):
    crowd = simulate_crowd(900, 12, 5, ties=0.1, seed=2)
    evidence = evidence_of(crowd, loss=loss, common_position=common_position)
    assert evidence.active.any()
    weight, pull = (column[:, 0] for column in pooled_target(evidence))
    choice = np.divide(pull, weight, out=np.zeros_like(pull), where=weight > 0)
    at = evidence.coefficient + 0.05
    step = 1e-4
    for k in range(len(at)):
        move = step * (np.arange(len(at)) == k)
        slope = (summed_loss(evidence, at + move) - summed_loss(evidence, at - move)) / (2 * step)
        gradient = common_gradient(evidence, at, weight, choice)
        assert gradient[k] == pytest.approx(slope, rel=1e-5, abs=1e-4)
        rows = [common_gradient(evidence, at + s * move, weight, choice) for s in (1, -1)]
        bend = (rows[0] - rows[1]) / (2 * step)
        hessian = common_hessian(evidence, at, weight, choice)
        if loss != "huber":  # whose curvature jumps
            np.testing.assert_allclose(hessian[k], bend, rtol=1e-4, atol=1e-3)


def test_without_active_annotators_it_is_the_bradley_terry_fit_of_choix():
    crowd = simulate_crowd(1500, 20, 6, deviants=0, clickers=0, seed=4)
    evidence = evidence_of(crowd, ratio=1.0001)
    votes = crowd.votes
    won = np.where(votes.choice > 0, votes.left, votes.right)
    lost = np.where(votes.choice > 0, votes.right, votes.left)
    data = np.repeat(np.column_stack((won, lost)), votes.count, axis=0)
    expected = choix.opt_pairwise(votes.n_items, data.tolist(), alpha=0.0)
    found = fit_consensus(evidence).coefficient
    # One annotator enters at the very time looked at: their offset is next to nothing.
    np.testing.assert_allclose(found, expected - expected.mean(), atol=2e-3)


def test_it_is_the_minimum_with_features_too():
    features = np.random.default_rng(0).standard_normal((8, 3))
    crowd = simulate_crowd(1200, 15, 8, features=features, seed=1)
    evidence = evidence_of(crowd, features=features)
    found = fit_consensus(evidence)
    best = minimize(lambda x: summed_loss(evidence, x), evidence.coefficient, tol=1e-10)
    assert found.converged
    np.testing.assert_allclose(found.coefficient, best.x, atol=2e-4)


def test_a_winner_of_everything_and_a_loser_of_everything_are_unbounded():
    left, right = list("xxabbcay"), list("abbcaaca")
    choice = [1, 1, 1, 1, 1, 1, 1, -1]
    votes = Votes.from_arrays(["u"] * 8, left, right, choice)
    component = connected_components(votes)
    bounded = bounded_items(votes, component, as_loss("bradley-terry"))
    assert dict(zip(votes.items.tolist(), bounded.tolist(), strict=True)) == {
        "a": True,
        "b": True,
        "c": True,
        "x": False,
        "y": False,
    }
    assert bounded_items(votes, component, as_loss("linear")).all()


def test_a_tie_bounds_both_and_an_item_never_shown_is_unbounded():
    votes = Votes.from_arrays(["u", "v"], ["a", "a"], ["b", "b"], [1, 0], items=["a", "b", "c"])
    bounded = bounded_items(votes, connected_components(votes), as_loss("bradley-terry"))
    assert bounded.tolist() == [True, True, False]
    assert not bounded_items(votes, connected_components(votes), as_loss("linear"))[2]
