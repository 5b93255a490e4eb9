"""Who was found to have another taste is one voice of a mean preference, however busy."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath import PreferenceModel, Votes
from prefpath.fitted import Fitted
from prefpath.inference.evidence import gather_evidence, sees_otherwise, share_that_counts
from prefpath.inference.sandwich import cluster_covariance
from prefpath.inference.voices import one_voice_each

N, BUSY, EACH = 41, 1_200, 30
SCORES = np.linspace(-1.5, 1.5, 8)


@pytest.fixture(scope="module")
def found() -> Fitted:
    """Forty follow one ranking; one of another taste has as many votes as they."""
    rng = np.random.default_rng(11)
    own = np.where(np.arange(N)[:, None] == 0, SCORES[[4, 0, 6, 2, 7, 1, 5, 3]], SCORES)
    who = np.repeat(np.arange(N), np.where(np.arange(N) == 0, BUSY, EACH))
    left = rng.integers(0, 8, len(who))
    right = (left + rng.integers(1, 8, len(who))) % 8
    chance = 1.0 / (1.0 + np.exp(own[who, right] - own[who, left]))
    votes = Votes.from_arrays(who, left, right, np.where(rng.random(len(who)) < chance, 1, -1))
    model = PreferenceModel(attention=False, n_times=8, t_ratio=4.0, cv=0, n_threads=1)
    return model.fit(votes).fitted_


def test_half_of_the_votes_are_no_half_of_the_mean(found):
    busy = found.votes.annotator_count == BUSY
    nobody = np.zeros(N, dtype=bool)
    counts = share_that_counts(found, nobody, tastes=False)
    assert counts[busy] == pytest.approx(EACH / BUSY)
    assert (counts[~busy] == 1.0).all()
    assert (share_that_counts(found, nobody, tastes=True) == 1.0).all()


def test_the_mean_preference_is_near_what_forty_of_forty_one_follow(found):
    evidence = gather_evidence(found, tastes=False)
    mean = cluster_covariance(evidence).consensus.coefficient
    off = mean - mean.mean() - SCORES
    assert np.sqrt(np.mean(off**2)) < 0.15


def test_of_who_is_left_out_nothing_counts_and_where_half_deviate_all_votes_do():
    weight, first = np.array([60.0, 10.0, 20.0, 30.0]), np.arange(4) == 0
    assert one_voice_each(weight, first, first).tolist() == [0.0, 1.0, 1.0, 1.0]
    two = np.arange(4) < 2
    assert one_voice_each(weight, ~two & ~first, two).tolist() == [1.0, 1.0, 0.0, 0.0]
    assert one_voice_each(weight, np.zeros(4, dtype=bool), two).tolist() == [1.0] * 4


def test_whoever_cast_most_votes_at_random_is_left_out_of_the_scores():
    """Half of the votes could not stay in without theirs, so theirs stayed in."""
    weight, busiest = np.array([1_200.0, 30.0, 30.0, 30.0]), np.arange(4) == 0
    attention = np.where(busiest, -0.9, 0.0)
    assert sees_otherwise(weight, attention).tolist() == [True, False, False, False]
    # The path took the busiest for the crowd: all others are then left out, and the scores theirs.
    assert sees_otherwise(weight, attention - attention[0]).tolist() == [False, True, True, True]
