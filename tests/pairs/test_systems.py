"""Ridged systems, dense and by conjugate gradients."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from prefpath.pairs.systems import gram, solve_ridged


@pytest.mark.parametrize("dense_columns", [0, 2_000])
def test_gram_and_solve(dense_columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prefpath.pairs.systems.DENSE_COLUMNS", dense_columns)
    rng = np.random.default_rng(2)
    design, weight, target = rng.normal(size=(9, 3)), rng.random(9), rng.normal(size=3)
    expected = np.linalg.inv(design.T @ np.diag(weight) @ design + 0.1 * np.eye(3)) @ target
    assert_allclose(solve_ridged(gram(design, weight), target, 0.1), expected)
    matrix = gram(sparse.csr_array(design), weight)
    assert sparse.issparse(matrix) == (dense_columns == 0)
    assert_allclose(solve_ridged(matrix, target, 0.1), expected, rtol=1e-7)
