"""Names that read like patterns, odd numbers, odd text, odd column names: read or a VoteError."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from prefpath import VoteError, Votes, VoteWarning, read_votes
from prefpath.cli.app import app
from prefpath.votes.features import read_feature_table

HEADER = "annotator,left,right,choice\n"


def frame(**columns: object) -> pd.DataFrame:
    plain: dict[str, object] = {
        "annotator": list("aba"), "left": list("xyz"), "right": list("yzx"), "choice": [1, -1, 1],
    }  # fmt: skip
    return pd.DataFrame(plain | columns)


@pytest.mark.parametrize(
    ("name", "neighbour"),
    [("votes[1].csv", "votes1.csv"), ("star*.csv", "star2.csv"), ("q?.csv", "qq.csv"),
     ("{a,b}.csv", "a.csv"), ("d[1]/v.csv", "d1/v.csv"), ("back\\slash.csv", "backslash.csv")],
)  # fmt: skip
def test_a_name_that_exists_is_that_file(tmp_path: Path, name: str, neighbour: str) -> None:
    for file, item in ((name, "right one"), (neighbour, "wrong one")):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(f"{HEADER}a,{item},other,1\n")
    assert read_votes(tmp_path / name).items.tolist() == ["other", "right one"]


def test_a_pattern_is_a_pattern_where_no_such_file_exists(tmp_path: Path) -> None:
    for k in (1, 2):
        (tmp_path / f"part{k}.csv").write_text(f"{HEADER}a,x{k},y,1\n")
    assert read_votes(tmp_path / "part*.csv").items.tolist() == ["x1", "x2", "y"]
    assert read_votes(tmp_path / "part[2].csv").items.tolist() == ["x2", "y"]


@pytest.mark.parametrize("bad", [1e308, 5e-324, 1e101, 1e-200])
def test_weights_that_overflow_or_vanish_are_refused(bad: float) -> None:
    with pytest.raises(VoteError, match="out of all proportion") as caught:
        read_votes(frame(weight=[1.0, bad, bad]))
    assert caught.value.rows == (2, 3)
    with pytest.raises(VoteError, match="out of all proportion") as caught:
        Votes.from_arrays(list("aab"), list("xyz"), list("yzx"), [1, -1, 1], [1.0, bad, bad])
    assert caught.value.rows == (2, 3)


def test_strengths_that_swamp_all_others_are_refused() -> None:
    with pytest.raises(VoteError, match="no verdicts"):
        read_votes(frame(choice=[1e300, -1e300, 1.0]))
    with pytest.raises(VoteError, match=r"unknown choice: '1e\+300'") as caught:
        Votes.from_arrays(list("aab"), list("xyz"), list("yzx"), [1, -1, 1e300])
    assert caught.value.rows == (3,)


@pytest.mark.parametrize("name", ["a" * 140_000, '"' + "a" * 140_000 + '"'])
def test_a_header_that_is_no_header(tmp_path: Path, name: str) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(f"{name},{HEADER}q,a,x,y,1\n")
    with pytest.raises(VoteError, match=r"column names of .* cannot be read"):
        read_votes(path)


def test_a_line_too_long_is_not_printed(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(f"{HEADER}a,{'x' * 3_000_000},y,1\n")
    with pytest.raises(VoteError) as caught:
        read_votes(path)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "ends",
    ["\r\n|\n|\r\n|\n", "\n|\r|\n|\r\n", "\r|\r|\r|\r", "\n|\n\n|\n|\n\n", "\r\n|\r\n|\r\n|"],
)
def test_any_line_ends_are_read_or_named(tmp_path: Path, ends: str) -> None:
    lines = [HEADER.strip(), "a,x,y,1", "b,y,x,-1", "a,x,z,1"]
    path = tmp_path / "votes.csv"
    path.write_bytes("".join(map("".join, zip(lines, ends.split("|"), strict=True))).encode())
    try:
        assert read_votes(path).n_votes == 3
    except VoteError as error:
        assert "lines do not all end alike" in str(error)
        assert error.remedy


def test_halves_of_surrogate_pairs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(VoteError, match="surrogate"):
        read_votes(frame(left=pd.Series(["\ud800", "y", "z"], dtype=object)))
    with pytest.raises(VoteError, match="a label cannot be read"):
        Votes.from_arrays(list("aab"), ["\ud800", "y", "z"], list("yzx"), [1, -1, 1])
    (tmp_path / "v.csv").write_bytes(HEADER.encode() + b"a,\xed\xa0\x80,y,1\n")
    with pytest.raises(VoteError, match="line 2: the text is not UTF-8"):
        read_votes(tmp_path / "v.csv")


def test_bytes_and_dates_are_labels() -> None:
    assert read_votes(frame(left=[b"x", b"y", b"z"])).items.tolist() == ["x", "y", "z"]
    days = [datetime.date(2024, 1, day) for day in (1, 2, 3)]
    read = read_votes(frame(left=days, right=days[1:] + days[:1]))
    assert read.items.tolist() == ["2024-01-01", "2024-01-02", "2024-01-03"]


NAMES = ("label", "code", "person", "group_label", "row", "verdict", "word", "known", "votes", "c0")


@pytest.mark.parametrize("name", NAMES)
def test_columns_may_be_called_as_ours_are(name: str) -> None:
    renamed = frame().rename(columns={"annotator": name})
    assert read_votes(renamed, annotator=name).annotators.tolist() == ["a", "b"]
    assert read_votes(frame().rename(columns={"left": name}), left=name).n_items == 3
    assert read_votes(frame(**{name: [1, 2, 3]})).n_votes == 3
    people = pd.DataFrame({name: ["a", "b"], "town": ["p", "q"]})
    grouped = read_votes(renamed, annotator=name, group="town", annotators=people)
    assert grouped.annotators.tolist() == ["p", "q"]
    features = pd.DataFrame({name: ["x", "y"], "size": [1.0, 2.0]})
    assert read_feature_table(features, item=name).items.tolist() == ["x", "y"]
    assert read_feature_table(features.assign(item=["p", "q"])).names[-1] == "size"


def test_labels_that_are_nearly_alike_or_look_missing_are_said() -> None:
    with pytest.warns(VoteWarning, match="items that differ in case or blanks only: 'X' and 'x '"):
        read_votes(frame(left=["X", "y", "z"], right=["y", "z", "x "]))
    with pytest.warns(VoteWarning, match="'NA' is a label of an annotator here"):
        votes = read_votes(frame(annotator=["NA", "b", "NA"]))
    assert votes.origin["labels_said"]


def test_numbers_are_not_nearly_alike() -> None:
    assert not read_votes(frame(left=[1, 2, 3], right=[2, 3, 1])).origin["labels_said"]


def test_no_label_reaches_the_terminal_as_a_command(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    rows = "".join(f"a\x1b[2J{k},x\x1b]0;owned\x07,y\u202e,1\n" for k in range(3))
    path.write_text(HEADER + rows, encoding="utf-8")
    shown = CliRunner().invoke(app, ["check", str(path)])
    assert "owned" in shown.output
    for character in "\x1b\x07\u202e":
        assert character not in shown.output
    (tmp_path / "bad.csv").write_text(HEADER + "a,x,y,\x1b[2J\n")
    with pytest.raises(VoteError) as caught:
        read_votes(tmp_path / "bad.csv")
    assert "\x1b" not in str(caught.value)


def test_weights_may_be_large_and_small() -> None:
    weight = read_votes(frame(weight=[1e15, 1e-90, 0.0])).weight
    assert np.isfinite(weight.sum())
