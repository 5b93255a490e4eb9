"""Tail probabilities against all outcomes, against draws, and in the limits."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm

from prefpath.diagnose import tails
from prefpath.diagnose.exponentials import make_room
from prefpath.diagnose.tails import EXACT_UP_TO


def two_sided_p(step, trials, p, extra, observed) -> float:
    return tails.two_sided_p(step, trials, p, extra, observed, make_room(len(p)))


def by_outcomes(step, trials, p, observed) -> float:
    """Probability of being as far from the mean, over every outcome."""
    tail = 0.0
    for wins in product(*(range(int(n) + 1) for n in trials)):
        if abs(np.sum(step * (np.array(wins) - trials * p))) >= abs(observed) - 1e-9:
            tail += np.prod(binom.pmf(wins, trials, p))
    return min(1.0, tail)


def binomial_p(wins, n, p) -> float:
    far = np.abs(np.arange(n + 1) - n * p) >= abs(wins - n * p) - 1e-9
    return float(binom.pmf(np.arange(n + 1), n, p)[far].sum())


def random_case(rng, n):
    step, p = rng.normal(size=n), rng.uniform(0.05, 0.95, n)
    wins = rng.integers(0, 2, n).astype(float)
    return step, np.ones(n), p, float(np.sum(step * (wins - p)))


@given(st.integers(1, EXACT_UP_TO), st.integers(0, 10_000))
def test_few_votes_are_added_up_over_all_outcomes(n, seed):
    step, trials, p, observed = random_case(np.random.default_rng(seed), n)
    assert two_sided_p(step, trials, p, 0.0, observed) == pytest.approx(
        by_outcomes(step, trials, p, observed), rel=1e-9
    )


@pytest.mark.parametrize("seed", range(8))
def test_the_saddlepoint_is_close_to_all_outcomes_of_fourteen_votes(seed):
    step, trials, p, observed = random_case(np.random.default_rng(seed), 14)
    exact = by_outcomes(step, trials, p, observed)
    assert two_sided_p(step, trials, p, 0.0, observed) == pytest.approx(exact, rel=0.15)


def test_it_keeps_its_accuracy_far_out():
    """Within a tenth down to 1e-20, on the lattice: a normal tail is off by powers of 10."""
    n, p = 40.0, 0.3
    for wins in (18, 22, 26, 30, 40):
        found = two_sided_p(np.ones(1), np.array([n]), np.array([p]), 0.0, wins - n * p)
        assert found == pytest.approx(binomial_p(wins, 40, p), rel=0.1)


def test_a_binomial_on_either_side_and_in_the_middle():
    for wins in range(31):
        found = two_sided_p(np.ones(1), np.array([30.0]), np.array([0.4]), 0.0, wins - 12.0)
        assert found == pytest.approx(binomial_p(wins, 30, 0.4), rel=0.1)


def test_a_normal_part_alone_is_a_normal():
    nothing = np.zeros(1)
    for z in (0.5, 2.0, 5.0):
        found = two_sided_p(nothing, np.ones(1), np.full(1, 0.5), 4.0, 2.0 * z)
        assert found == pytest.approx(2.0 * norm.sf(z), rel=1e-6)


def test_a_normal_part_widens_the_tail_as_draws_do():
    rng = np.random.default_rng(1)
    step, p = rng.normal(size=25), rng.uniform(0.1, 0.9, 25)
    wins = rng.random((400_000, 25)) < p
    total = (wins - p) @ step + rng.normal(0, 1.5, 400_000)
    for observed in (3.0, -5.0):
        found = two_sided_p(step, np.ones(25), p, 1.5**2, observed)
        assert found == pytest.approx((np.abs(total) >= abs(observed)).mean(), rel=0.06)


def test_terms_that_cannot_differ_say_nothing():
    assert two_sided_p(np.zeros(20), np.ones(20), np.full(20, 0.5), 0.0, 0.0) == 1.0
