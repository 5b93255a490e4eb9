"""Whom an interval is about: these annotators, or all like them."""

from __future__ import annotations

import warnings

import by_hand
import numpy as np
import pytest
from test_sandwich_by_hand import before_anybody_enters, few_busy_annotators

from prefpath import PreferenceModel, SettingError, Votes, simulate_crowd, trust_panel
from prefpath.inference.evidence import gather_evidence
from prefpath.inference.words import describe_intervals


def fitted(votes: Votes, **settings) -> PreferenceModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PreferenceModel(n_times=8, t_ratio=8.0, cv=3, n_threads=1, **settings).fit(votes)


@pytest.fixture(scope="module")
def judges() -> PreferenceModel:
    crowd = simulate_crowd(1_000, 2, 6, activity="even", deviants=1, clickers=0, seed=4)
    return fitted(crowd.votes)


def test_covariance_by_votes_is_hc3_by_hand():
    votes = few_busy_annotators()
    model = before_anybody_enters(votes)
    from prefpath.inference.by_votes import vote_covariance
    from prefpath.inference.sandwich import cluster_covariance

    evidence = gather_evidence(model)
    found = cluster_covariance(evidence)
    at = found.consensus.coefficient
    plain = by_hand.PlainVotes.of(votes)
    p = 1.0 / (1.0 + np.exp(-plain.x @ at))
    slope, curvature = p - plain.won, p * (1.0 - p)
    bread = np.linalg.pinv((plain.x * curvature[:, None]).T @ plain.x, rcond=1e-10)
    leverage = curvature * np.einsum("rk,kl,rl->r", plain.x, bread, plain.x)
    pull = plain.x * (slope / (1.0 - leverage))[:, None]
    expected = bread @ pull.T @ pull @ bread
    ours = vote_covariance(evidence, at, found.sizes, found.inverse)
    np.testing.assert_allclose(ours, expected, rtol=1e-3, atol=1e-6)


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
    assert "sampling of annotators" in describe_intervals(judges.fitted_, "annotators")


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
    """30 % share another taste, 12 votes each: nobody stands out, the votes together do."""
    rng = np.random.default_rng(0)
    scores, other = rng.normal(size=6), rng.normal(size=6) * 2.0
    who = np.repeat(np.arange(300), 12)
    left = rng.integers(0, 6, len(who))
    right = (left + rng.integers(1, 6, len(who))) % 6
    own = scores + np.where(who[:, None] < 90, other, 0.0)
    rows = np.arange(len(who))
    chance = 1.0 / (1.0 + np.exp(own[rows, right] - own[rows, left]))
    mixed = Votes.from_arrays(who, left, right, np.where(rng.random(len(who)) < chance, 1, -1))
    assert "the mean taste" in describe_intervals(before_anybody_enters(mixed))
    alike = simulate_crowd(3_600, 300, 6, activity="even", deviants=0, clickers=0, seed=0).votes
    assert "most of them follow" in describe_intervals(before_anybody_enters(alike))


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
