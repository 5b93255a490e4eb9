"""Ties, both bad, unknown verdicts, weights, positions; every row is accounted for."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from same_votes import assert_same_votes

from prefpath import VoteError, Votes, VoteWarning, read_votes
from prefpath.model.problem import Problem
from prefpath.votes import tabulate
from prefpath.votes.encode import KeyLayout

DROPPED = (
    "no_verdict",
    "self_comparisons",
    "unknown_labels",
    "missing_labels",
    "ties_dropped",
    "both_bad_dropped",
)


def frame_of(*choices: object) -> pd.DataFrame:
    n = len(choices)
    return pd.DataFrame(
        {
            "judge": ["j"] * n,
            "model_a": [f"m{i}" for i in range(n)],
            "model_b": [f"n{i}" for i in range(n)],
            "winner": list(choices),
        }
    )


ARENA = ("model_a", "model_b", "tie", "tie (bothbad)", "both_bad", "Tie")


@pytest.mark.parametrize(
    ("ties", "both_bad", "votes", "ties_kept"),
    [("half", "tie", 6, 4), ("half", "drop", 4, 2), ("drop", "tie", 2, 0), ("drop", "drop", 2, 0)],
)
def test_ties_and_both_bad(ties: str, both_bad: str, votes: int, ties_kept: int) -> None:
    read = read_votes(frame_of(*ARENA), ties=ties, both_bad=both_bad)
    assert read.n_votes == votes
    assert read.origin["ties"] == ties_kept
    assert read.n_items == 2 * votes  # labels of dropped rows are gone


def test_unknown_verdicts_are_an_error_with_rows() -> None:
    with pytest.raises(VoteError, match="2 votes have an unknown choice: 'maybe', 'model_c'") as e:
        read_votes(frame_of("model_a", "model_c", "tie", "maybe"))
    assert e.value.rows == (2, 4)


def test_unknown_verdicts_are_quoted_as_written() -> None:
    with pytest.raises(VoteError, match="3 votes have an unknown choice: 'ModelC', 'modelC'") as e:
        read_votes(frame_of("modelC", "Model_A", " ModelC ", "modelC"))
    assert e.value.rows == (1, 3, 4)


def test_at_most_five_unknown_verdicts_are_quoted() -> None:
    with pytest.raises(VoteError, match=r"6 votes .*: 'A0', 'A1', 'A2', 'A3', 'A4', \.\.\."):
        read_votes(frame_of(*(f"A{k}" for k in range(6))))


def test_unknown_verdicts_can_be_dropped_and_are_said() -> None:
    with pytest.warns(VoteWarning, match=r"1 rows? with an unknown verdict \(of 2\)"):
        votes = read_votes(frame_of("model_a", "huh"), unknown="drop")
    assert votes.origin["unknown_labels"] == 1


@pytest.mark.parametrize("empty", [None, "", " ", "NaN", "null", "N/A"])
def test_rows_without_a_verdict_are_dropped_and_said(empty: str | None) -> None:
    with pytest.warns(VoteWarning, match=r"1 rows? without a verdict \(of 2\)"):
        votes = read_votes(frame_of("model_a", empty))
    assert (votes.origin["no_verdict"], votes.n_votes) == (1, 1)


def test_self_comparisons_are_dropped_and_said() -> None:
    frame = pd.DataFrame(
        {"annotator": ["a"] * 3, "left": ["x", "x", "q"], "right": ["y", "x", "q"], "choice": 1}
    )
    with pytest.warns(VoteWarning, match="2 rows? comparing an item with itself"):
        votes = read_votes(frame)
    assert votes.items.tolist() == ["x", "y"]


def test_nothing_left_says_what_there_was() -> None:
    with pytest.raises(VoteError, match=r"no votes are left: .*ties dropped 2"):
        read_votes(frame_of("tie", "tie"), ties="drop")


def test_weights_add_up_and_twice_a_row_is_weight_two() -> None:
    rows = {"annotator": "a", "left": "x", "right": "y", "choice": 1}
    twice = read_votes(pd.DataFrame([rows, rows]))
    weighted = read_votes(pd.DataFrame([rows | {"weight": 2.0}]))
    assert twice.weight.tolist() == weighted.weight.tolist() == [2.0]
    renamed = read_votes(pd.DataFrame([rows | {"w": 0.5}, rows | {"w": 0.25}]), weight="w")
    assert (renamed.weight.tolist(), renamed.count.tolist()) == ([0.75], [2])


@pytest.mark.parametrize("bad", ["-1", "inf", "nan", "", "heavy"])
def test_bad_weights_are_an_error_with_rows(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(f"annotator,left,right,choice,weight\na,x,y,1,1\na,x,y,1,{bad}\n")
    with pytest.raises(VoteError, match="1 vote has a weight") as caught:
        read_votes(path)
    assert caught.value.rows == (2,)


def test_all_weights_zero_is_an_error() -> None:
    frame = pd.DataFrame(
        {"annotator": ["a"], "left": ["x"], "right": ["y"], "choice": [1], "weight": [0.0]}
    )
    with pytest.raises(VoteError, match="every vote has weight 0"):
        read_votes(frame)


def test_position_may_be_unknown_vote_by_vote(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(
        "annotator,left,right,choice,position_known\n"
        "a,y,x,1,true\na,y,x,1,false\na,x,y,-1,0\na,y,x,1,\n"
    )
    expected = Votes.from_arrays(
        ["a"] * 4, ["y", "y", "x", "y"], ["x", "x", "y", "x"], [1, 1, -1, 1],
        position_known=[True, False, False, False],
    )  # fmt: skip
    votes = read_votes(path)
    assert_same_votes(votes, expected)
    assert votes.count.tolist() == [3, 1]


def test_position_can_be_set_for_all() -> None:
    assert not read_votes(frame_of("model_a"), position_known=False).position_known.any()


def test_position_that_is_neither_true_nor_false_is_an_error() -> None:
    frame = frame_of("model_a", "model_b").assign(seen=["true", "perhaps"])
    with pytest.raises(VoteError, match="whether its position is known") as caught:
        read_votes(frame, position_known="seen")
    assert caught.value.rows == (2,)


def test_groups_take_the_annotators_place() -> None:
    frame = frame_of("model_a", "model_b", "tie").assign(age=[25, 30, 25])
    assert read_votes(frame, group="age").annotators.tolist() == [25, 30]
    with pytest.raises(VoteError, match="no column 'town'"):
        read_votes(frame, group="town")


def test_groups_from_a_table_of_annotators(tmp_path: Path) -> None:
    votes = tmp_path / "votes.csv"
    votes.write_text("annotator,left,right,choice\n1,x,y,1\n2,x,y,1\n3,x,y,-1\n")
    people = tmp_path / "people.csv"
    people.write_text("annotator,occupation\n1,farmer\n2,farmer\n3,artist\n4,poet\n")
    read = read_votes(votes, group="occupation", annotators=people)
    assert read.annotators.tolist() == ["artist", "farmer"]
    assert read.count.tolist() == [1, 2]
    people.write_text("annotator,occupation\n1,farmer\n3,artist\n")
    with pytest.raises(VoteError, match="no annotator") as caught:
        read_votes(votes, group="occupation", annotators=people)
    assert caught.value.rows == (2,)
    people.write_text("annotator,occupation\n1,farmer\n1,artist\n2,x\n3,y\n")
    with pytest.raises(VoteError, match="more than one occupation"):
        read_votes(votes, group="occupation", annotators=people)
    with pytest.raises(VoteError, match="needs a column to group by"):
        read_votes(votes, annotators=people)


WORDS = st.sampled_from(["model_a", "model_b", "tie", "both_bad", "", "huh"])
LABELS = st.sampled_from(["", "a", "b", "c"])


@given(
    rows=st.lists(st.tuples(LABELS, LABELS, LABELS, WORDS), min_size=1, max_size=30),
    ties=st.sampled_from(["half", "drop"]),
    both_bad=st.sampled_from(["tie", "drop"]),
)
def test_every_row_is_accounted_for(
    rows: list[tuple[str, str, str, str]], ties: str, both_bad: str
) -> None:
    frame = pd.DataFrame(rows, columns=["judge", "model_a", "model_b", "winner"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VoteWarning)
        try:
            votes = read_votes(frame, ties=ties, both_bad=both_bad, unknown="drop")
        except VoteError as error:
            assert "no votes are left" in str(error)
            return
    origin = votes.origin
    assert origin["rows"] == len(rows) == origin["votes"] + sum(origin[name] for name in DROPPED)
    assert origin["votes"] == votes.n_votes == votes.n_rows + origin["duplicates_merged"]
    kept = [
        row for row in rows
        if all(row[:3]) and row[1] != row[2] and row[3] not in ("", "huh")
        and not (ties == "drop" and row[3] in ("tie", "both_bad"))
        and not (both_bad == "drop" and row[3] == "both_bad")
    ]  # fmt: skip
    who, left, right, words = zip(*kept, strict=True)
    choice = [{"model_a": 1, "model_b": -1}.get(word, 0) for word in words]
    assert_same_votes(votes, Votes.from_arrays(who, left, right, choice))


@pytest.mark.parametrize("weighted", [False, True])
def test_grouping_in_the_database_gives_the_same_votes(
    monkeypatch: pytest.MonkeyPatch, weighted: bool
) -> None:
    frame = many_votes(weighted)
    expected = read_votes(frame)
    monkeypatch.setattr(tabulate, "MOST_KEYS_IN_MEMORY", 0)
    assert_same_votes(read_votes(frame), expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_more_labels_than_a_key_can_hold_give_the_same_votes(
    monkeypatch: pytest.MonkeyPatch, weighted: bool
) -> None:
    frame = many_votes(weighted)
    expected = read_votes(frame)
    monkeypatch.setattr(KeyLayout, "fits", False)
    assert_same_votes(read_votes(frame), expected)


def many_votes(weighted: bool) -> pd.DataFrame:
    n = 500
    frame = pd.DataFrame(
        {
            "annotator": [f"a{i % 7}" for i in range(n)],
            "left": [f"i{i % 5}" for i in range(n)],
            "right": [f"j{i % 3}" for i in range(n)],
            "choice": [(i % 4 % 3) - 1 for i in range(n)],
            "position_known": [i % 2 == 0 for i in range(n)],
        }
    )
    return frame.assign(weight=[0.25 * (i % 9) for i in range(n)]) if weighted else frame


def test_graded_numbers_are_strengths_or_weights() -> None:
    rows = {"rater": ["a", "a", "b"], "item_a": ["x", "y", "x"], "item_b": ["y", "z", "z"]}
    graded = pd.DataFrame({**rows, "preference": [3, -2, 0]})
    strengths = read_votes(graded)
    np.testing.assert_array_equal(np.sort(strengths.choice), [-2.0, 0.0, 3.0])
    weighed = read_votes(graded, grades="weight")
    found = sorted(zip(weighed.choice, weighed.weight, strict=True))
    assert found == [(-1.0, 1.0), (0.0, 0.5), (1.0, 1.5)]  # 2, 1 and 3, and three votes
    for votes in (strengths, weighed):  # true of both
        said = votes.origin["read_as"]
        assert said.endswith("choices are graded from -2 to 3, above 0 left")
    with pytest.raises(VoteError, match="--grades weight"):
        Problem.build(strengths)
    Problem.build(weighed)


def test_grades_of_items_1_and_2_are_numbers_and_not_sides() -> None:
    rows = {"rater": list("aabbcc"), "item_1": list("xyxyzz"), "item_2": list("yzzxxy")}
    graded = pd.DataFrame({**rows, "preference": [2, 1, -1, -2, 1, 2]})
    given = dict(zip(graded["item_1"] + graded["item_2"], graded["preference"], strict=True))
    votes = read_votes(graded, grades="strength")
    for left, right, choice in zip(votes.left, votes.right, votes.choice, strict=True):
        assert choice == given[votes.items[left] + votes.items[right]]
    coded = graded.assign(preference=[1, 2, -1, 0, 1, 2])
    with pytest.raises(VoteError, match="is -1, 0, 1 or 2, which can mean more than one") as caught:
        read_votes(coded)
    assert "--choices 1=left,2=right,-1=tie,0=tie" in str(caught.value.remedy)
    assert read_votes(coded.replace(-1, 0)).without_ties().n_votes == 4


def test_weights_are_found_by_their_german_name() -> None:
    rows = {"links": ["x", "y"], "rechts": ["y", "z"], "Wahl": ["links", "rechts"]}
    votes = read_votes(pd.DataFrame({**rows, "Gewicht": [2.0, 5.0]}))
    assert sorted(votes.weight) == [2.0, 5.0]
    assert "Gewicht weighs the votes" in votes.origin["read_as"]
