"""Exponentials of many numbers at once are those of the library, to its last place."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath.compiling import kernel
from prefpath.diagnose.ballots import probability, slope_of_probability
from prefpath.diagnose.exponentials import exponentials, make_room


@kernel()
def _of(values, n):
    room = make_room(len(values))
    for k in range(len(values)):
        room.value[k] = values[k]
    exponentials(room, n)
    return room.value


def test_they_are_those_of_the_library():
    values = np.concatenate(([0.0, -0.0, 1.0, -708.0, 709.0], np.linspace(-708.0, 709.0, 5_000)))
    np.testing.assert_allclose(_of(values, len(values)), np.exp(values), rtol=4.5e-16)
    halves = 0.34657359027997264 * np.arange(-9, 10)  # half way between two powers of 2
    np.testing.assert_allclose(_of(halves, len(halves)), np.exp(halves), rtol=4.5e-16)


def test_what_has_no_place_among_numbers_stays_at_the_ends():
    values = np.array([-1e300, -np.inf, -709.0, 710.0, np.inf, 1e300])
    ends = np.exp(np.repeat([-708.0, 709.0], 3))
    np.testing.assert_allclose(_of(values, 6), ends, rtol=4.5e-16)


def test_only_the_first_are_touched():
    np.testing.assert_array_equal(_of(np.zeros(3), 0), 0.0)
    np.testing.assert_array_equal(_of(np.full(3, 2.0), 1)[1:], 2.0)


@pytest.mark.parametrize("shape", [(0,), (40_000,), (200, 3)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_probabilities_are_those_of_any_layout(shape, order):
    margin = np.array(40.0 * np.random.default_rng(0).normal(size=shape), order=order)
    p = probability(margin, probit=False)
    np.testing.assert_allclose(p, 1.0 / (1.0 + np.exp(-margin)), rtol=1e-15)
    np.testing.assert_allclose(slope_of_probability(margin, p, probit=False), p * (1.0 - p))
    assert probability(np.array(800.0), probit=False) == 1.0
    assert probability(np.array(-800.0), probit=False) == 0.0
