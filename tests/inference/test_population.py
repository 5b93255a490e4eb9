"""Whom an interval is about: these annotators, or all like them."""

from __future__ import annotations

import warnings

import by_hand
import numpy as np
import pytest
from test_sandwich_by_hand import before_anybody_enters, few_busy_annotators

from prefpath import PreferenceModel, SettingError, Votes, simulate_crowd, trust_panel
from prefpath.inference import common_scores
from prefpath.inference.consensus import fit_consensus
from prefpath.inference.evidence import gather_evidence
from prefpath.inference.mean_taste import mean_taste
from prefpath.inference.ranks import rank_intervals
from prefpath.inference.words import describe_intervals
from prefpath.leaderboard import interval_meaning
from prefpath.pairs import fit_bradley_terry, pool_votes


def fitted(votes: Votes, **settings) -> PreferenceModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PreferenceModel(n_times=8, t_ratio=8.0, cv=3, n_threads=1, **settings).fit(votes)


@pytest.fixture(scope="module")
def judges() -> PreferenceModel:
    crowd = simulate_crowd(1_000, 2, 6, activity="even", deviants=1, clickers=0, seed=4)
    return fitted(crowd.votes)


def test_the_mean_taste_is_that_of_a_mixed_model_by_hand():
    """Linear loss: the posterior mean and covariance of the average of everybody's own scores."""
    votes = few_busy_annotators()
    evidence = gather_evidence(before_anybody_enters(votes, loss="linear"), everybody=True)
    found = mean_taste(evidence, fit_consensus(evidence))
    plain, n, n_items = by_hand.PlainVotes.of(votes), votes.n_annotators, votes.n_items
    choice, own = 2.0 * plain.won - 1.0, np.zeros((len(plain.x), n * n_items))
    for u in range(n):  # everybody's own scores, side by side
        mine = plain.annotator == u
        own[mine, u * n_items : (u + 1) * n_items] = plain.x[mine]
    common = np.tile(np.eye(n_items), (n, 1))
    apart = np.eye(n * n_items) - common @ common.T / n  # a flat prior of what they share
    dispersion, average = 1.0, common.T / n
    centred = np.eye(n_items) - 1.0 / n_items
    for _ in range(20):
        inverse = np.linalg.pinv(own.T @ own / dispersion + apart / found.variance, rcond=1e-10)
        scores = inverse @ own.T @ choice / dispersion
        dispersion = np.mean((choice - own @ scores) ** 2)
    expected = centred @ average @ scores
    np.testing.assert_allclose(found.coefficient, expected, atol=0.02)
    covariance = centred @ average @ inverse @ average.T @ centred
    np.testing.assert_allclose(found.covariance, covariance, atol=0.03 * np.max(covariance))


def test_of_two_judges_who_differ_the_mean_taste_is_half_way_however_busy_one_is():
    rng = np.random.default_rng(1)
    own = np.array([[1.5, 0.5, -0.5, -1.5], [-1.0, 1.0, -1.0, 1.0]])
    who = np.repeat([0, 1], [900, 300])
    left = rng.integers(0, 4, len(who))
    right = (left + rng.integers(1, 4, len(who))) % 4
    chance = 1.0 / (1.0 + np.exp(own[who, right] - own[who, left]))
    votes = Votes.from_arrays(who, left, right, np.where(rng.random(len(who)) < chance, 1, -1))
    common = fitted(votes).common_scores().about_average()
    truth = own.mean(axis=0)[votes.items.astype(int)]
    assert np.all(np.abs(common.score - truth) < 2.5 * common.standard_error)
    assert np.all(common.standard_error < 0.2)
    low, high = common.interval(0.95)
    assert np.all((low <= common.score) & (common.score <= high))
    first, last = rank_intervals(common, 0.95)
    rank = np.argsort(np.argsort(-common.score)) + 1
    assert np.all((first <= rank) & (rank <= last))


def test_two_judges_are_spoken_of_themselves_and_their_intervals_are_of_use(judges):
    common = judges.common_scores()
    assert common.about == "these"
    assert common.degrees_of_freedom > 100
    low, high = common.interval(0.95)
    assert np.all(high - low < 1.5)
    wide = judges.common_scores(about="annotators")
    assert wide.about == "annotators" and wide.degrees_of_freedom == 1
    assert np.nanmedian(np.subtract(*wide.interval(0.95)[::-1])) > 3 * np.median(high - low)
    assert "these 2 annotators" in describe_intervals(judges.fitted_)
    assert "like these" in describe_intervals(judges.fitted_, "annotators")


def test_many_annotators_stand_for_others_unless_told_otherwise():
    crowd = simulate_crowd(1_500, 30, 5, deviants=0, clickers=0, seed=1)
    model = fitted(crowd.votes)
    assert model.common_scores().about == "annotators"
    columns = [model.ranking_columns(about=about) for about in (None, "annotators", "these")]
    assert columns[0]["score_low"] == columns[1]["score_low"]
    assert columns[0]["score_low"] != columns[2]["score_low"]
    assert model.win_probability("item 1", "item 2", about="these")["low"] is not None


def test_a_bootstrap_draws_annotators_and_says_so():
    model = fitted(simulate_crowd(600, 6, 4, seed=0).votes)
    assert model.common_scores("bootstrap", 50).about == "annotators"
    with pytest.raises(SettingError, match="draws annotators"):
        model.common_scores("bootstrap", 50, about="these")
    with pytest.raises(SettingError, match="about is 'everybody'"):
        model.ranking(about="everybody")


def test_the_trust_panel_fails_a_claim_about_others_made_from_few(judges):
    votes = judges.votes_
    assert trust_panel(votes)["enough annotators"].status == "passed"
    failed = trust_panel(votes, about="annotators")["enough annotators"]
    assert failed.status == "fail"
    assert failed.finding.startswith("2 annotators: too few")
    many = simulate_crowd(600, 12, 4, seed=0).votes
    assert trust_panel(many, about="annotators")["enough annotators"].status == "passed"


@pytest.mark.no_cover  # fifty fits of one kind
@pytest.mark.parametrize("deviants", [0, 2])
def test_intervals_about_these_hold_their_mean_taste(deviants):
    """Five annotators, 100 votes each; two of them with an own taste or none."""
    held = []
    for seed in range(25):
        crowd = simulate_crowd(
            500,
            5,
            5,
            activity="even",
            deviants=deviants,
            clickers=0,
            deviation_scale=0.5,
            seed=seed,
        )
        common = fitted(crowd.votes).common_scores().about_average()
        truth = crowd.scores + crowd.deviation.toarray().mean(axis=0)
        truth = truth - truth.mean()
        low, high = common.interval(0.95)
        held.append(np.mean((low <= truth) & (truth <= high)))
    assert 0.9 <= np.mean(held) <= 0.995


def test_a_minority_nobody_can_be_named_of_makes_the_common_score_a_mean():
    """30 % share another taste, 12 votes each: nobody stands out, the votes together do.

    Where everybody is shown to follow, it is the ranking most follow; where the votes leave it
    open, that is not claimed.
    """
    rng = np.random.default_rng(0)
    scores, other = rng.normal(size=6), rng.normal(size=6) * 2.0
    who = np.repeat(np.arange(300), 12)
    left = rng.integers(0, 6, len(who))
    right = (left + rng.integers(1, 6, len(who))) % 6
    own = scores + np.where(who[:, None] < 90, other, 0.0)
    rows = np.arange(len(who))
    chance = 1.0 / (1.0 + np.exp(own[rows, right] - own[rows, left]))
    mixed = Votes.from_arrays(who, left, right, np.where(rng.random(len(who)) < chance, 1, -1))
    model = before_anybody_enters(mixed)
    assert "the mean preference" in describe_intervals(model)
    common = common_scores(model).about_average()
    assert common.unseen_tastes
    margin = own[:, :, None] - own[:, None, :]
    truth = fitted_to((1.0 / (1.0 + np.exp(-margin))).mean(axis=0))[mixed.items.astype(int)]
    low, high = common.interval(0.95)
    assert np.all((low <= truth) & (truth <= high))
    few, many = (
        simulate_crowd(n, n // each, 6, activity="even", deviants=0, clickers=0, seed=0).votes
        for n, each in ((600, 5), (6_000, 60))
    )
    assert "the mean preference" in describe_intervals(before_anybody_enters(few))
    assert "for the ranking most" in describe_intervals(before_anybody_enters(many))


def fitted_to(chance: np.ndarray) -> np.ndarray:
    """Bradley-Terry scores that fit the chances of all pairs best."""
    score = np.zeros(len(chance))
    for _ in range(2_000):
        wrong = chance - 1.0 / (1.0 + np.exp(score[None, :] - score[:, None]))
        score += (wrong - wrong.T).sum(axis=1) / len(chance)
    return score - score.mean()


def test_who_sees_the_scores_otherwise_is_left_out_of_the_intervals():
    crowd = simulate_crowd(2_000, 20, 5, activity="even", deviants=0, clickers=0, seed=2)
    votes = crowd.votes
    flipped = np.where(votes.annotator < 3, -votes.choice, votes.choice)
    contrary = Votes.from_arrays(
        votes.annotators[votes.annotator], votes.items[votes.left], votes.items[votes.right],
        flipped, votes.weight,
    )  # fmt: skip
    model = fitted(contrary, attention=True)
    assert (model.path_.attention(model.t_) != 0).sum() >= 3
    low, high = model.common_scores().about_average().interval(0.95)
    truth = crowd.scores - crowd.scores.mean()
    assert np.mean((low <= truth) & (truth <= high)) >= 0.8


def test_a_mean_preference_without_the_contrary_says_that_they_are_left_out():
    """It was said to be everybody's, whose mean its intervals missed more often than not."""
    crowd = simulate_crowd(
        1_500, 30, 6, activity="even", deviants=0, clickers=0, contrary=0.2, seed=2
    )
    model = PreferenceModel(cv=3, n_threads=1).fit(crowd.votes)
    common = common_scores(model).about_average()
    contrary = model.fitted_.attention != 0.0
    assert common.unseen_tastes
    assert contrary.sum() == 6
    others = crowd.votes.take(~contrary[crowd.votes.annotator])
    pooled = fit_bradley_terry(pool_votes(others)).scores
    np.testing.assert_allclose(common.score, pooled - pooled.mean(), atol=0.02)
    said = describe_intervals(model.fitted_)
    assert (
        "annotators like 24 of these (the 6 other annotators see the ranking more or less" in said
    )
    assert "the 1 other annotator sees" in interval_meaning(30, 2, unseen=True, n_left_out=1)


def test_where_all_see_otherwise_half_of_the_votes_still_say_how_sure_scores_are():
    crowd = simulate_crowd(1_200, 12, 4, activity="even", deviants=0, clickers=0, seed=3)
    model = fitted(crowd.votes, attention=True)
    late = model.fitted_.at(float(model.path_.times[-1]))
    attention = np.linspace(0.1, 0.9, 12)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(type(late.path), "attention", lambda self, t: attention)
        evidence = gather_evidence(late)
        common = common_scores(late)
    assert 0.4 <= evidence.problem.weight.sum() / crowd.votes.total_weight <= 0.6
    used = evidence.problem.weight.reshape(-1) > 0
    assert (
        attention[crowd.votes.annotator[used]].max() < attention[crowd.votes.annotator[~used]].min()
    )
    assert np.all(common.standard_error > 0.05)


def test_the_mean_preference_counts_those_who_were_found_to_deviate():
    """35 % share another taste and some of them are found: the crowd's mean is of all of them."""
    rng = np.random.default_rng(3)
    scores, other = rng.normal(size=6), rng.normal(size=6)
    own = scores + np.where(np.arange(80)[:, None] < 28, other, 0.0)
    who = np.repeat(np.arange(80), 50)
    left = rng.integers(0, 6, len(who))
    right = (left + rng.integers(1, 6, len(who))) % 6
    chance = 1.0 / (1.0 + np.exp(own[who, right] - own[who, left]))
    votes = Votes.from_arrays(who, left, right, np.where(rng.random(len(who)) < chance, 1, -1))
    model = fitted(votes)
    times = np.geomspace(model.path_.times[0], model.path_.times[-1], 50)
    later = (model.fitted_.at(float(t)) for t in times)
    some_found = next(each for each in later if each.active_count[0] >= 8)
    assert some_found.active_count[0] < 40
    common = common_scores(some_found).about_average()
    assert common.unseen_tastes
    before = common_scores(before_anybody_enters(votes)).about_average()
    np.testing.assert_allclose(common.score, before.score, atol=0.02)
    of_path = some_found.scores - some_found.scores.mean()
    assert np.abs(common.score - of_path).max() > 0.05


@pytest.mark.filterwarnings("ignore::prefpath.VoteWarning")
def test_votes_of_the_largest_weight_have_intervals() -> None:
    """Their curvature swallows a prior that is not scaled by it."""
    rng = np.random.default_rng(5)
    left = rng.integers(0, 4, 60)
    right = (left + rng.integers(1, 4, 60)) % 4
    choice = np.where(rng.random(60) < 1.0 / (1.0 + np.exp(0.8 * (left - right))), 1.0, -1.0)
    votes = Votes.from_arrays(rng.integers(0, 4, 60), left, right, choice, np.full(60, 1e15))
    model = PreferenceModel(loss="linear", cv=0, n_times=3, t_ratio=1.0001).fit(votes)
    ranking = model.ranking_columns(about="these")
    assert np.isfinite(ranking["score"]).all()
