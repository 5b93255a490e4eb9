"""Ballots, common scores, leans and p-values, each against an independent computation."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize
from scipy.special import expit, log_ndtr
from scipy.stats import binom, chi2

from prefpath import VoteError, Votes, simulate_crowd
from prefpath.diagnose.ballots import Ballots
from prefpath.diagnose.consensus import CommonModel
from prefpath.diagnose.lean import estimate_leans
from prefpath.diagnose.pvalues import Draws, lean_p_values, taste_p_values


@pytest.fixture(scope="module")
def crowd():
    return simulate_crowd(3_000, 30, 6, deviants=2, clickers=2, ties=0.1, seed=5)


# ---------------------------------------------------------------- ballots


def test_ties_are_left_out_and_strengths_count_by_sign():
    votes = Votes.from_arrays(["a"] * 4, list("xxxy"), list("yyyx"), [0.3, -0.9, 0.0, 1.0])
    ballots = Ballots.of(votes, loss="linear")
    assert ballots.trials.tolist() == [2.0, 1.0]
    assert ballots.wins.tolist() == [1.0, 1.0]


def test_whole_weights_are_votes_and_others_are_not():
    whole = Votes.from_arrays(["a", "a"], ["x", "x"], ["y", "y"], [1, -1], [3.0, 2.0])
    assert Ballots.of(whole).trials.tolist() == [5.0]
    broken = Votes.from_arrays(["a", "a"], ["x", "x"], ["y", "y"], [1, -1], [3.5, 0.2])
    assert Ballots.of(broken).trials.tolist() == [2.0]


def test_nothing_but_ties_is_an_error():
    votes = Votes.from_arrays(["a"], ["x"], ["y"], ["tie"])
    with pytest.raises(VoteError, match="every vote is a tie"):
        Ballots.of(votes)


# ---------------------------------------------------------------- common scores


@pytest.mark.parametrize("loss", ["bradley-terry", "thurstone-mosteller"])
@pytest.mark.parametrize("with_features", [False, True])
def test_common_scores_maximise_the_likelihood(crowd, loss, with_features):
    votes = crowd.votes
    phi = np.random.default_rng(0).normal(size=(6, 2)) if with_features else np.eye(6)
    ballots = Ballots.of(votes, loss=loss, features=phi if with_features else None)
    found = CommonModel(ballots, common_position=True).fit()
    log_win = log_ndtr if loss == "thurstone-mosteller" else lambda m: -np.logaddexp(0.0, -m)
    rows = votes.without_ties()

    def cost(x):
        scores = phi @ x[:-1]
        margin = scores[rows.left] - scores[rows.right] + x[-1]
        return -np.sum(rows.weight * log_win(rows.choice * margin)) + 0.005 * x @ x

    best = minimize(cost, np.zeros(phi.shape[1] + 1), tol=1e-10).x
    scores = phi @ best[:-1]
    np.testing.assert_allclose(found.scores, scores - scores.mean(), atol=2e-4)
    assert found.position == pytest.approx(best[-1], abs=2e-4)


def test_many_items_are_solved_as_few_are():
    crowd = simulate_crowd(4_000, 20, 90, deviants=0, clickers=0, seed=2)
    ballots = Ballots.of(crowd.votes)
    found = CommonModel(ballots).fit()
    residual = ballots.wins - ballots.trials * expit(ballots.margin(found.scores))
    pull = np.bincount(ballots.left, residual, 90) - np.bincount(ballots.right, residual, 90)
    shrunk = 0.01 * found.scores
    np.testing.assert_allclose(pull - shrunk, (pull - shrunk).mean(), atol=1e-5)


def test_annotators_can_be_left_out(crowd):
    ballots = Ballots.of(crowd.votes)
    weight = np.ones(30)
    weight[:10] = 0.0
    kept = crowd.votes.take(crowd.votes.annotator >= 10)
    alone = CommonModel(Ballots.of(kept)).fit()
    np.testing.assert_allclose(CommonModel(ballots).fit(weight).scores, alone.scores, atol=1e-7)


# ---------------------------------------------------------------- leans


def _clicks(left: int, right: int, **how) -> Ballots:
    choice = [1] * left + [-1] * right
    n = left + right
    return Ballots.of(Votes.from_arrays(["a"] * n, ["x"] * n, ["y"] * n, choice), **how)


@given(st.integers(0, 60), st.integers(0, 60))
def test_lean_without_offset_is_the_log_odds_with_half_clicks(left, right):
    if left + right == 0:
        return
    found = estimate_leans(_clicks(left, right), np.zeros(1))
    assert found.estimate[0] == pytest.approx(np.log((left + 0.5) / (right + 0.5)), abs=1e-8)

    def fall(lean):
        def log_likelihood(x):
            win, lose = -np.logaddexp(0.0, -x), -np.logaddexp(0.0, x)
            return (left + 0.5) * win + (right + 0.5) * lose

        return 2.0 * (log_likelihood(found.estimate[0]) - log_likelihood(lean)) - chi2.isf(0.05, 1)

    assert found.low[0] == pytest.approx(brentq(fall, -40, found.estimate[0]), abs=1e-6)
    assert found.high[0] == pytest.approx(brentq(fall, found.estimate[0], 40), abs=1e-6)


@pytest.mark.parametrize("loss", ["bradley-terry", "thurstone-mosteller"])
def test_swapping_all_sides_turns_the_lean_around(crowd, loss):
    votes = crowd.votes
    swapped = Votes.from_codes(
        votes.annotator,
        votes.right,
        votes.left,
        -votes.choice,
        votes.weight,
        annotators=votes.annotators,
        items=votes.items,
    )
    scores = crowd.scores
    one, other = (Ballots.of(each, loss=loss) for each in (votes, swapped))
    a, b = (estimate_leans(each, each.margin(scores)) for each in (one, other))
    np.testing.assert_allclose(a.estimate, -b.estimate, atol=1e-8)
    np.testing.assert_allclose(a.low, -b.high, atol=1e-6)


def test_lean_intervals_cover_the_truth():
    crowd = simulate_crowd(40_000, 1_000, 8, activity="even", deviants=0, clickers=500, seed=3)
    ballots = Ballots.of(crowd.votes)
    found = estimate_leans(ballots, ballots.margin(crowd.scores))
    covered = (found.low <= crowd.position_bias) & (crowd.position_bias <= found.high)
    assert 0.93 <= covered.mean() <= 0.975


# ---------------------------------------------------------------- p-values


def test_lean_p_value_is_the_share_of_all_swaps():
    """Against every one of the 2^m ways to swap sides."""
    rng = np.random.default_rng(4)
    items = list("abcde")
    pairs = [rng.choice(items, 2, replace=False) for _ in range(9)]
    left, right = zip(*pairs, strict=True)
    choice = [1, 1, 1, 1, -1, 1, 1, 1, 1]
    votes = Votes.from_arrays(["u"] * 9, left, right, choice)
    ballots = Ballots.of(votes)
    offset = ballots.margin(np.linspace(-1, 1, votes.n_items))
    p = expit(offset)
    sizes = np.repeat(
        np.r_[1 - p, p], np.r_[ballots.wins, ballots.trials - ballots.wins].astype(int)
    )
    observed = abs(np.sum(ballots.wins - ballots.trials * p))
    sums = [abs(np.dot(signs, sizes)) for signs in product((-1, 1), repeat=9)]
    exact = np.mean(np.array(sums) >= observed * (1 - 1e-9))
    found = lean_p_values(ballots, offset, np.array([True]))
    assert found[0] == pytest.approx(exact, rel=1e-9)


def test_a_lean_that_all_share_is_nobodys_own():
    """All choose the left of two equal items in 95 %: 20 of 20 are no news, half of them are."""
    rng, shared, n_people = np.random.default_rng(0), np.log(19.0), 400
    scores, who = np.linspace(-1, 1, 6), np.repeat(np.arange(n_people), 20)
    left = rng.integers(6, size=len(who))
    right = (left + rng.integers(1, 6, size=len(who))) % 6
    lean = np.where(who == 0, 0.0, shared)
    won = rng.random(len(who)) < expit(scores[left] - scores[right] + lean)
    votes = Votes.from_arrays(who, left, right, np.where(won, 1, -1), items=range(6))
    ballots = Ballots.of(votes)
    margin = ballots.add_lean(ballots.margin(scores), shared)
    found = lean_p_values(ballots, margin, np.ones(n_people, dtype=bool), shared=shared)
    assert found[0] < 1e-4
    always_left = np.bincount(who, won, n_people) == 20
    assert always_left.sum() > 50 and found[always_left].min() > 0.1
    for level in (0.01, 0.05, 0.2):
        assert np.mean(found[1:] <= level) <= level + 2.5 * np.sqrt(level / n_people)


def test_taste_p_value_is_the_share_of_all_outcomes():
    """Against every outcome of ten votes, weighted by its probability; no sides, no lean."""
    left, right = list("abcabdacbd"), list("bcaddabdcc")
    choice = np.array([1, -1, -1, 1, 1, -1, 1, 1, -1, 1])
    votes = Votes.from_arrays(["u"] * 10, left, right, choice, position_known=False)
    ballots = Ballots.of(votes)
    margin = ballots.margin(np.array([1.0, 0.2, -0.3, -0.9]))
    p = expit(margin)
    n = ballots.trials.astype(int)

    def size(wins):
        residual = wins - ballots.trials * p
        pull = np.bincount(ballots.left, residual, 4) - np.bincount(ballots.right, residual, 4)
        return pull @ pull

    observed, exact = size(ballots.wins), 0.0
    for wins in product(*(range(k + 1) for k in n)):
        if size(np.array(wins)) >= observed * (1 - 1e-9):
            exact += np.prod(binom.pmf(wins, n, p))
    nobody = np.array([False])
    found = [
        taste_p_values(ballots, margin, np.zeros(4), nobody, ~nobody, Draws(5_000, s))[0]
        for s in range(100)
    ]
    assert np.mean(found) == pytest.approx(exact, rel=0.1)


def test_p_values_do_not_depend_on_threads_and_do_on_the_seed(crowd):
    ballots = Ballots.of(crowd.votes)
    margin = ballots.margin(crowd.scores)
    everybody, nobody = np.ones(30, dtype=bool), np.zeros(30, dtype=bool)
    one, two, other = (
        taste_p_values(ballots, margin, np.zeros(6), nobody, everybody, draws)
        for draws in (Draws(300, 1, 1), Draws(300, 1, 2), Draws(300, 2, 1))
    )
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


def test_a_lean_alone_is_no_taste():
    crowd = simulate_crowd(40_000, 500, 10, activity="even", deviants=0, clickers=1.0, seed=6)
    ballots = Ballots.of(crowd.votes)
    everybody, nobody = np.ones(500, dtype=bool), np.zeros(500, dtype=bool)
    plain = ballots.margin(crowd.scores)
    own = estimate_leans(ballots, plain, interval=False).estimate
    p = taste_p_values(
        ballots, ballots.margin(crowd.scores, own), np.zeros(10), nobody, everybody, Draws(400, 0)
    )
    assert (p <= 0.05).mean() <= 0.08
