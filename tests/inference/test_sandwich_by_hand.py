"""The sandwich and the variance of unseen tastes, against plain NumPy written for the purpose."""

from __future__ import annotations

import warnings

import by_hand
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import t as student

from prefpath import PreferenceModel, Votes, simulate_crowd
from prefpath.fitted import Fitted
from prefpath.inference import common_scores
from prefpath.inference.attenuation import Attenuation
from prefpath.inference.consensus import Consensus
from prefpath.inference.evidence import gather_evidence
from prefpath.inference.sandwich import Clustered, cluster_covariance
from prefpath.inference.unseen import unseen_variance
from prefpath.stages import INTERVALS, watched


def before_anybody_enters(votes: Votes, **settings) -> Fitted:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PreferenceModel(n_times=2, t_ratio=1.5, cv=0, n_threads=1, **settings).fit(votes)
    fitted = model.fitted_.at(float(model.path_.times[0]) * 0.999)
    assert fitted.active_count == (0, 0)
    return fitted


def where_some_have_entered(votes: Votes, **settings) -> Fitted:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PreferenceModel(n_times=4, t_ratio=4.0, cv=0, n_threads=1, **settings).fit(votes)
    return model.fitted_.at(float(model.path_.times[2]))


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


@pytest.mark.parametrize("position", [False, True])
def test_covariance_beside_own_parts_is_the_jackknifes_by_hand(position):
    votes = simulate_crowd(600, 9, 4, deviants=3, clickers=2, seed=4).votes
    evidence = gather_evidence(where_some_have_entered(votes, common_position=position))
    active = evidence.active
    assert active.any() and not active.all()
    assert evidence.own.any() and evidence.own_bias.any()
    found = cluster_covariance(evidence)
    everybody = by_hand.beside_own_parts(evidence, found.consensus.coefficient)
    bread, covariance = by_hand.jackknifed(everybody)
    held = sum(one.curvature for one, own in zip(everybody, active, strict=True) if own)
    scale = np.abs(held).max()
    np.testing.assert_allclose(found.held, held, rtol=1e-8, atol=1e-9 * scale)
    np.testing.assert_allclose(found.inverse, bread, rtol=1e-6, atol=1e-9)
    pulls = [one.pull for one in everybody]
    np.testing.assert_allclose(found.gradient.toarray(), pulls, rtol=1e-8, atol=1e-9)
    scale = np.abs(covariance).max()
    np.testing.assert_allclose(found.covariance, covariance, atol=5e-3 * scale)
    assert found.degrees_of_freedom == 8


def test_how_far_intervals_are_is_told_from_nothing_to_all(monkeypatch):
    votes = simulate_crowd(600, 9, 4, deviants=3, clickers=2, seed=4).votes
    evidence = gather_evidence(where_some_have_entered(votes))
    told: list[float] = []
    with watched(lambda doing, share: told.append(share) if doing == INTERVALS else None):
        cluster_covariance(evidence)
    # The consensus, the first who deviates, the curvature, the leverage.
    assert told == [0.0, 0.15, 0.15, 0.4, 0.65, 1.0]
    told.clear()
    monkeypatch.setattr("prefpath.inference.sandwich._TOLD_EVERY", 2)
    with watched(lambda doing, share: told.append(share) if doing == INTERVALS else None):
        cluster_covariance(evidence)
    n_deviating = evidence.n_deviating
    assert 2 < n_deviating < evidence.active.sum()
    each = [0.15 + k / n_deviating * 0.25 for k in range(0, n_deviating, 2)]
    assert told == pytest.approx([0.0, 0.15, *each, 0.4, 0.65, 1.0])


def test_one_annotator_has_the_errors_of_their_votes_by_hand():
    votes = simulate_crowd(300, 1, 4, deviants=0, clickers=0, seed=2).votes
    found = cluster_covariance(gather_evidence(before_anybody_enters(votes)))
    plain = by_hand.PlainVotes.of(votes)
    coefficient = by_hand.fit(plain)
    p = 1.0 / (1.0 + np.exp(-plain.x @ coefficient))
    curvature = p * (1.0 - p)
    inverse = np.linalg.pinv((plain.x * curvature[:, None]).T @ plain.x, rcond=1e-10)
    dispersion = np.sum((p - plain.won) ** 2) / np.sum(curvature)
    np.testing.assert_allclose(found.covariance, dispersion * inverse, rtol=1e-4, atol=1e-7)
    assert found.degrees_of_freedom == np.inf


def test_two_annotators_differ_by_one_degree_of_freedom():
    votes = simulate_crowd(300, 2, 4, deviants=0, clickers=0, seed=2).votes
    found = cluster_covariance(gather_evidence(before_anybody_enters(votes)))
    plain = by_hand.sandwich(by_hand.PlainVotes.of(votes))
    scale = np.abs(plain.covariance).max()
    np.testing.assert_allclose(found.covariance, plain.covariance, atol=2e-2 * scale)
    assert np.abs(plain.covariance - plain.unclustered).max() > 0.1 * scale
    assert found.degrees_of_freedom == 1.0


def test_where_everybody_has_an_own_part_no_votes_tell_the_dispersion():
    votes = simulate_crowd(900, 3, 4, deviants=1.0, clickers=0, deviation_scale=2.0, seed=1).votes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PreferenceModel(n_times=3, t_ratio=9.0, cv=0, n_threads=1).fit(votes)
    evidence = gather_evidence(model.fitted_.at(float(model.path_.times[-1])))
    assert evidence.active.all()
    found = cluster_covariance(evidence)
    np.testing.assert_array_equal(found.unclustered, found.consensus.inverse)


def test_followers_whose_votes_weigh_nothing_do_not_tell_the_dispersion():
    votes = simulate_crowd(900, 3, 4, deviants=1.0, clickers=0, deviation_scale=2.0, seed=1).votes
    who = votes.annotators[votes.annotator]
    both = Votes.from_arrays(
        np.concatenate((who, np.full(4, "weightless", dtype=object))),
        votes.items[np.append(votes.left, votes.left[:4])],
        votes.items[np.append(votes.right, votes.right[:4])],
        np.append(votes.choice, votes.choice[:4]),
        weight=np.append(votes.weight, np.zeros(4)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PreferenceModel(n_times=3, t_ratio=9.0, cv=0, n_threads=1).fit(both)
    evidence = gather_evidence(model.fitted_.at(float(model.path_.times[-1])))
    assert both.annotators[~evidence.active].tolist() == ["weightless"]
    found = cluster_covariance(evidence)
    np.testing.assert_array_equal(found.unclustered, found.consensus.inverse)


def test_dispersion_by_hand_where_positions_and_weights_are_mixed():
    """A row weighs w / count a vote: squares are w^2 s^2 / count, curvature is w c."""
    rng, n = np.random.default_rng(5), 400
    left = rng.integers(0, 4, n)
    right = (left + rng.integers(1, 4, n)) % 4
    chance = 1.0 / (1.0 + np.exp(-0.4 * (left - right) - 0.8))
    votes = Votes.from_arrays(
        rng.integers(0, 6, n), left, right, np.where(rng.random(n) < chance, 1, -1),
        1e-3 * rng.integers(1, 4, n), position_known=rng.random(n) < 0.6,
    )  # fmt: skip
    assert 0 < votes.position_known.sum() < votes.n_rows
    found = cluster_covariance(gather_evidence(before_anybody_enters(votes, common_position=True)))
    x = np.eye(5)[votes.left] - np.eye(5)[votes.right]
    x[:, -1] = votes.position_known
    p = 1.0 / (1.0 + np.exp(-x @ found.consensus.coefficient))
    slope, bent = p - (1.0 + votes.choice) / 2.0, votes.weight * p * (1.0 - p)
    assert np.abs(x.T @ (votes.weight * slope)).max() < 1e-8
    dispersion = np.sum(votes.weight**2 / votes.count * slope**2) / np.sum(bent)
    inverse = np.linalg.pinv((x * bent[:, None]).T @ x, rcond=1e-10, hermitian=True)
    np.testing.assert_allclose(found.unclustered, dispersion * inverse, rtol=1e-6, atol=1e-9)


def test_votes_on_an_item_that_always_won_tell_nothing_of_the_dispersion():
    votes = few_busy_annotators()
    who, left, right = (
        votes.annotators[votes.annotator],
        votes.items[votes.left],
        votes.items[votes.right],
    )
    more = Votes.from_arrays(
        np.append(who, who[:3]), np.append(left, ["zz"] * 3), np.append(right, right[:3]),
        np.append(votes.choice, np.ones(3)), np.append(votes.weight, np.ones(3)),
    )  # fmt: skip
    one, other = (
        cluster_covariance(gather_evidence(before_anybody_enters(each, position_bias=False)))
        for each in (votes, more)
    )
    np.testing.assert_allclose(other.unclustered[:4, :4], one.unclustered, rtol=1e-6, atol=1e-9)


def test_what_unseen_tastes_took_is_put_back_into_draws_and_covariances():
    """Two coefficients: 2 and 1, of which 0.5 and -0.25 were taken, doubled by the correction."""
    correction = Attenuation(
        shift=np.array([-0.5, 0.25]), jacobian=np.array([[2.0, 0.0], [1.0, 2.0]]),
        covariance=np.diag([0.1, 0.2]),
    )  # fmt: skip
    consensus = Consensus(np.array([2.0, 1.0]), np.eye(2), True)
    nothing = np.zeros((2, 2))
    found = Clustered(consensus, nothing, nothing, nothing, csr_array(nothing), nothing,
                      np.zeros(2), correction, 3.0)  # fmt: skip
    assert found.settled.tolist() == [2.5, 0.75]
    draws = np.array([[2.5, 0.0], [np.inf, 2.0]])
    assert found.settle(draws).tolist() == [[3.5, -0.75], [np.inf, 2.75]]
    expected = np.array([[4.1, 2.0], [2.0, 1.0 + 12.0 + 0.2]])
    np.testing.assert_allclose(found.of_settled(np.diag([1.0, 3.0])), expected, rtol=1e-14)


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
