"""The sandwich and the variance of unseen tastes, against plain NumPy written for the purpose."""

from __future__ import annotations

import warnings

import by_hand
import numpy as np
import pytest
from scipy.stats import t as student

from prefpath import PreferenceModel, Votes, simulate_crowd
from prefpath.fitted import Fitted
from prefpath.inference import common_scores
from prefpath.inference.evidence import gather_evidence
from prefpath.inference.sandwich import cluster_covariance
from prefpath.inference.unseen import unseen_variance


def before_anybody_enters(votes: Votes, **settings) -> Fitted:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PreferenceModel(n_times=2, t_ratio=1.5, cv=0, n_threads=1, **settings).fit(votes)
    fitted = model.fitted_.at(float(model.path_.times[0]) * 0.999)
    assert fitted.active_count == (0, 0)
    return fitted


def few_busy_annotators(seed: int = 4) -> Votes:
    """Seven annotators, one with a third of the votes, repeated votes among them."""
    return simulate_crowd(400, 7, 4, deviants=2, clickers=1, seed=seed).votes


@pytest.mark.parametrize("position", [False, True])
def test_covariance_is_the_jackknifes_by_hand(position):
    votes = few_busy_annotators()
    found = cluster_covariance(
        gather_evidence(before_anybody_enters(votes, common_position=position))
    )
    plain = by_hand.sandwich(by_hand.PlainVotes.of(votes, position))
    np.testing.assert_allclose(found.consensus.coefficient, plain.coefficient, atol=1e-5)
    np.testing.assert_allclose(found.inverse, plain.bread, rtol=1e-4, atol=1e-7)
    # Leverage is removed by a series that stops at a term of a thousandth.
    scale = np.abs(plain.covariance).max()
    np.testing.assert_allclose(found.covariance, plain.covariance, atol=5e-3 * scale)
    np.testing.assert_allclose(found.unclustered, plain.unclustered, rtol=1e-4, atol=1e-7)
    assert found.degrees_of_freedom == 6


def test_intervals_reach_a_t_quantile_of_annotators_less_one_times_the_error():
    votes = few_busy_annotators()
    common = common_scores(before_anybody_enters(votes), about="annotators")
    plain = by_hand.sandwich(by_hand.PlainVotes.of(votes))
    assert common.degrees_of_freedom == 6
    low, high = common.interval(0.9)
    reach = student.ppf(0.95, 6) * common.standard_error
    np.testing.assert_allclose(common.score - reach, low)
    np.testing.assert_allclose(common.score + reach, high)
    # Unseen tastes stretch the scores, and their errors with them, and add their own.
    by_votes = np.sqrt(np.maximum(np.diag(plain.covariance), np.diag(plain.unclustered)))
    assert np.all(common.standard_error > 0.99 * by_votes)


def test_dispersion_is_of_single_votes_whether_merged_weighted_or_split():
    votes = few_busy_annotators()
    rows = np.repeat(np.arange(votes.n_rows), votes.count)
    who, left, right = (
        votes.annotators[votes.annotator][rows],
        votes.items[votes.left][rows],
        votes.items[votes.right][rows],
    )
    split = Votes.from_arrays(who, left, right, votes.choice[rows])
    weighted = Votes.from_arrays(
        votes.annotators[votes.annotator],
        votes.items[votes.left],
        votes.items[votes.right],
        votes.choice,
        votes.weight,
    )
    one, other, third = (
        cluster_covariance(gather_evidence(before_anybody_enters(each))).unclustered
        for each in (votes, split, weighted)
    )
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-10)
    np.testing.assert_allclose(one, third, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("position", [False, True])
def test_unseen_variance_is_that_of_different_votes_by_hand(position):
    """Everybody has 6 or 7 votes: one class of activity."""
    votes = simulate_crowd(
        320, 50, 5, activity="even", deviants=1.0, clickers=0, deviation_scale=1.0, seed=3
    ).votes
    evidence = gather_evidence(before_anybody_enters(votes, common_position=position))
    found = cluster_covariance(evidence)
    ours = unseen_variance(evidence, found.consensus.coefficient, found.inverse, found.gradient)
    plain = by_hand.unseen_variance(by_hand.PlainVotes.of(votes, position))
    assert plain > 0.1
    assert ours.value == pytest.approx(plain, rel=1e-4)


def test_thin_crowds_show_the_variance_that_was_planted():
    """300 annotators with 8 votes, tau^2 = .25: the mean of the estimates, and none without."""
    estimates: dict[float, list[float]] = {0.0: [], 0.5: []}
    for scale, values in estimates.items():
        for seed in range(8):
            votes = simulate_crowd(
                2_400, 300, 8, activity="even", deviants=1.0, clickers=0, deviation_scale=scale,
                seed=seed,
            ).votes  # fmt: skip
            evidence = gather_evidence(before_anybody_enters(votes))
            found = cluster_covariance(evidence)
            args = (evidence, found.consensus.coefficient, found.inverse, found.gradient)
            values.append(unseen_variance(*args).value)
    # Attenuated by 1 / (1 + .35 * .5), .21 is what there is to be found of .25.
    assert 0.16 < np.mean(estimates[0.5]) < 0.26
    assert np.mean(estimates[0.0]) < 0.04


def test_scores_flattened_by_unseen_tastes_are_stretched_back(monkeypatch):
    """Were it known that tastes are normal; else they stand for the mean preference, as flat."""
    monkeypatch.setattr("prefpath.inference.attenuation._is_mean_preference", lambda *_: False)
    errors = []
    for seed in range(10):
        crowd = simulate_crowd(
            6_000, 400, 8, activity="even", deviants=1.0, clickers=0, deviation_scale=1.0,
            seed=seed,
        )  # fmt: skip
        fitted = before_anybody_enters(crowd.votes)
        pooled, common = fitted.scores, common_scores(fitted).about_average()
        truth = crowd.scores - crowd.scores.mean()
        errors.append([each @ truth / (truth @ truth) - 1.0 for each in (pooled, common.score)])
    flat, stretched = np.mean(errors, axis=0)
    assert flat < -0.15  # before anybody enters the path, the score is the pooled votes'
    assert abs(stretched) < 0.1  # to first order in the tastes' correlation: 2 to 6 % too far
