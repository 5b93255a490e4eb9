"""The sandwich of many items: each way to it gives the same matrix."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from prefpath.pairs import squares
from prefpath.plain import clustered
from prefpath.plain.clustered import sandwich


@pytest.mark.parametrize("n_annotators", [60, 200])
@pytest.mark.parametrize("density", [0.02, 0.4])
@pytest.mark.parametrize("sparse_cost", [0, 4, 1e9])
def test_every_way_is_the_product(
    n_annotators: int, density: float, sparse_cost: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(squares, "_SPARSE_COST", sparse_cost)
    monkeypatch.setattr(squares, "_FEW", 0.0)
    monkeypatch.setattr(squares, "_CHUNK", 32)
    monkeypatch.setattr(clustered, "_CHUNK", 32)
    rng = np.random.default_rng(0)
    root = rng.normal(size=(70, 70))
    inverse = root @ root.T
    entries = rng.normal(size=(n_annotators, 70)) * (rng.random((n_annotators, 70)) < density)
    busy = entries[: n_annotators // 4]  # in the first chunks alone: the others are sparse
    busy[:] = rng.normal(size=busy.shape)
    found = sandwich(inverse, sparse.csr_array(entries))
    expected = inverse @ entries.T @ entries @ inverse
    assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())
    assert np.array_equal(found, found.T)


def test_no_item_is_no_obstacle() -> None:
    assert sandwich(np.zeros((0, 0)), sparse.csr_array((5, 0))).shape == (0, 0)
