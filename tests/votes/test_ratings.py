"""Ratings to votes: all pairs that differ, a fair draw of them, groups."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from same_votes import assert_same_votes

from prefpath import VoteError, Votes, VoteWarning, ratings_to_votes
from prefpath.votes import ratings
from prefpath.votes.ratings import draw_pairs

FRAME = pd.DataFrame(
    {
        "user": [1, 1, 1, 2, 2, 3],
        "movie": ["a", "b", "c", "a", "b", "c"],
        "rating": [5, 3, 3, 1.5, 2, 4],
        "age": [25, 25, 25, 25, 25, 50],
    }
)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4)), min_size=1, max_size=25),
    st.one_of(st.none(), st.integers(1, 6)),
)
def test_pairs_are_all_that_differ_or_a_draw_of_them(
    rated: list[tuple[int, int]], cap: int | None
) -> None:
    rated = sorted(rated)
    people = np.array([person for person, _ in rated])
    values = np.array([float(value) for _, value in rated])
    winner, loser = draw_pairs(people, values, cap, seed=3)
    found = list(zip(winner.tolist(), loser.tolist(), strict=True))
    possible = {
        (high, low)
        for low, high in combinations(range(len(rated)), 2)
        if people[low] == people[high] and values[low] < values[high]
    }
    assert len(set(found)) == len(found)
    assert set(found) <= possible
    wanted = Counter(people[high] for high, _ in possible)
    drawn = Counter(people[high] for high, _ in found)
    assert drawn == {person: min(n, cap or n) for person, n in wanted.items()}


def test_every_pair_is_drawn_equally_often() -> None:
    """Ten pairs, three drawn: each has probability 0.3 (5 standard errors over 2,000 seeds)."""
    people, values = np.zeros(5, dtype=np.int64), np.arange(5.0)
    times: Counter[tuple[int, int]] = Counter()
    for seed in range(2000):
        winner, loser = draw_pairs(people, values, 3, seed)
        times.update(zip(winner.tolist(), loser.tolist(), strict=True))
    assert len(times) == 10
    error = 5 * np.sqrt(0.3 * 0.7 / 2000)
    assert all(abs(n / 2000 - 0.3) < error for n in times.values())


def test_all_pairs() -> None:
    votes = ratings_to_votes(FRAME)
    expected = Votes.from_arrays(
        [1, 1, 2], ["a", "a", "b"], ["b", "c", "a"], [1, 1, 1], position_known=False
    )
    assert_same_votes(votes, expected)
    assert votes.frame_library == "pandas"
    assert (votes.origin["rows"], votes.origin["votes"]) == (6, 3)


def test_a_cap_and_a_seed() -> None:
    big = pd.DataFrame({"user": 1, "item": range(30), "rating": [i % 5 for i in range(30)]})
    first = ratings_to_votes(big, pairs_per_annotator=20, seed=1)
    assert first.n_votes == 20
    assert_same_votes(ratings_to_votes(big, pairs_per_annotator=20, seed=1), first)
    other = ratings_to_votes(big, pairs_per_annotator=20, seed=2)
    assert other.left.tolist() != first.left.tolist()


def test_groups_pair_within_persons() -> None:
    """Persons 1 and 2 are both 25; no pair mixes their ratings."""
    votes = ratings_to_votes(FRAME, group="age")
    assert votes.annotators.tolist() == [25]
    assert votes.n_votes == 3


def test_groups_from_a_table(tmp_path: Path) -> None:
    people = tmp_path / "users.csv"
    people.write_text("user_id,occupation\n1,farmer\n2,artist\n3,poet\n")
    votes = ratings_to_votes(FRAME, group="occupation", annotators=people)
    assert votes.annotators.tolist() == ["artist", "farmer"]
    people.write_text("user_id,occupation\n1,farmer\n")
    with pytest.raises(VoteError, match="2 annotators have no occupation: 2, 3"):
        ratings_to_votes(FRAME, group="occupation", annotators=people)


def test_a_person_in_two_groups_is_an_error() -> None:
    with pytest.raises(VoteError, match="1 annotator has more than one age"):
        ratings_to_votes(FRAME.assign(age=[25, 26, 25, 25, 25, 50]), group="age")


def test_columns_of_other_names() -> None:
    renamed = FRAME.rename(columns={"user": "who", "movie": "what", "rating": "stars"})
    votes = ratings_to_votes(renamed, annotator="who", item="what", rating="stars")
    assert_same_votes(votes, ratings_to_votes(FRAME))


def test_ratings_that_are_missing_or_no_numbers() -> None:
    with pytest.warns(VoteWarning, match="1 rows? without a verdict"):
        votes = ratings_to_votes(FRAME.assign(rating=[5, 3, None, 1, 2, 4]))
    assert votes.n_votes == 2
    with pytest.raises(VoteError, match="a rating that is not a number: 'great'") as caught:
        ratings_to_votes(FRAME.assign(rating=["5", "great", "3", "1", "2", "4"]))
    assert caught.value.rows == (2,)


def test_an_item_rated_twice_is_not_compared_with_itself() -> None:
    twice = pd.DataFrame({"user": [1, 1, 1], "item": ["a", "a", "b"], "rating": [1, 2, 3]})
    with pytest.warns(VoteWarning, match="1 rows? comparing an item with itself"):
        assert ratings_to_votes(twice).n_votes == 2


def test_nothing_to_compare() -> None:
    for rating in (3, None):
        for cap in (None, 2):
            with pytest.raises(VoteError, match="no annotator rated two items differently"):
                ratings_to_votes(FRAME.assign(rating=rating), pairs_per_annotator=cap)


def test_too_many_pairs_ask_for_a_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratings, "MOST_PAIRS", 2)
    with pytest.raises(VoteError, match="these ratings make 3 pairs"):
        ratings_to_votes(FRAME)
    assert ratings_to_votes(FRAME, pairs_per_annotator=1).n_votes == 2
    with pytest.raises(VoteError, match="pairs_per_annotator is 0"):
        ratings_to_votes(FRAME, pairs_per_annotator=0)
