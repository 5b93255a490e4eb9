"""Whichever way sums over followers are made, by size of their votes, they are the same."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from prefpath import Votes, fit_path, simulate_crowd
from prefpath.fitted import Fitted
from prefpath.inference import curvatures, dispersion, leverage
from prefpath.inference.absorption import absorb, annotator_coefficients, balanced_sizes
from prefpath.inference.consensus import _solve, common_hessian, fit_consensus, invert
from prefpath.inference.evidence import Evidence, gather_evidence
from prefpath.inference.gradients import annotator_gradients
from prefpath.inference.leaning import curvature_left
from prefpath.inference.sandwich import as_rows, cluster_covariance
from prefpath.inference.unseen import told_by
from prefpath.model.problem import Problem
from prefpath.votes.segments import rows_of
from prefpath.votes.trials import trials_of_rows


@pytest.fixture(params=[False, True], ids=["plain", "shared lean"], scope="module")
def evidence(request) -> Evidence:
    votes = simulate_crowd(900, 25, 14, deviants=4, clickers=2, seed=1).votes
    settings = {"common_position": request.param}
    path = fit_path(votes, n_times=3, t_ratio=2.0, n_threads=1, **settings)
    found = gather_evidence(Fitted.of(Problem.build(votes, **settings), path))
    assert found.active.any() and not found.active.all()
    return found


def bread_of(evidence: Evidence) -> np.ndarray:
    weight, choice = evidence.slot_votes.everybody
    return invert(evidence, common_hessian(evidence, evidence.coefficient, weight, choice))


def test_curvatures_of_all_at_once_are_those_of_one_by_one(evidence, monkeypatch):
    who = np.flatnonzero(~evidence.active)[::-1]
    asked = evidence, evidence.coefficient, bread_of(evidence), who
    at_once, one_by_one = curvatures._all_at_once(*asked), curvatures._one_by_one(*asked)
    for found, wanted in zip(at_once, one_by_one, strict=True):
        assert wanted.max() > 1e-3
        assert_allclose(found, wanted, rtol=1e-10)
    monkeypatch.setattr(curvatures, "_DENSE_FROM_ITEMS", 8)  # some one way, some the other
    monkeypatch.setattr(curvatures, "_DENSE_FROM_SHARE", 0.15)
    assert 0 < curvatures._is_dense(evidence, who).sum() < len(who)
    for found, wanted in zip(curvatures.curvatures_of(*asked), one_by_one, strict=True):
        assert_allclose(found, wanted, rtol=1e-10)


@pytest.mark.parametrize("seen_by_busy", [0.0, 0.6])
def test_leverage_of_busy_ones_is_removed_as_that_of_others(evidence, seen_by_busy, monkeypatch):
    monkeypatch.setattr(leverage, "_FEW_ANNOTATORS", 0)
    monkeypatch.setattr(leverage, "_BUSY_AT_ONCE", 3)
    removed = []
    for share in (1.0, seen_by_busy):  # nobody has seen more than all items
        monkeypatch.setattr(leverage, "_SEEN_BY_BUSY", share)
        pulls = leverage.Gradients(*annotator_gradients(evidence, evidence.coefficient))
        asked = evidence, evidence.coefficient, bread_of(evidence)
        slow = leverage._left_over(*asked, pulls)
        removed.append((*pulls, slow))
    before = annotator_gradients(evidence, evidence.coefficient)[0]
    assert np.abs(removed[0][0] - before).max() > 1e-3 * np.abs(before).max()
    for found, wanted in zip(*removed, strict=True):
        assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("how", ["plain", "shared lean", "features"])
def test_who_only_leans_leaves_as_much_as_by_themselves(how, monkeypatch):
    features = np.random.default_rng(0).normal(size=(14, 3)) if how == "features" else None
    crowd = simulate_crowd(2_000, 25, 14, deviants=1, clickers=12, seed=1, features=features)
    settings = {"common_position": how == "shared lean", "features": features}
    path = fit_path(crowd.votes, n_times=3, t_ratio=12.0, n_threads=1, **settings)
    evidence = gather_evidence(Fitted.of(Problem.build(crowd.votes, **settings), path))
    who, at = np.flatnonzero(evidence.leaning), evidence.coefficient
    assert len(who) > 3
    total = np.zeros((evidence.n_coefficients,) * 2)
    for u in who:
        touched = annotator_coefficients(evidence, u)
        total[np.ix_(touched, touched)] += absorb(evidence, u, at, 0.0).matrix()
    assert_allclose(curvature_left(evidence, at), total, rtol=1e-9, atol=1e-9)
    bread, before = bread_of(evidence), annotator_gradients(evidence, at)
    removed = []
    for most in (500, 0):  # one by one, and compiled
        monkeypatch.setattr(leverage, "_FEW_ANNOTATORS", most)
        blocks, position = (part.copy() for part in before)
        sizes = balanced_sizes(evidence, at, blocks)
        leverage.remove_leverage(evidence, at, sizes, bread, blocks, position)
        removed.append((blocks, position))
    own = rows_of(evidence.problem.design.blocks, who)
    assert np.abs(removed[0][0] - before[0])[own].max() > 1e-2
    for found, wanted in zip(removed[1], removed[0], strict=True):
        assert_allclose(found, wanted, rtol=1e-9, atol=1e-11)


def test_votes_scatter_alike_by_comparison_and_by_row(evidence):
    coefficient = evidence.coefficient
    trials = trials_of_rows(evidence.problem.votes)
    by_slot = dispersion._of_slots(evidence, coefficient)
    assert_allclose(dispersion._of_rows(evidence, coefficient, trials), by_slot, rtol=1e-12)
    assert dispersion.squares_and_curvature(evidence, coefficient)[:2] == by_slot


def test_newtons_step_is_the_inverse_times_the_gradient(evidence):
    hessian = common_hessian(evidence, evidence.coefficient, *evidence.slot_votes.everybody)
    right = np.random.default_rng(0).normal(size=len(hessian))
    assert_allclose(_solve(evidence, hessian, right), invert(evidence, hessian) @ right, atol=1e-10)
    assert fit_consensus(evidence).converged


def test_a_flat_hessian_has_a_step_too(evidence):
    flat = np.zeros((evidence.n_coefficients,) * 2)
    right = np.ones(len(flat))
    assert_allclose(_solve(evidence, flat, right), invert(evidence, flat) @ right)


def test_curvature_that_is_not_kept_is_computed_again(evidence, monkeypatch):
    kept = cluster_covariance(evidence)
    monkeypatch.setattr("prefpath.inference.sandwich._NUMBERS_KEPT", 300)
    again = cluster_covariance(evidence)
    assert_allclose(again.covariance, kept.covariance, rtol=1e-9, atol=1e-12)


def test_whoever_has_no_known_side_tells_as_much_where_a_lean_is_shared():
    """Their row of gradients has no entry for the position, and none of an item in its place."""
    votes, u = simulate_crowd(900, 25, 14, deviants=4, clickers=2, seed=1).votes, 3
    columns = [votes.annotators[votes.annotator], votes.items[votes.left], votes.items[votes.right]]
    told = []
    for shared in (False, True):
        problem = Problem.build(
            Votes.from_arrays(
                *columns, votes.choice, votes.weight, position_known=votes.annotator != u
            ),
            common_position=shared,
            position_bias=False,
        )
        path = fit_path(problem.votes, n_times=2, t_ratio=1.1, n_threads=1, position_bias=False,
                        common_position=shared)  # fmt: skip
        found = gather_evidence(Fitted.of(problem, path))
        at, bread = np.zeros(found.n_coefficients), np.eye(found.n_coefficients)
        rows = as_rows(found, *annotator_gradients(found, at))
        told.append(told_by(found, at, bread, rows, np.array([u])))
    for plain, beside_a_lean in zip(*told, strict=True):
        assert_allclose(beside_a_lean, plain, rtol=1e-12)
