"""An annotator's block: three ways to solve it, against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
from weak_cases import small_posterior, small_problem

from prefpath.weak.blocks import (
    ATTENTION,
    KINDS,
    LEAN,
    OWN,
    Scales,
    by_coefficients,
    by_diagonal,
    by_votes,
    fill_blocks,
    rows_of,
)


def block_of(features: bool, u: int = 2):
    posterior, _ = small_posterior(small_problem(features=features))
    state = posterior.state(np.random.default_rng(0).normal(size=len(posterior.scale.flat())))
    slope, scale = posterior.slopes(state), posterior.scale
    scales = Scales(scale.taste, scale.own, scale.lean, scale.attention)
    design = posterior.ballots.design
    mine = slice(design.cells[u], design.cells[u + 1])
    return design, scales, slope, rows_of(design, scales, slope.gap, u), slope.curvature[mine]


def dense(rows) -> np.ndarray:
    table = np.zeros((len(rows.where), rows.size))
    for r, (where, value) in enumerate(zip(rows.where, rows.value, strict=True)):
        np.add.at(table[r], where, value)
    return table


@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize("solve", [by_coefficients, by_votes])
def test_leverages_and_degrees_of_freedom(solve, features: bool) -> None:
    *_, rows, bend = block_of(features)
    table = dense(rows)
    covariance = np.linalg.inv(np.eye(rows.size) + (table.T * bend) @ table)
    leverage, degrees = np.zeros(len(bend)), np.zeros(KINDS)
    solve(rows, bend, leverage, degrees)
    np.testing.assert_allclose(leverage, np.diag(table @ covariance @ table.T), rtol=1e-8)
    taken = 1.0 - np.diag(covariance)
    assert degrees.sum() == pytest.approx(taken.sum())
    assert degrees[LEAN] == pytest.approx(taken[-2])
    assert degrees[ATTENTION] == pytest.approx(taken[-1])
    width = 2 if features else 0
    assert degrees[OWN] == pytest.approx(taken[width:-2].sum())


def test_a_vote_without_curvature_keeps_the_prior_variance() -> None:
    *_, rows, bend = block_of(False)
    bend = bend.copy()
    bend[0] = 0.0
    table = dense(rows)
    covariance = np.linalg.inv(np.eye(rows.size) + (table.T * bend) @ table)
    leverage = np.zeros(len(bend))
    by_votes(rows, bend, leverage, np.zeros(KINDS))
    exact = np.diag(table @ covariance @ table.T)
    np.testing.assert_allclose(leverage[1:], exact[1:], rtol=1e-8)
    assert leverage[0] == pytest.approx(np.sum(table[0] ** 2))


@pytest.mark.parametrize("solve", [by_coefficients, by_votes])
def test_votes_of_any_weight_have_leverages(solve) -> None:
    *_, rows, bend = block_of(False)
    leverage, degrees = np.zeros(len(bend)), np.zeros(KINDS)
    solve(rows, 1e30 * bend, leverage, degrees)
    assert np.isfinite(leverage).all() and np.isfinite(degrees).all()


def test_the_diagonal_is_exact_where_coefficients_stand_alone() -> None:
    *_, rows, bend = block_of(False)
    one = rows._replace(where=rows.where[:1], value=rows.value[:1] * np.array([1.0, 0, 0, 0]))
    exact, rough = np.zeros(1), np.zeros(1)
    by_coefficients(one, bend[:1], exact, np.zeros(KINDS))
    by_diagonal(one, bend[:1], rough, np.zeros(KINDS))
    assert rough[0] == pytest.approx(exact[0])


def test_all_annotators_are_filled() -> None:
    design, scales, slope, rows, bend = block_of(False)
    leverage, degrees = np.zeros(len(slope.curvature)), np.zeros((5, KINDS))
    fill_blocks(design, scales, slope, leverage, degrees)
    own, taken = np.zeros(len(bend)), np.zeros(KINDS)
    by_votes(rows, bend, own, taken)
    np.testing.assert_allclose(leverage[design.cells[2] : design.cells[3]], own, rtol=1e-8)
    np.testing.assert_allclose(degrees[2], taken, rtol=1e-8)
    assert (leverage > 0).all()
