"""Labels are the user's: their type, their characters, their length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from prefpath import Path as PreferencePath
from prefpath import VoteError, Votes, fit_path, rank, read_votes

HEADER = "annotator,left,right,choice\n"


def read_text(folder: Path, body: str) -> list[object]:
    path = folder / "votes.csv"
    path.write_text(HEADER + body, encoding="utf-8", newline="")
    return read_votes(path).items.tolist()


def test_plain_integers_are_integers_in_numeric_order(tmp_path: Path) -> None:
    assert read_text(tmp_path, "1,10,9,1\n1,-2,0,1\n") == [-2, 0, 9, 10]


@pytest.mark.parametrize(
    ("odd", "labels"),
    [
        ("007", ["007", "10", "9"]),
        ("1.0", ["1.0", "10", "9"]),
        ("+1", ["+1", "10", "9"]),
        ("-0", ["-0", "10", "9"]),
        ("1e3", ["10", "1e3", "9"]),
        (" 7", [" 7", "10", "9"]),
        ("9999999999999999999", ["10", "9", "9999999999999999999"]),
    ],
)
def test_one_odd_id_makes_all_of_them_text(tmp_path: Path, odd: str, labels: list[str]) -> None:
    assert read_text(tmp_path, f"1,{odd},9,1\n1,9,10,1\n") == labels


def test_items_and_annotators_have_their_own_types(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(HEADER + "7,x,y,1\n")
    votes = read_votes(path)
    assert votes.annotators.dtype == np.int64
    assert votes.items.dtype.kind == "U"


def test_typed_columns_keep_their_type(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"annotator": ["1", "2"], "left": [1, 2], "right": [3, 4], "choice": [1, -1]}
    )
    path = tmp_path / "votes.parquet"
    frame.to_parquet(path)
    for source in (frame, path):
        votes = read_votes(source)
        assert votes.annotators.tolist() == ["1", "2"]
        assert votes.items.tolist() == [1, 2, 3, 4]


def test_json_strings_of_digits_stay_text(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    path.write_text('{"annotator": "1", "left": 1, "right": 2, "choice": 1}\n')
    votes = read_votes(path)
    assert (votes.annotators.tolist(), votes.items.tolist()) == (["1"], [1, 2])


def test_json_labels_that_look_like_dates_stay_text(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    path.write_text(
        '{"annotator": "a", "left": "2024-01-01T10:00:00", "right": "2024-1-2", "choice": 1}\n'
    )
    assert read_votes(path).items.tolist() == ["2024-01-01T10:00:00", "2024-1-2"]


def test_json_ids_of_mixed_types_are_text(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    path.write_text(
        '{"annotator": "a", "left": 1, "right": "b", "choice": 1}\n'
        '{"annotator": "a", "left": "b", "right": "c", "choice": 1}\n'
    )
    assert read_votes(path).items.tolist() == ["1", "b", "c"]


def test_sides_of_two_types_meet_as_text() -> None:
    frame = pd.DataFrame({"annotator": ["a"], "left": [1], "right": ["x"], "choice": [1]})
    assert read_votes(frame).items.tolist() == ["1", "x"]


@pytest.mark.parametrize(
    "label",
    [
        '=HYPERLINK("http://evil","x")',
        "+1+1",
        "@SUM(A1)",
        "<script>alert(1)</script>",
        "[red]bold[/red]",
        "x" * 10_000,
        "🦊👩‍🚀",
        "naïve\u0301 λ",
        "two\nlines",
        "two\r\nlines",
        'a "quoted" one',
        "comma, semicolon; tab\tbar|",
        "'; DROP TABLE census; --",
        "NULL",
        "nan",
        "{}",
        "%s",
    ],
    ids=lambda label: label[:12].encode("ascii", "replace").decode(),
)
@pytest.mark.filterwarnings("ignore:.*not a missing one:prefpath.VoteWarning")
def test_labels_survive_as_they_are(tmp_path: Path, label: str) -> None:
    quoted = '"' + label.replace('"', '""') + '"'
    assert sorted(read_text(tmp_path, f"1,{quoted},zzz,1\n")) == sorted([label, "zzz"])
    frame = pd.DataFrame({"annotator": [label], "left": [label], "right": ["zzz"], "choice": [1]})
    votes = read_votes(frame)
    assert votes.annotators.tolist() == [label]
    assert votes.items[votes.item_code(label)] == label


def test_long_labels_do_not_make_all_labels_long(tmp_path: Path) -> None:
    body = "".join(f"{i},a{i},b{i},1\n" for i in range(2000)) + f"1,{'x' * 10_000},b0,1\n"
    path = tmp_path / "votes.csv"
    path.write_text(HEADER + body)
    items = read_votes(path, position_known=True).items
    assert items.dtype == object
    assert items.nbytes < 100_000


def test_a_trailing_nul_character_is_kept() -> None:
    frame = pd.DataFrame({"annotator": ["u"], "left": ["a\0"], "right": ["a"], "choice": [1]})
    assert read_votes(frame).items.tolist() == ["a", "a\0"]


@pytest.mark.parametrize("left", [["a\0", "b"], ("a\0", "b"), np.array(["a\0", "b"], object)])
def test_arrays_keep_a_trailing_nul_character(left: Any, tmp_path: Path) -> None:
    for who in (["u", "u\0"], ["u\0", 1]):
        votes = Votes.from_arrays(who, left, ["a", 1], [1, -1])
        assert votes.items.tolist() == ["1", "a", "a\0", "b"]
        assert sorted(votes.annotators.tolist()) == sorted(map(str, who))
    assert rank((None, left, ["a", "a"], [1, -1])).items.tolist() == ["a", "a\0", "b"]
    path = fit_path(votes, times=[1.0, 2.0])
    path.save(tmp_path / "path.npz")
    assert PreferencePath.load(tmp_path / "path.npz").items.tolist() == votes.items.tolist()


@pytest.mark.parametrize(
    ("body", "rows", "says"),
    [
        ("1,x,y,1\n,x,y,1\n", (2,), "1 vote has no annotator"),
        ('1,"",y,1\n1,x,y,1\n1,,y,1\n', (1, 3), "2 votes have no left item"),
        ("1,x,y,1\n1,x,,1\n", (2,), "1 vote has no right item"),
    ],
)
def test_missing_labels_are_an_error_with_rows(
    tmp_path: Path, body: str, rows: tuple[int, ...], says: str
) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(HEADER + body)
    with pytest.raises(VoteError, match=says) as caught:
        read_votes(path)
    assert caught.value.rows == rows
    if len(rows) < body.count("\n"):
        with pytest.warns(UserWarning, match="without an annotator or an item"):
            votes = read_votes(path, unknown="drop")
        assert votes.origin["missing_labels"] == len(rows)
        assert votes.origin["votes"] == 1


@pytest.mark.parametrize("missing", [None, float("nan"), ""])
def test_missing_labels_in_frames(missing: object) -> None:
    frame = pd.DataFrame(
        {"annotator": ["a", missing], "left": ["x", "x"], "right": ["y", "y"], "choice": [1, 1]}
    )
    with pytest.raises(VoteError, match="1 vote has no annotator") as caught:
        read_votes(frame)
    assert caught.value.rows == (2,)


def test_missing_numbers_in_frames() -> None:
    frame = pd.DataFrame(
        {"annotator": [1.0, np.nan], "left": [1, 1], "right": [2, 2], "choice": [1, 1]}
    )
    with pytest.raises(VoteError, match="no annotator"):
        read_votes(frame)


@pytest.mark.parametrize(
    "left",
    [
        np.array(["2020", "NaT"], dtype="datetime64[D]"),
        np.ma.array(["x", "y"], mask=[False, True]),
        np.ma.array([1, 2], mask=[False, True]),
    ],
)
def test_dates_and_masked_labels_may_be_missing(left):
    with pytest.raises(VoteError, match="1 vote has no left item"):
        Votes.from_arrays(["ann", "bob"], left, ["z", "z"], [1, -1])


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_missing_labels_of_every_kind_are_told_by_their_rows(missing: object) -> None:
    column = pd.Series(["ann", missing], dtype=object)
    with pytest.raises(VoteError, match="1 vote has no left item") as error:
        Votes.from_arrays(["u", "u"], column, ["x", "y"], [1, 1])
    assert error.value.rows == (2,)
