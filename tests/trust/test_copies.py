"""Annotators who cast exactly what another cast are noticed, and no one else."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath import PreferenceModel, Votes, VoteWarning, simulate_crowd
from prefpath.trust import trust_panel
from prefpath.trust.copies import find_copies


def with_copies(votes: Votes, sources: dict[int, int]) -> Votes:
    """The votes with those of some annotators in place of others' (`{copy: source}`)."""
    of = np.arange(votes.n_annotators)
    of[list(sources)] = list(sources.values())
    pieces = [np.flatnonzero(votes.annotator == u) for u in of]
    who = np.repeat(np.arange(len(of)), [len(rows) for rows in pieces])
    rows = np.concatenate(pieces)
    who, rows = np.repeat(who, votes.count[rows]), np.repeat(rows, votes.count[rows])
    return Votes.from_arrays(
        votes.annotators[who],
        votes.items[votes.left[rows]],
        votes.items[votes.right[rows]],
        votes.choice[rows],
    )


@pytest.fixture(scope="module")
def crowd() -> Votes:
    return simulate_crowd(1_600, 20, 8, activity="even", seed=3).votes


def test_copies_are_told_by_their_labels(crowd):
    copied = with_copies(crowd, {1: 0, 2: 0, 5: 9})
    check = trust_panel(copied)["copied votes"]
    assert check.status == "warn"
    assert set(check.concerned) == set(crowd.annotators[[0, 1, 2, 5, 9]].tolist())
    assert "5 annotators cast exactly the votes of another; the most alike are 3" in check.finding
    assert "keep one of them" in check.advice
    alone = with_copies(crowd, {4: 7})
    assert "2 annotators cast exactly the same votes" in trust_panel(alone)["copied votes"].finding


def test_a_fit_says_it_too(crowd):
    with pytest.warns(VoteWarning, match="exactly the same votes .* keep one of them"):
        PreferenceModel(cv=0, n_times=3, t_ratio=2.0, n_threads=1).fit(with_copies(crowd, {3: 4}))


def test_one_changed_vote_or_a_short_ballot_is_no_copy(crowd):
    copied = with_copies(crowd, {4: 7})
    rows = np.flatnonzero(copied.annotator == 4)
    choice = copied.choice.copy()
    choice[rows[1]] *= -1.0
    changed = Votes.from_arrays(copied.annotator, copied.left, copied.right, choice, copied.weight)
    assert len(find_copies(changed).who) == 0
    short = simulate_crowd(1_200, 200, 2, activity="even", seed=1).votes
    assert len(find_copies(short).who) == 0


def test_who_agrees_because_all_do_is_no_copy():
    """Thirty judges see the same pairs and all choose alike; or two items a hundred times."""
    left, right = np.triu_indices(7, 1)
    who = np.repeat(np.arange(30), len(left))
    same = Votes.from_arrays(who, np.tile(left, 30), np.tile(right, 30), np.ones(len(who)))
    assert len(find_copies(same).who) == 0
    two = simulate_crowd(10_000, 100, 2, activity="even", deviants=0, clickers=0, seed=2).votes
    assert len(find_copies(two).who) == 0


def test_who_clicks_one_side_of_the_same_pairs_is_no_copy():
    left, right = np.triu_indices(7, 1)
    who = np.repeat(np.arange(5), 2 * len(left))
    shown = np.tile(np.concatenate((left, right)), 5), np.tile(np.concatenate((right, left)), 5)
    assert len(find_copies(Votes.from_arrays(who, *shown, np.ones(len(who)))).who) == 0
