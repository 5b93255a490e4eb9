"""Attention as a distribution: who answers at random is told from who follows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from prefpath import Votes
from prefpath.model.losses import as_loss
from prefpath.model.problem import Problem
from prefpath.predict import Comparisons
from prefpath.weak.effects import Shares, WeakEffects
from prefpath.weak.layout import Ballots
from prefpath.weak.margins import Moments
from prefpath.weak.mode import State, find_mode
from prefpath.weak.slopes import GRID, margin_of, mixed_margins, slope_weights
from prefpath.weak.strengths import GROUPS, Chosen, Entered, groups_of
from prefpath.weak.tuning import Judged, _best_if_clear, scale_of_margins

N_RANDOM, N_FOLLOW = 10, 30


@pytest.fixture(scope="module")
def mode() -> tuple[Ballots, Chosen, State]:
    """A quarter of 40 annotators with 60 votes each answer at random."""
    rng = np.random.default_rng(0)
    n, n_items = 60 * (N_RANDOM + N_FOLLOW), 8
    who = np.repeat(np.arange(N_RANDOM + N_FOLLOW), 60)
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    theta = np.linspace(-1.5, 1.5, n_items)
    margin = (who >= N_RANDOM) * (theta[left] - theta[right])
    choice = np.where(rng.random(n) < expit(margin), 1.0, -1.0)
    ballots = Ballots.of(Problem.build(Votes.from_arrays(who, left, right, choice)))
    tau = np.zeros(len(GROUPS))
    tau[[1, 8]] = 1.0, 0.6  # scores and attention
    groups = groups_of(ballots, nobody(ballots))
    chosen = Chosen(tau)
    return (
        ballots,
        chosen,
        find_mode(chosen.posterior(ballots, groups), np.zeros(groups.flat().size)),
    )


def nobody(ballots: Ballots) -> Entered:
    none = np.zeros(ballots.votes.n_annotators, dtype=bool)
    return Entered(none, none, none)


def test_each_has_a_distribution_and_random_voters_have_slopes_near_zero(mode) -> None:
    ballots, _, state = mode
    weight = slope_weights(ballots, state, 0.6)
    np.testing.assert_allclose(weight.sum(axis=1), 1.0)
    slope = weight @ GRID
    assert np.median(np.abs(slope[:N_RANDOM])) < 0.2
    assert np.median(slope[N_RANDOM:]) > 0.9
    # the crowd has two kinds, so a follower's slope varies less than a normal prior leaves it
    assert spread(slope[N_RANDOM:]) < 0.5 * spread(state.terms.attention[N_RANDOM:])


def test_who_votes_as_nobody_should_has_a_slope_all_the_same(mode) -> None:
    """A thousand times the votes and a crowd that is said to see alike: no likelihood is left."""
    ballots, _, state = mode
    weight = slope_weights(ballots.with_weight(1_000.0 * ballots.weight), state, 0.01)
    np.testing.assert_allclose(weight.sum(axis=1), 1.0)


def spread(values: np.ndarray) -> float:
    """Median distance from the median."""
    return float(np.median(np.abs(values - np.median(values))))


def test_where_all_follow_nobody_is_taken_for_another(mode) -> None:
    ballots, chosen, _ = mode
    kept = np.where(ballots.votes.annotator >= N_RANDOM, ballots.weight, 0.0)
    followers = ballots.with_weight(kept)
    groups = groups_of(followers, nobody(followers))
    state = find_mode(chosen.posterior(followers, groups), np.zeros(groups.flat().size))
    slope = slope_weights(followers, state, 0.6)[N_RANDOM:] @ GRID
    assert slope.std() < 0.1


@pytest.mark.parametrize("loss", ["bradley-terry", "thurstone-mosteller"])
def test_a_mixed_margin_is_that_of_the_mean_probability(loss: str) -> None:
    link = {"bradley-terry": expit, "thurstone-mosteller": norm.cdf}[loss]
    gap, rest = np.array([0.7, -1.1]), np.array([0.2, -0.3])
    weight = np.zeros((2, len(GRID)))
    weight[:, 16], weight[:, 24] = 0.25, 0.75  # slopes 0 and 1
    margin = mixed_margins(as_loss(loss), gap, rest, weight)
    np.testing.assert_allclose(link(margin), 0.25 * link(rest) + 0.75 * link(gap + rest), rtol=1e-9)
    np.testing.assert_allclose(margin_of(as_loss(loss), link(rest)), rest, rtol=1e-9)


def test_effects_predict_by_their_distribution_where_it_is_asked_for(mode) -> None:
    ballots, chosen, state = mode
    groups = groups_of(ballots, nobody(ballots))
    posterior = chosen.posterior(ballots, groups)
    plain, mixed = (
        WeakEffects.at(ballots, nobody(ballots), chosen, posterior, state, Shares(0.0, mixed=how))
        for how in (False, True)
    )
    asked = ballots.votes
    rows = Comparisons.of(asked, np.flatnonzero(asked.annotator < N_RANDOM))
    assert plain.slopes is None
    assert np.abs(mixed.margins(rows)).mean() < 0.75 * np.abs(plain.margins(rows)).mean()
    np.testing.assert_array_equal(
        replace(mixed, shares=Shares(0.0)).margins(rows), plain.margins(rows)
    )


def judged(cost: np.ndarray, share: float) -> Judged:
    return Judged(np.zeros(len(cost)), cost, np.ones(len(cost)), Shares(share))


def test_another_share_must_be_clearly_better() -> None:
    rng = np.random.default_rng(1)
    first = judged(rng.normal(1.0, 0.1, 1_000), 1.0)
    noise = rng.normal(0.0, 0.1, 1_000)
    noise -= noise.mean()
    hardly, clearly = (judged(first.cost + noise - gain, 0.0) for gain in (0.004, 0.02))
    assert _best_if_clear([first, hardly]).shares.additive == 1.0  # error 0.003: 1.3 of them
    assert _best_if_clear([first, clearly]).shares.additive == 0.0


def test_margins_are_scaled_only_where_votes_are_sure_of_it() -> None:
    rng = np.random.default_rng(2)
    margin, loss = rng.normal(0, 1, 20_000), as_loss("bradley-terry")
    choice = np.where(rng.random(20_000) < expit(1.3 * margin), 1.0, -1.0)
    many = Judged(margin, margin, np.ones(20_000), Shares())
    assert scale_of_margins(loss, many, choice) == pytest.approx(1.3, abs=0.06)
    few = Judged(margin[:60], margin[:60], np.ones(60), Shares())
    assert scale_of_margins(loss, few, choice[:60]) == 1.0


def test_moments_are_plain_where_no_distribution_was_asked_for() -> None:
    found = Moments(np.array([2.0]), np.array([8.0 / np.pi * 3.0]), np.array([5.0]))
    loss = as_loss("bradley-terry")
    assert Shares().margins(loss, found)[0] == pytest.approx(1.0)  # 2 / sqrt(1 + 3)
    assert Shares(0.0, mixed=True).margins(loss, found)[0] == pytest.approx(5.0)
