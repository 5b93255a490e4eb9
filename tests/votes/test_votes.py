"""`Votes` from arrays: what it keeps, what it refuses, and how it is cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from same_votes import ARRAYS, assert_same_votes

from prefpath import VoteError, Votes

SMALL = {
    "annotator": ["bob", "ann", "ann", "ann"],
    "left": ["y", "x", "x", "y"],
    "right": ["x", "y", "y", "z"],
    "choice": ["tie", "left", "left", "right"],
}


def small(**changes: Any) -> Votes:
    return Votes.from_arrays(**{**SMALL, **changes})


def test_what_votes_say() -> None:
    votes = small()
    assert repr(votes) == "Votes(4 votes in 3 rows, 2 annotators, 3 items, 1 tie)"
    assert (len(votes), votes.n_rows, votes.n_votes) == (3, 3, 4)
    assert votes.annotators.tolist() == ["ann", "bob"]
    assert votes.items.tolist() == ["x", "y", "z"]
    assert votes.annotator.tolist() == [0, 0, 1]
    assert votes.annotator_weight.tolist() == [3.0, 1.0]
    assert votes.total_weight == 4.0
    assert votes.count.tolist() == [2, 1, 1]


def test_words_and_numbers_are_the_same_choices() -> None:
    assert_same_votes(small(choice=[0, 1, 1, -1]), small())
    assert_same_votes(small(choice=["0", " LEFT", "1", "-1"]), small())
    assert_same_votes(small(choice=np.array([0.0, 1.0, 1.0, -1.0])), small())


@given(order=st.permutations(range(4)))
def test_the_order_of_the_rows_does_not_matter(order: list[int]) -> None:
    shuffled = {name: [column[i] for i in order] for name, column in SMALL.items()}
    assert_same_votes(Votes.from_arrays(**shuffled), small())


def test_a_row_twice_is_weight_two() -> None:
    once = small(weight=[1, 2, 0, 1])
    assert once.weight.tolist() == small().weight.tolist()


@pytest.mark.parametrize(
    ("changes", "says", "rows"),
    [
        ({"choice": ["tie", "left", "huh", "right"]}, "unknown choice: 'huh'", (3,)),
        ({"choice": [0, 1, np.nan, np.inf]}, "2 votes have an unknown choice", (3, 4)),
        ({"weight": [1, -1, 1, np.nan]}, "2 votes have a weight", (2, 4)),
        ({"weight": [0, 0, 0, 0]}, "every vote has weight 0", ()),
        ({"weight": [1, 2]}, r"weight has shape \(2,\)", ()),
        ({"left": ["y", "x"]}, "the columns differ in length", ()),
        (
            {"left": ["y", "y", "x", "y"]},
            r"itself \(the first is 'y'",
            (2,),
        ),
        ({"annotator": ["bob", None, "ann", "ann"]}, "1 vote has no annotator", (2,)),
        ({"items": ["x", "y"]}, "item 'z' is not among the 2 known items", (4,)),
        ({name: [] for name in SMALL}, "there are no votes", ()),
    ],
)
def test_what_is_refused(changes: dict[str, Any], says: str, rows: tuple[int, ...]) -> None:
    with pytest.raises(VoteError, match=says) as caught:
        small(**changes)
    assert caught.value.rows == rows


def test_self_comparisons_can_be_dropped() -> None:
    votes = small(left=["y", "y", "x", "y"], self_comparisons="drop")
    assert votes.n_votes == 3
    assert votes.origin["self_comparisons"] == 1
    with pytest.raises(VoteError, match="every vote compares an item with itself"):
        Votes.from_arrays(["a"], ["x"], ["x"], [1], self_comparisons="drop")


def test_unknown_position_has_no_left_and_right() -> None:
    votes = Votes.from_arrays(["a", "a"], ["y", "x"], ["x", "y"], [1, -1], position_known=False)
    assert (votes.n_rows, votes.choice.tolist(), votes.items[votes.left[0]]) == (1, [-1.0], "x")


def test_given_labels_keep_their_order_and_their_idle_members() -> None:
    votes = small(items=["z", "y", "x", "w"], annotators=["bob", "nobody", "ann"])
    assert votes.items.tolist() == ["z", "y", "x", "w"]
    assert np.diff(votes.offsets).tolist() == [1, 0, 2]


def test_numbers_stay_numbers_and_types_of_both_sides_meet() -> None:
    votes = Votes.from_arrays([7], [1], [2], [1])
    assert votes.items.tolist() == [1, 2]
    assert Votes.from_arrays([7], [1], ["b"], [1]).items.tolist() == ["1", "b"]


def test_cutting_keeps_the_labels() -> None:
    votes = small()
    decided = votes.without_ties()
    assert decided.choice.tolist() == [1.0, -1.0]
    assert decided.annotators.tolist() == ["ann", "bob"]
    assert decided.offsets.tolist() == [0, 2, 2]
    assert votes.take(np.array([0, 2])).annotator.tolist() == [0, 1]


def test_codes_of_labels() -> None:
    votes = small()
    assert votes.item_code("y") == 1
    assert votes.annotator_code("bob") == 1
    assert Votes.from_arrays([7], [1], [2], [1]).item_code("2") == 1
    with pytest.raises(VoteError, match="there is no item 'q' in the votes"):
        votes.item_code("q")


def test_votes_are_frozen() -> None:
    votes = small()
    for name in ARRAYS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(votes, name)[0] = 0
    with pytest.raises(AttributeError):
        votes.left = votes.right  # type: ignore[misc]
