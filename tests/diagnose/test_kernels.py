"""Compiled resampling against a plain reference: the same random numbers, the formulas as written.

The reference draws vote by vote and forms `sum r (e_left - e_right)` as a dense vector over all
items; nothing of it is shared with the kernels but the definition of the random stream.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from prefpath import Votes, simulate_crowd
from prefpath.diagnose.ballots import Ballots
from prefpath.diagnose.null_model import NullModel, log_chance_shard
from prefpath.diagnose.taste import (
    AS_LARGE,
    DRAWN,
    N_REPORTED,
    OBSERVED,
    Sequential,
    taste_shard,
)

WORD = 2**64
N_DRAWS, ENOUGH = 50, 6


class Stream:
    """splitmix64 in Python's integers."""

    def __init__(self, seed: int, word: int) -> None:
        self.state = seed
        self.state = self.word() ^ ((word + 1) * 0x94D049BB133111EB % WORD)
        self.state = self.word()

    def word(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) % WORD
        word = self.state
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % WORD
        word = (word ^ (word >> 27)) * 0x94D049BB133111EB % WORD
        return word ^ (word >> 31)

    def uniform(self) -> float:
        return (self.word() >> 11) / 2.0**53

    def halves(self, n: int):
        """Uniform numbers of 32 bits, two of each word."""
        for _ in range((n + 1) // 2):
            word = self.word()
            yield (word & 0xFFFFFFFF) / 2.0**32
            yield (word >> 32) / 2.0**32

    def normal(self) -> float:
        radius = math.sqrt(-2.0 * math.log(1.0 - self.uniform()))
        return radius * math.cos(2.0 * math.pi * self.uniform())

    def binomial(self, trials: float, p: float) -> float:
        variance = trials * p * (1.0 - p)
        if variance > 100.0:
            return float(np.clip(np.rint(trials * p + variance**0.5 * self.normal()), 0, trials))
        return float(sum(self.uniform() < p for _ in range(int(trials))))


def taste_size(ballots, cells, residual, null) -> float:
    """Squared norm of the score in a deviation beside a lean, over all items."""
    apart = np.zeros((len(residual), ballots.votes.n_items))
    rows = np.arange(len(residual))
    apart[rows, ballots.left[cells]] += 1.0
    apart[rows, ballots.right[cells]] -= 1.0
    if ballots.features is not None:
        apart = apart @ ballots.features
    position = ballots.design.position[cells].astype(float)
    pressure = position * (null.trials * null.slope)[cells]
    pull = residual @ apart
    if pressure.sum() > 0:
        pull = pull - position @ residual / pressure.sum() * (pressure @ apart)
    return float(pull @ pull)


def reference_taste(ballots, null, u, moved, seed) -> tuple[float, int, int]:
    """Cells, and the items' errors, are drawn in the order of `draw_order`."""
    start, end = ballots.design.cells[u], ballots.design.cells[u + 1]
    cells, order = slice(start, end), ballots.draw_order
    in_turn = order.cell[start:end]
    single = null.trials[in_turn] == 1
    in_turn = np.concatenate((in_turn[single], in_turn[~single]))
    turned = order.turned[in_turn] == 1
    first = np.where(turned, ballots.right[in_turn], ballots.left[in_turn])
    second = np.where(turned, ballots.left[in_turn], ballots.right[in_turn])
    items = list(dict.fromkeys(np.column_stack((first, second)).ravel().tolist()))
    expected = (null.trials * null.p)[cells]
    observed = taste_size(ballots, cells, null.wins[cells] - expected, null)
    stream, drawn, as_large = Stream(seed, int(order.word[u])), 0, 0
    while drawn < N_DRAWS and as_large < ENOUGH:
        if 2 * as_large >= ENOUGH and as_large >= 0.2 * drawn:
            break
        shift = np.zeros(ballots.votes.n_items)
        if moved:
            shift[items] = [null.score_error[item] * stream.normal() for item in items]
        wins = np.zeros(end - start)
        halves = stream.halves(int(single.sum()))
        for c, around in zip(in_turn, turned, strict=True):
            n, p = null.trials[c], null.p[c]
            chance = 1.0 - p if around else p
            won = next(halves) < chance if n == 1 else stream.binomial(n, chance)
            wins[c - start] = n - won if around else won
        apart = shift[ballots.left[cells]] - shift[ballots.right[cells]]
        residual = wins - expected - (null.trials * null.slope)[cells] * apart
        as_large += taste_size(ballots, cells, residual, null) >= observed * (1 - 1e-9)
        drawn += 1
    return observed, drawn, as_large


def make_ballots(*, loss: str, repeated: bool, with_features: bool) -> Ballots:
    """Few votes each, of one trial or (repeated) of up to several hundred."""
    rng = np.random.default_rng(3)
    votes = simulate_crowd(600, 25, 7, deviants=2, clickers=2, seed=8).votes
    weight = rng.choice([1.0, 2.0, 5.0, 600.0], votes.n_rows) if repeated else votes.weight
    votes = Votes.from_codes(
        votes.annotator,
        votes.left,
        votes.right,
        votes.choice,
        weight,
        annotators=votes.annotators,
        items=votes.items,
        position_known=rng.random(votes.n_rows) < 0.8,
    )
    return Ballots.of(votes, loss=loss, features=rng.normal(size=(7, 2)) if with_features else None)


@pytest.fixture(
    params=[
        ("bradley-terry", False, False),
        ("bradley-terry", True, False),
        ("thurstone-mosteller", False, True),
    ],
    ids=["single votes", "repeated votes", "probit with features"],
)
def tested(request) -> tuple[Ballots, NullModel]:
    loss, repeated, with_features = request.param
    ballots = make_ballots(loss=loss, repeated=repeated, with_features=with_features)
    rng = np.random.default_rng(4)
    margin = ballots.margin(rng.normal(size=7), rng.normal(size=25))
    p = ballots.probability(margin)
    error = rng.uniform(0.2, 0.5, 7)
    return ballots, NullModel(ballots.trials, ballots.wins, p, ballots.slope(margin), error)


@pytest.mark.parametrize("moved", [False, True])
def test_taste_kernel_is_the_plain_reference(tested, moved):
    ballots, null = tested
    report = np.zeros((25, N_REPORTED))
    who, how = np.arange(25), Sequential(np.uint64(5), N_DRAWS, ENOUGH)
    order = ballots.draw_order
    taste_shard(who, ballots.design, null, np.full(25, moved), order, how, report)
    for u in who.tolist():
        observed, drawn, as_large = reference_taste(ballots, null, u, moved, 5)
        assert report[u, OBSERVED] == pytest.approx(observed, rel=1e-9, abs=1e-9)
        assert (report[u, DRAWN], report[u, AS_LARGE]) == (drawn, as_large)


def test_chance_of_the_votes_is_a_product_of_binomials(tested):
    from scipy.stats import binom

    ballots, null = tested
    found = np.zeros(25)
    log_chance_shard(np.arange(25), ballots.design, null, found)
    each = binom.logpmf(ballots.wins, ballots.trials, null.p)
    np.testing.assert_allclose(found, ballots.sum_by_annotator(each), rtol=1e-8)
