"""Votes that were written several times are noticed, and nothing else is taken for it."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from prefpath import PreferenceModel, Votes, VoteWarning, read_votes, simulate_crowd
from prefpath.trust import trust_panel
from prefpath.trust.repeats import Repeats, find_repeats


def written(votes: Votes, times: int) -> Votes:
    """The same votes, each written so many times."""
    rows = np.repeat(np.arange(votes.n_rows), votes.count * times)
    return Votes.from_arrays(
        votes.annotator[rows], votes.left[rows], votes.right[rows], votes.choice[rows]
    )


def written_in_part(votes: Votes, times: int) -> Votes:
    """All votes but the first annotator's written so many times."""
    rows = np.repeat(np.arange(votes.n_rows), np.where(votes.annotator == 0, 1, times))
    return Votes.from_arrays(
        votes.annotator[rows], votes.left[rows], votes.right[rows], votes.choice[rows]
    )


@pytest.mark.parametrize("n_items", [6, 20])
def test_votes_written_three_times_are_said_to_hang_together(n_items):
    votes = simulate_crowd(1_500, 30, n_items, activity="even", seed=1).votes
    once, thrice = find_repeats(votes), find_repeats(written(votes, 3))
    assert not once.hang_together
    assert thrice.times == 3
    assert thrice.hang_together
    mixed = find_repeats(written_in_part(votes, 3))
    assert mixed.times == 1
    assert mixed.hang_together == (n_items == 20)  # on few items chance repeats votes as well
    check = trust_panel(written(votes, 3))["repeated votes"]
    assert check.status == "warn"
    assert "keep one of them" in check.advice


def test_a_fit_of_votes_written_three_times_says_so():
    votes = written(simulate_crowd(600, 20, 5, activity="even", seed=2).votes, 3)
    with pytest.warns(VoteWarning, match="every vote is there 3 times"):
        PreferenceModel(cv=0, n_times=3, t_ratio=2.0, n_threads=1).fit(votes)


@pytest.mark.parametrize(
    "odd",
    [
        {"deviants": 1.0, "clickers": 0, "deviation_scale": 2.0},
        {"clickers": 0.4, "position_bias_scale": 4.0},
        {"contrary": 0.4},
        {"ties": 0.5},
    ],
    ids=["tastes", "clickers", "contrary", "ties"],
)
def test_whatever_else_makes_votes_agree_is_not_repetition(odd):
    """Tastes make votes on one pair agree as well, and those on pairs that share an item."""
    for seed in range(4):
        crowd = simulate_crowd(6_000, 40, 6, activity="even", seed=seed, **odd)
        found = find_repeats(crowd.votes)
        assert not found.hang_together
        assert found.disagree == pytest.approx(found.expected, abs=0.05)


def test_two_items_or_nobody_asked_twice_say_nothing():
    two = simulate_crowd(400, 10, 2, deviants=0.5, seed=0).votes
    assert not find_repeats(two).hang_together
    apart = Votes.from_arrays(list("aab"), list("xyx"), list("yzz"), [1, 1, -1])
    assert find_repeats(apart) == Repeats(0.0, 0.0, 0.0)


def test_where_nothing_says_who_voted_nothing_is_said():
    columns = {"left": list("xy") * 40, "right": list("yz") * 40, "choice": [1, -1] * 40}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VoteWarning)
        votes = read_votes(pd.DataFrame(columns))
    assert votes.anonymous
    assert "repeated votes" not in [check.name for check in trust_panel(votes).checks]
