"""Who is named: planted annotators, the target rate, heavy annotators, and bad input."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath import SettingError, VoteError, Votes, simulate_crowd
from prefpath.diagnose import discover
from prefpath.diagnose.multiplicity import benjamini_hochberg, simes


def test_the_false_discovery_rate_is_at_most_the_target_and_power_is_high():
    false = {"lean": [], "taste": []}
    found = {"lean": [], "taste": []}
    for seed in range(20):
        crowd = simulate_crowd(8_000, 100, 12, activity="even", seed=seed)
        named = discover(crowd.votes, q=0.1, seed=seed)
        for kind, who, truth in (
            ("lean", named.who_leans, crowd.clickers),
            ("taste", named.who_deviates, crowd.deviants),
        ):
            wrong = ~np.isin(who, truth)
            false[kind].append(wrong.sum() / max(1, len(who)))
            found[kind].append((~wrong).sum() / len(truth))
    for kind in ("lean", "taste"):
        error = np.std(false[kind], ddof=1) / np.sqrt(20)
        assert np.mean(false[kind]) <= 0.1 + 2 * error
        assert np.mean(found[kind]) >= 0.9


def test_p_values_of_followers_are_even():
    crowd = simulate_crowd(40_000, 1_000, 10, activity="even", deviants=0, clickers=0, seed=3)
    named = discover(crowd.votes)
    for p in (named.p_lean, named.p_taste):
        for level in (0.01, 0.05, 0.2):
            error = np.sqrt(level / 1_000)
            assert np.mean(p <= level) <= level + 3 * error


def test_deviants_are_taken_out_of_the_common_scores():
    crowd = simulate_crowd(40_000, 200, 12, activity="even", deviants=0.2, clickers=0.2, seed=1)
    named = discover(crowd.votes)
    truth = crowd.scores - crowd.scores.mean()
    slope = (named.consensus.scores @ truth) / (truth @ truth)
    assert slope == pytest.approx(1.0, abs=0.05)
    assert named.set_aside.sum() >= 60


def test_few_heavy_annotators_can_be_told_apart():
    crowd = simulate_crowd(6_000, 4, 8, activity="even", deviants=1, clickers=1, seed=2)
    named = discover(crowd.votes)
    assert crowd.clickers[0] in named.who_leans
    assert crowd.deviants[0] in named.who_deviates


def test_who_cast_most_votes_is_measured_against_the_others():
    """Scores that are mostly their own would hide what a thousand votes of the others show."""
    generator = np.random.default_rng(12)
    who = np.repeat(np.arange(21), [4_000, *[50] * 20])
    left = generator.integers(0, 10, len(who))
    right = (left + generator.integers(1, 10, len(who))) % 10
    for shift, named in ((1.2, True), (0.0, False)):
        own = shift * (who == 0) * ((left == 9) * 1.0 - (right == 9))
        margin = (right - left) / 3.0 + own
        choice = np.where(generator.random(len(who)) < 1.0 / (1.0 + np.exp(-margin)), 1.0, -1.0)
        found = discover(Votes.from_arrays(who, left, right, choice))
        assert found.deviating[found.annotators.tolist().index(0)] == named
        assert found.deviating.sum() <= 1 + named


def test_everybody_a_little_is_ordinary_under_the_empirical_null():
    rng = np.random.default_rng(0)
    n, items = 80, 10
    taste = rng.normal(size=(n, items)) * np.where(np.arange(n) < 4, 3.0, 0.5)[:, None]
    score = rng.normal(size=items) + taste
    who = np.repeat(np.arange(n), 150)
    left = rng.integers(0, items, len(who))
    right = (left + rng.integers(1, items, len(who))) % items
    chance = 1 / (1 + np.exp(score[who, right] - score[who, left]))
    votes = Votes.from_arrays(who, left, right, np.where(rng.random(len(who)) < chance, 1, -1))
    strict, lenient = discover(votes), discover(votes, null="empirical")
    assert strict.deviating.mean() > 0.5
    assert strict.null_shift["taste"] > 0.5
    assert lenient.deviating[:4].all()
    assert lenient.deviating[4:].sum() <= 4


def test_the_seed_decides():
    crowd = simulate_crowd(3_000, 60, 8, seed=4)
    one, same, other = (discover(crowd.votes, seed=s).p_taste for s in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_unknown_sides_are_not_tested_for_a_lean():
    crowd = simulate_crowd(2_000, 20, 6, seed=4)
    votes = crowd.votes
    blind = Votes.from_codes(
        votes.annotator,
        votes.left,
        votes.right,
        votes.choice,
        annotators=votes.annotators,
        items=votes.items,
        position_known=False,
    )
    named = discover(blind)
    assert np.isnan(named.p_lean).all() and not named.leaning.any()
    assert not np.isnan(named.p_taste).all()


def test_features_and_normal_choices_are_tested_too():
    phi = np.random.default_rng(1).normal(size=(20, 3))
    crowd = simulate_crowd(
        8_000,
        60,
        20,
        activity="even",
        deviants=4,
        clickers=4,
        features=phi,
        model="thurstone-mosteller",
        seed=8,
    )
    named = discover(crowd.votes, loss="thurstone-mosteller", features=phi)
    assert set(crowd.clickers) <= set(named.who_leans)
    assert set(crowd.deviants) <= set(named.who_deviates)
    assert len(named.who_deviates) <= 6


def test_a_lean_everybody_shares_is_nobodys():
    rng = np.random.default_rng(3)
    who = np.repeat(np.arange(30), 100)
    left = rng.integers(0, 5, len(who))
    right = (left + rng.integers(1, 5, len(who))) % 5
    margin = 0.5 * (left - right) + 1.0
    choice = np.where(rng.random(len(who)) < 1 / (1 + np.exp(-margin)), 1, -1)
    votes = Votes.from_arrays(who, left, right, choice)
    assert discover(votes).leaning.mean() > 0.9
    shared = discover(votes, common_position=True)
    assert shared.leaning.sum() <= 2
    assert shared.consensus.position == pytest.approx(1.0, abs=0.15)
    only_shared = discover(votes, position_bias=False, common_position=True)
    assert np.isnan(only_shared.p_lean).all()
    assert only_shared.consensus.position == pytest.approx(shared.consensus.position, abs=0.05)


# ---------------------------------------------------------------- bad input


def test_who_is_on_any_list_is_one_list_at_the_rate_too():
    crowd = simulate_crowd(4_000, 100, 10, activity="even", deviants=8, clickers=8, seed=3)
    found = discover(crowd.votes, q=0.1)
    stand_out = benjamini_hochberg(simes(found.p_lean, found.p_taste, found.p_attention), 0.1)
    for kind in ("position_bias", "deviation", "attention"):
        alone = benjamini_hochberg(found.p(kind), 0.1)
        np.testing.assert_array_equal(found.named(kind), alone & stand_out)
    named = found.leaning | found.deviating | found.unlike_in_attention
    assert 10 <= named.sum() <= 20


def test_with_a_shared_lean_who_does_not_look_or_sees_otherwise_does_not_lean():
    """The winner stands on the left as often as how sharply somebody chooses says."""
    rng = np.random.default_rng(0)
    n, n_items, each = 80, 12, 150
    scores, own = rng.normal(size=n_items), 1.5 * rng.normal(size=(n, n_items))
    slope = np.where(np.arange(n) < 10, 0.0, 1.0)  # ten do not look
    other = (np.arange(n) >= 10) & (np.arange(n) < 20)  # the next ten have tastes of their own
    who = np.repeat(np.arange(n), each)
    left = rng.integers(0, n_items, len(who))
    right = (left + rng.integers(1, n_items, len(who))) % n_items
    apart = slope[who] * (scores[left] - scores[right])
    apart = np.where(other[who], own[who, left] - own[who, right], apart)
    leaning = np.where(who == n - 1, 2.5, 0.8)
    choice = np.where(rng.random(len(who)) < 1 / (1 + np.exp(-apart - leaning)), 1, -1)
    found = discover(Votes.from_arrays(who, left, right, choice), common_position=True)
    order = np.argsort(found.annotators.astype(int))
    assert np.mean(found.p_lean[order][:20] < 0.05) <= 0.1
    assert found.leaning[order][n - 1] and found.leaning.sum() <= 2


@pytest.fixture
def votes():
    return simulate_crowd(600, 12, 5, seed=0).votes


@pytest.mark.parametrize("q", [0, 1, 2.0, -0.1, float("nan")])
def test_q_lies_between_0_and_1(votes, q):
    with pytest.raises(SettingError, match="q is"):
        discover(votes, q=q)


@pytest.mark.parametrize(
    ("setting", "says"),
    [({"null": "none"}, "null is"), ({"n_draws": 5}, "n_draws is"), ({"least_votes": 0}, "least")],
)
def test_settings_are_checked(votes, setting, says):
    with pytest.raises(SettingError, match=says):
        discover(votes, **setting)


def test_one_annotator_has_nobody_to_differ_from(votes):
    with pytest.raises(VoteError, match="one annotator"):
        discover(Votes.from_arrays(["a"] * 9, ["x"] * 9, ["y"] * 9, [1] * 9))


def test_too_few_votes_are_said_with_what_would_do():
    votes = Votes.from_arrays(["a", "b"], ["x", "x"], ["y", "y"], [1, -1])
    with pytest.raises(VoteError, match="no annotator has 5 votes"):
        discover(votes)


def test_the_empirical_null_needs_many(votes):
    with pytest.raises(VoteError, match="at least 50"):
        discover(votes, null="empirical")
