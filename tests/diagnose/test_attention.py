"""The slope on the common scores: derivatives, intervals, tests, own votes left out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_ndtr

from prefpath import PreferenceModel, SettingError, Votes
from prefpath.diagnose import discover
from prefpath.diagnose.attention import measure_attention
from prefpath.diagnose.attention_likelihood import (
    AttentionCells,
    derivatives,
    likelihood_and_gradient,
)
from prefpath.diagnose.ballots import Ballots
from prefpath.diagnose.consensus import CommonModel
from prefpath.diagnose.exponentials import make_room
from prefpath.diagnose.without_own import CommonMargins, margins_without_own


def crowd(slope, each, *, items=12, lean=0.0, seed=0):
    """One annotator for each slope, `each` votes on scores that are returned."""
    rng = np.random.default_rng(seed)
    slope, score = np.asarray(slope, dtype=float), rng.normal(0, 1.3, items)
    who = np.repeat(np.arange(len(slope)), each)
    left = rng.integers(0, items, len(who))
    right = (left + rng.integers(1, items, len(who))) % items
    chance = expit(slope[who] * (score[left] - score[right]) + lean)
    choice = np.where(rng.random(len(who)) < chance, 1, -1)
    return Votes.from_arrays(who, left, right, choice), score


def measured(votes, score, *, loss="bradley-terry", own_lean=False):
    ballots = Ballots.of(votes, loss=loss)
    difference = ballots.margin(score[votes.items.astype(int)])
    margins = CommonMargins(difference, np.zeros(ballots.design.seen[-1]), 1.0)
    everybody = np.ones(ballots.n_annotators, dtype=bool)
    return measure_attention(ballots, margins, everybody, own_lean=everybody & own_lean), ballots


@pytest.mark.parametrize("probit", [False, True])
def test_derivatives_are_differences_of_the_likelihood(probit):
    room = make_room(100)
    rng = np.random.default_rng(2)
    trials = rng.integers(1, 4, 9).astype(float)
    wins = np.floor(trials * rng.random(9) + 0.5)
    places = np.zeros(9, dtype=np.uint32)
    cells = AttentionCells(
        rng.normal(size=9), trials, wins, rng.integers(0, 2, 9).astype(np.int8), places, places
    )

    def height(slope, lean):
        return likelihood_and_gradient(cells, slope, lean, 1.2, probit, room)[0]

    at, h = (0.7, -0.4), 1e-5
    in_slope, in_lean, *_ = derivatives(cells, *at, 1.2, probit, room)
    by_slope = (height(at[0] + h, at[1]) - height(at[0] - h, at[1])) / (2 * h)
    by_lean = (height(at[0], at[1] + h) - height(at[0], at[1] - h)) / (2 * h)
    assert in_slope == pytest.approx(by_slope, rel=1e-6)
    assert in_lean == pytest.approx(by_lean, rel=1e-6)
    assert likelihood_and_gradient(cells, *at, 1.2, probit, room)[1] == pytest.approx(in_slope)


@pytest.mark.parametrize("loss", ["bradley-terry", "thurstone-mosteller"])
def test_the_estimate_maximises_the_likelihood_with_half_votes(loss):
    votes, score = crowd([1.0, 0.3, -0.8], 60, lean=0.6)
    found, ballots = measured(votes, score, loss=loss, own_lean=True)
    log_win = log_ndtr if loss == "thurstone-mosteller" else lambda m: -np.logaddexp(0.0, -m)
    difference = ballots.margin(score[votes.items.astype(int)])
    for u in range(3):
        mine = ballots.annotator == u
        d, n, wins = difference[mine], ballots.trials[mine], ballots.wins[mine]
        typical = np.sqrt(np.average(d**2, weights=n))

        def cost(x, d=d, n=n, wins=wins, typical=typical):
            m = x[0] * d + x[1]
            half = [x[0] * typical, x[1]]
            prior = 0.5 * np.sum(log_win(np.array(half)) + log_win(-np.array(half)))
            return -np.sum(wins * log_win(m) + (n - wins) * log_win(-m)) - prior

        best = minimize(cost, [1.0, 0.0], tol=1e-10)
        assert found.estimate[u] == pytest.approx(best.x[0], abs=2e-3)
        for end in (found.low[u], found.high[u]):
            inner = minimize(lambda g, end=end, cost=cost: cost([end, g[0]]), [0.0], tol=1e-10)
            assert 2 * (inner.fun - best.fun) == pytest.approx(3.841, abs=0.1)


@pytest.mark.parametrize("slope", [-1.0, 0.0, 0.4, 1.0, 2.0])
@pytest.mark.parametrize("each", [15, 60])
def test_intervals_cover_the_truth(slope, each):
    votes, score = crowd(np.full(400, slope), each, seed=4)
    found, _ = measured(votes, score)
    covered = np.mean((found.low <= slope) & (slope <= found.high))
    assert covered >= 0.92


@pytest.mark.parametrize("each", [6, 15, 60])
def test_p_values_of_followers_are_even(each):
    votes, score = crowd(np.ones(2_000), each, seed=5)
    found, _ = measured(votes, score)
    for level in (0.01, 0.05, 0.2):
        assert np.mean(found.p <= level) <= level + 3 * np.sqrt(level / 2_000)


def test_six_votes_that_all_agree_give_a_finite_interval():
    votes = Votes.from_arrays(["u"] * 6, list("012345"), list("123456"), [1] * 6)
    found, _ = measured(votes, np.linspace(2, -2, 7))
    assert np.isfinite([found.low[0], found.high[0]]).all()
    assert found.low[0] < found.estimate[0] < found.high[0] < 50


def test_a_lean_is_not_taken_for_inattention():
    votes, score = crowd(np.ones(300), 60, lean=2.0, seed=6)
    found, _ = measured(votes, score, own_lean=True)
    assert np.median(found.estimate) == pytest.approx(1.0, abs=0.1)
    assert np.mean(found.p <= 0.05) <= 0.09


@pytest.mark.parametrize("few", [True, False], ids=["NumPy", "kernels"])
def test_differences_that_rounding_made_say_nothing_of_attention(few, monkeypatch):
    """Of two judges one always clicks left: the other is not contrary to equal scores."""
    monkeypatch.setattr(Ballots, "are_few", property(lambda _: few))
    pairs = [("x", "y"), ("y", "x"), ("y", "z"), ("z", "y"), ("x", "z"), ("z", "x")] * 10
    of_taste = [1, -1, 1, -1, 1, 1] * 10
    left, right = zip(*(pairs * 2), strict=True)
    who = ["clicks"] * len(pairs) + ["looks"] * len(pairs)
    votes = Votes.from_arrays(who, left, right, [1] * len(pairs) + of_taste)
    found = PreferenceModel(cv=0, t_ratio=20.0).fit(votes).annotator_columns()
    assert sorted(found["annotator"]) == ["clicks", "looks"]
    for name in ("attention", "attention_low", "attention_high", "p_attention"):
        assert list(found[name]) == [None, None]
    assert "contrary" not in found["verdict"]


def test_own_votes_are_left_out_of_the_common_scores():
    """A heavy annotator's votes, refitted without, against a fit of the others alone."""
    votes, _ = crowd(np.ones(30), 80, items=8, seed=7)
    ballots = Ballots.of(votes)
    common = CommonModel(ballots)
    nobody = np.zeros(30, dtype=bool)
    found = margins_without_own(ballots, common, common.fit(), nobody)
    others = Ballots.of(votes.take(votes.annotator != 0))
    alone = CommonModel(others).fit().scores
    mine = ballots.annotator == 0
    expected = alone[ballots.left[mine]] - alone[ballots.right[mine]]
    slope = (found.difference[mine] @ expected) / (expected @ expected)
    np.testing.assert_allclose(found.difference[mine], slope * expected, atol=0.05)
    one_step = margins_without_own(ballots, common, common.fit(), nobody, refit=False)
    np.testing.assert_allclose(found.difference, one_step.difference, atol=0.08)


def test_contrary_and_random_annotators_are_named_at_the_target_rate():
    false, power = [], []
    for seed in range(10):
        slope = np.r_[np.full(8, -1.0), np.zeros(8), np.ones(144)]
        votes, _ = crowd(slope, 50, seed=seed)
        found = discover(votes)
        named = found.who("attention").astype(int)
        odd = named < 16
        false.append(np.mean(~odd) if len(named) else 0.0)
        power.append(odd.sum() / 16)
    assert np.mean(false) <= 0.1 + 2 * np.std(false, ddof=1) / np.sqrt(10)
    assert np.mean(power) >= 0.9


def test_a_kind_of_effect_is_checked():
    votes, _ = crowd(np.ones(20), 20)
    found = discover(votes)
    with pytest.raises(SettingError, match="kind is 'taste'"):
        found.who("taste")
    assert found.named("attention") is found.unlike_in_attention
