"""Comparisons as sums over pairs, against the same as a matrix."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from prefpath import simulate_crowd
from prefpath.diagnose import pair_design
from prefpath.diagnose.ballots import Ballots
from prefpath.diagnose.consensus import CommonModel
from prefpath.diagnose.pair_design import Folding, MatrixDesign, ScoreDesign


@pytest.mark.parametrize("leans", [False, True])
def test_sums_over_pairs_are_products_with_a_matrix(leans):
    rng = np.random.default_rng(0)
    left, right = np.array([0, 1, 2, 0, 3]), np.array([1, 2, 0, 3, 2])
    known = np.array([1, 0, 1, 1, 0]) if leans else None
    sums = ScoreDesign(left, right, known, 4)
    matrix = MatrixDesign(left, right, known, 4, None)
    assert sums.n_coefficients == matrix.n_coefficients == 4 + leans
    coefficient, each = rng.normal(size=sums.n_coefficients), rng.random(5)
    assert_allclose(sums.margins(coefficient), matrix.margins(coefficient))
    assert_allclose(sums.pull_back(each), matrix.pull_back(each))
    assert_allclose(sums.system(each), matrix.system(each), atol=1e-15)


def test_both_orders_of_a_pair_are_one():
    folding = Folding(np.array([0, 1, 1, 2]), np.array([1, 0, 2, 0]), 3)
    assert (folding.left.tolist(), folding.right.tolist()) == ([0, 0, 1], [1, 2, 2])
    trials, wins = folding.fold(np.array([3.0, 5.0, 2.0, 4.0]), np.array([1.0, 2.0, 2.0, 0.0]))
    assert (trials.tolist(), wins.tolist()) == ([8.0, 4.0, 2.0], [4.0, 4.0, 2.0])


@pytest.mark.parametrize("leans", [False, True])
def test_many_items_are_fitted_as_few_are(leans, monkeypatch):
    ballots = Ballots.of(simulate_crowd(1_500, 20, 9, clickers=4, seed=2).votes)
    few = CommonModel(ballots, common_position=leans).fit()
    monkeypatch.setattr(pair_design, "DENSE_COLUMNS", 3)
    many = CommonModel(ballots, common_position=leans).fit()
    assert_allclose(few.scores, many.scores, atol=1e-9)
    assert_allclose(few.score_error, many.score_error, rtol=1e-9)
    assert few.position == pytest.approx(many.position, abs=1e-9)
