"""Many tests at once: Benjamini and Hochberg's rule, and what is ordinary among many."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, norm

from prefpath import SettingError
from prefpath.diagnose.multiplicity import benjamini_hochberg, check_rate, simes, soften


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30), st.floats(0.01, 0.9))
def test_benjamini_hochberg_is_scipys(p, q):
    adjusted = false_discovery_control(p)
    near = np.isclose(adjusted, q, rtol=1e-9)
    chosen = benjamini_hochberg(np.array(p), q)
    np.testing.assert_array_equal(chosen[~near], (adjusted <= q)[~near])


def test_benjamini_and_hochbergs_own_example():
    """Their fifteen comparisons (1995, section 4.2): at 0.05 the first four are rejected."""
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
         0.5719, 0.6528, 0.7590, 1.0]  # fmt: skip
    assert benjamini_hochberg(np.array(p), 0.05).tolist() == [True] * 4 + [False] * 11
    untested = np.concatenate((np.full(10, np.nan), p))  # who has no test does not count as one
    assert np.flatnonzero(benjamini_hochberg(untested, 0.05)).tolist() == [10, 11, 12, 13]


def test_a_p_value_at_its_bound_is_rejected():
    """The rule's sign is "at most"; halves and quarters have no rounding."""
    assert benjamini_hochberg(np.array([0.125, 0.25]), 0.25).tolist() == [True, True]
    assert benjamini_hochberg(np.array([0.125, 0.75]), 0.25).tolist() == [True, False]


def test_the_empirical_null_undoes_a_shift_and_a_spread():
    grid = norm.ppf((np.arange(999) + 0.5) / 999)
    softer, shift, scale = soften(norm.sf(0.7 + 1.8 * grid))
    assert (shift, scale) == (pytest.approx(0.7, abs=1e-6), pytest.approx(1.8, rel=5e-3))
    np.testing.assert_allclose(softer, norm.sf(grid * 1.8 / scale), rtol=1e-3)
    stretched = np.where(grid > 0, 5.0 * grid, 1.2 * grid)  # deviants; the lower half counts
    assert soften(norm.sf(stretched))[2] == pytest.approx(1.2, rel=5e-3)
    assert soften(norm.sf(-0.7 + 0.5 * grid))[1:] == (0.0, 1.0)  # never smaller
    kept = soften(np.array([0.2, np.nan, 0.4]))[0]
    assert np.isnan(kept).tolist() == [False, True, False]


@pytest.mark.parametrize("q", [0.0, 1.0, -0.1, 1.5, np.nan])
def test_a_rate_lies_between_0_and_1(q):
    with pytest.raises(SettingError, match="q is"):
        check_rate(q)


@pytest.mark.parametrize("q", [1e-9, 0.05, 0.5, 1.0 - 1e-9])
def test_rates_between_0_and_1_are_taken(q):
    check_rate(q)


def test_without_a_test_nothing_is_softened():
    p, shift, scale = soften(np.full(3, np.nan))
    assert np.isnan(p).all() and (shift, scale) == (0.0, 1.0)


def test_the_empirical_null_of_five_p_values_by_hand():
    """Normal scores -1, 0.5, 1, 3, 9: median 1, quartiles 0.5 and 3, the nearer 0.5 away."""
    z = np.array([-1.0, 0.5, 1.0, 3.0, 9.0])
    softer, shift, scale = soften(norm.sf(z))
    assert (shift, scale) == (pytest.approx(1.0), 1.0)  # 0.5 / 0.674 is below 1
    np.testing.assert_allclose(softer, norm.sf(z - 1.0), rtol=1e-9)
    wide = np.array([-6.0, -1.5, 1.0, 3.0, 6.0])  # quartiles 2.5 and 2 away: the nearer is 2
    softer, shift, scale = soften(norm.sf(wide))
    assert scale == pytest.approx(2.0 / 0.6744897501960817)
    np.testing.assert_allclose(softer, norm.sf((wide - 1.0) / scale), rtol=1e-9)


def test_p_values_of_0_and_1_stay_in_order_and_finite():
    softer, _, _ = soften(np.array([0.0, 0.1, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9, 1.0]))
    assert np.isfinite(softer).all() and np.all(np.diff(softer) > 0)
    assert softer[0] < 1e-200 and softer[-1] > 1.0 - 1e-9


def test_a_crowd_whose_p_values_are_mostly_one_is_softened_as_any():
    """Few votes leave p-values of 1: their normal scores must not be infinite."""
    p = np.array([1.0, 1.0, 1.0, 1.0, 0.01])
    softer, shift, scale = soften(p)
    assert (shift, scale) == (0.0, 1.0)
    np.testing.assert_allclose(softer, p, rtol=1e-11)
    softer, shift, scale = soften(np.array([1.0, 0.5, 0.001]))  # quartiles half way to the ends
    near = norm.isf(0.001) / 2.0 / 0.6744897501960817
    assert (shift, scale) == (pytest.approx(0.0, abs=1e-15), pytest.approx(near, rel=1e-9))


@given(st.lists(st.floats(1e-6, 1.0), min_size=3, max_size=40))
def test_the_empirical_null_only_makes_p_values_larger(p):
    softer, shift, scale = soften(np.array(p))
    small = np.array(p) <= 0.5
    assert (softer[small] >= np.array(p)[small] - 1e-9).all()
    assert shift >= 0 and scale >= 1


def test_simes_by_hand():
    """The least of n p_(k) / k: 0.03 of (0.03, 0.045, 0.5), and 0.05 of (0.12, 0.0675, 0.05)."""
    tests = np.array([[0.5, 0.05], [0.01, 0.04], [0.03, 0.045]])
    np.testing.assert_allclose(simes(*tests), [0.03, 0.05])


def test_who_was_not_tested_does_not_keep_the_others_from_being_softened():
    p = np.array([1e-6, 1e-4, 0.01, 0.02, 0.3])
    softer, shift, scale = soften(p)
    with_one_more, *same = soften(np.append(p, np.nan))
    assert same == [shift, scale] and shift > 1.0
    np.testing.assert_array_equal(with_one_more, np.append(softer, np.nan))
