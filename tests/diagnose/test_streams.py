"""The random numbers of the kernels: the published generator, and what is drawn from it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, chisquare, kstest, norm

from prefpath.diagnose.streams import (
    draw_binomial,
    draw_normal,
    draw_uniform,
    next_word,
    start_stream,
)


def stream(seed: int, word: int):
    state = np.zeros(1, dtype=np.uint64)
    start_stream(state, np.uint64(seed), np.uint64(word))
    return state


def test_words_are_those_published_for_splitmix64():
    state = np.array([1234567], dtype=np.uint64)
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [int(next_word(state)) for _ in range(3)] == published


def test_uniforms_normals_and_binomials_have_their_distributions():
    state = stream(3, 17)
    assert kstest([draw_uniform(state) for _ in range(20_000)], "uniform").pvalue > 1e-3
    assert kstest([draw_normal(state) for _ in range(20_000)], norm.cdf).pvalue > 1e-3
    wins = np.array([draw_binomial(state, 6.0, 0.3) for _ in range(20_000)])
    expected = 20_000 * binom.pmf(np.arange(7), 6, 0.3)
    assert chisquare(np.bincount(wins.astype(int), minlength=7), expected).pvalue > 1e-3


def test_many_trials_have_mean_and_variance_of_a_binomial():
    state = stream(4, 1)
    wins = np.array([draw_binomial(state, 2_000.0, 0.4) for _ in range(20_000)])
    assert wins.mean() == pytest.approx(800, abs=4 * np.sqrt(480 / 20_000))
    assert wins.var() == pytest.approx(480, rel=0.05)
    assert (wins == np.rint(wins)).all() and wins.min() >= 0 and wins.max() <= 2_000


@pytest.mark.parametrize("trials", [2_000.0, 1e15])
@pytest.mark.parametrize("often", [False, True])
def test_rare_outcomes_of_many_trials_are_binomial_and_counted_at_once(trials, often):
    state, rare = stream(5, 2), 4.0 / trials
    p = 1.0 - rare if often else rare
    wins = np.array([draw_binomial(state, trials, p) for _ in range(10_000)])
    lost = trials - wins if often else wins
    expected = 10_000 * binom.pmf(np.arange(12), trials, 1.0 - p if often else p)
    seen = np.bincount(np.minimum(lost, 12).astype(int), minlength=13)
    assert chisquare(seen, [*expected, 10_000 - expected.sum()]).pvalue > 1e-3
    assert draw_binomial(state, trials, 0.0) == 0.0
    assert draw_binomial(state, trials, 1.0) == trials


@pytest.mark.parametrize("of", ["words", "seeds"])
def test_first_draws_of_neighbouring_streams_are_independent(of):
    pairs = [(0, k) if of == "words" else (k, 0) for k in range(20_000)]
    first = np.array([draw_uniform(stream(*pair)) for pair in pairs])
    assert kstest(first, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(first[1:], first[:-1])[0, 1]) < 4 / np.sqrt(20_000)


def test_a_stream_is_its_seed_and_word():
    one, same, other = stream(1, 2), stream(1, 2), stream(1, 3)
    assert next_word(one) == next_word(same) != next_word(other)
