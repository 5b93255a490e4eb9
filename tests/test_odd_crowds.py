"""Crowds that tell little: all ties, one answer, weights no vote can have."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from prefpath import PreferenceModel, VoteError, Votes, VoteWarning


def crowd(answer, weight=None) -> Votes:
    """Seven people on six items, twelve votes each; `answer(left, right, rng)`."""
    rng = np.random.default_rng(3)
    left = rng.integers(0, 6, 84)
    right = (left + rng.integers(1, 6, 84)) % 6
    choice = np.array([answer(a, b, rng) for a, b in zip(left, right, strict=True)])
    return Votes.from_arrays(np.arange(84) % 7, left, right, choice, weight=weight)


@pytest.mark.parametrize(
    "answer",
    [lambda a, b, rng: 0.0, lambda a, b, rng: np.sign(b - a)],
    ids=["all ties", "all agree"],
)
def test_where_nobody_enters_the_path_is_one_ranking_and_short(answer):
    """It used to go on a thousand times as far, and to say that many annotators stand out."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = PreferenceModel(cv=3, n_threads=1).fit(crowd(answer))
    words = " ".join(str(one.message) for one in said)
    assert "the path is one ranking" in words
    assert "evaluations" not in words
    assert not np.isfinite(model.path_.entered).any()
    assert model.path_.times[-1] <= 3.0 * model.path_.times[0]


@pytest.mark.parametrize("seed", range(6))
def test_ties_alone_leave_no_variance_below_nothing(seed):
    """Rounding of either sign made standard errors that are no numbers."""
    rng = np.random.default_rng(seed)
    left, who = rng.integers(0, 8, 6), np.arange(6) % 2
    votes = Votes.from_arrays(who, left, (left + rng.integers(1, 8, 6)) % 8, np.zeros(6))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", VoteWarning)
        model = PreferenceModel(loss="huber", cv=0, common_position=True, attention=False)
        scores = model.fit(votes).common_scores()
    assert np.isfinite(scores.standard_error).all()


def test_one_vote_cannot_be_held_out_and_the_remedy_is_an_option():
    votes = Votes.from_arrays(["ann"], ["x"], ["y"], [1])
    remedy = r"5 folds over 1 vote\n.*\n.*--cv 0 \(cv=0\)"
    with pytest.warns(VoteWarning), pytest.raises(VoteError, match=remedy):
        PreferenceModel(n_threads=1).fit(votes)


def test_weights_that_cannot_be_counted_are_refused():
    assert crowd(lambda a, b, rng: 1.0, weight=np.full(84, 1e15)).n_votes
    with pytest.raises(VoteError, match="weight"):
        crowd(lambda a, b, rng: 1.0, weight=np.full(84, 1e16))


def test_one_who_voted_a_thousand_times_as_often_does_not_hide_when_others_enter():
    """Waiting stopped by the share of the busiest alone: nobody was then said ever to differ."""
    rng = np.random.default_rng(0)
    each = np.full(1_500, 10)
    each[0] = 30_000
    who, score = np.repeat(np.arange(1_500), each), rng.normal(size=8)
    left = rng.integers(0, 8, len(who))
    right = (left + rng.integers(1, 8, len(who))) % 8
    chance = 1 / (1 + np.exp(score[right] - score[left]))
    choice = np.where(rng.random(len(who)) < chance, 1, -1)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = PreferenceModel(cv=0, n_times=5, t_ratio=2.0, n_threads=1).fit(
            Votes.from_arrays(who, left, right, choice)
        )
    assert "one ranking" not in " ".join(str(one.message) for one in said)
    assert np.isfinite(model.path_.entered).any()
