"""One triangle of a symmetric matrix tells the other."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg

from prefpath.pairs.triangles import invert_factor, mirror_lower


@pytest.mark.parametrize("n", [1, 256, 600])
@pytest.mark.parametrize("order", ["C", "F"])
def test_what_is_below_is_above(n: int, order: str) -> None:
    whole = np.random.default_rng(0).normal(size=(n, n))
    lower = np.tril(whole)
    found = mirror_lower(np.array(whole, order=order))
    assert np.array_equal(found, lower + np.tril(whole, -1).T)


def test_the_inverse_of_a_factor() -> None:
    root = np.random.default_rng(1).normal(size=(300, 320))
    matrix = root @ root.T
    factor, _ = linalg.cho_factor(np.asfortranarray(matrix), lower=True)
    found = invert_factor(factor)
    assert_allclose(found @ matrix, np.eye(300), atol=1e-8)
    assert np.array_equal(found, found.T)
