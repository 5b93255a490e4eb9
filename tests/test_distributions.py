"""Tails and quantiles are those of `scipy.stats`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from prefpath.distributions import (
    heads_at_most,
    normal_quantile,
    normal_tail,
    student_quantile,
    student_tail,
)

TAILS = np.array([1e-300, 1e-12, 0.001, 0.025, 0.3, 0.5, 0.9, 1.0 - 1e-12])
POINTS = np.array([-30.0, -2.0, 0.0, 0.7, 3.0, 12.0, np.inf])


def test_of_the_normal() -> None:
    np.testing.assert_allclose(normal_tail(POINTS), stats.norm.sf(POINTS), rtol=1e-13)
    np.testing.assert_allclose(normal_quantile(TAILS), stats.norm.isf(TAILS), rtol=1e-13)


@pytest.mark.parametrize("freedom", [1.0, 2.5, 9.0, 300.0, np.inf])
def test_of_students_t(freedom: float) -> None:
    tail, t = TAILS[1:], student_quantile(TAILS[1:], freedom)
    np.testing.assert_allclose(student_tail(POINTS, freedom), stats.t.sf(POINTS, freedom), 1e-12)
    np.testing.assert_allclose(t, stats.t.isf(tail, freedom), rtol=1e-11, atol=1e-14)


def test_of_coins() -> None:
    tosses = np.array([1, 3, 10, 75, 1_000])
    for heads in (0, tosses // 3, (tosses - 1) // 2):
        expected = stats.binom.cdf(heads, tosses, 0.5)
        np.testing.assert_allclose(heads_at_most(heads, tosses), expected, rtol=1e-12)
    assert np.isnan(heads_at_most(1.0, 2.5)) and np.isnan(stats.binom.cdf(1.0, 2.5, 0.5))
    assert np.isnan(heads_at_most(3, 3))  # all of them: nothing is asked that is not certain
