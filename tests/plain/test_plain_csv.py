"""The fast reading of plain CSV files says what `read_votes` says, or leaves it to it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from prefpath import rank, read_votes, simulate_crowd
from prefpath.cli import app
from prefpath.plain import plain_csv
from prefpath.plain.plain_csv import read_plain_csv


@pytest.fixture(autouse=True)
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prefpath.plain.plain_csv._SMALLEST", 0)


def rows_of_crowd(n_votes: int = 800) -> list[str]:
    votes = simulate_crowd(n_votes, 20, 6, ties=0.1, seed=1).votes
    words = {1.0: "left", -1.0: "right", 0.0: "tie"}
    times = np.repeat(np.arange(votes.n_rows), votes.count)
    who = votes.annotators[votes.annotator]
    return [
        f"{who[k]},{votes.items[votes.left[k]]},{votes.items[votes.right[k]]},"
        f"{words[votes.choice[k]]}"
        for k in times
    ]


def write(tmp_path, rows: list[str], header: str = "annotator,left,right,choice", end="\n"):
    file = tmp_path / "votes.csv"
    file.write_bytes((end.join([header, *rows]) + end).encode())
    return file


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last_newline", [True, False])
def test_codes_are_the_readers(tmp_path, end: str, last_newline: bool) -> None:
    file = write(tmp_path, rows_of_crowd(), end=end)
    if not last_newline:
        file.write_bytes(file.read_bytes().removesuffix(end.encode()))
    found = read_plain_csv(file, with_annotators=True)
    assert found is not None
    votes = read_votes(file)
    assert found.items.tolist() == votes.items.tolist()
    assert found.n_annotators == votes.n_annotators
    expected = np.zeros((6, 6))
    np.add.at(expected, (votes.left, votes.right), votes.weight * (2 + votes.choice))
    counted = np.zeros((6, 6))
    np.add.at(counted, (found.left, found.right), 2.0 + found.choice)
    np.testing.assert_allclose(counted, expected)
    busy = np.bincount(votes.annotator, votes.weight)
    np.testing.assert_array_equal(np.bincount(found.annotator), busy)
    fast, slow = rank(file), rank(votes)
    np.testing.assert_allclose(fast.scores, slow.scores, atol=1e-9)
    np.testing.assert_allclose(fast.bounds.score_low, slow.bounds.score_low, atol=1e-9)


def test_whole_numbers_are_numbers(tmp_path) -> None:
    rows = ["u,10,9,left", "v,9,10,left", "u,9,-3,left", "v,-3,9,right", "u,9,-3,right"]
    file = write(tmp_path, rows)
    found = read_plain_csv(file, with_annotators=False)
    assert found is not None
    assert found.items.tolist() == [-3, 9, 10] == read_votes(file).items.tolist()
    assert found.annotator is None


@pytest.mark.parametrize(
    "row",
    [
        'u,"a, b",c,left',  # a quotation mark
        "u,a,b",  # a column is missing
        "u,a,b,left,more",
        "u,a,b,perhaps",
        "u,a,,left",
        "u,a,a,left",
        "u,NA,b,left",
        "u,A ,b,left",  # nearly alike
        "",
    ],
)
def test_what_is_unusual_is_left_to_the_reader(tmp_path, row: str) -> None:
    usual = ["u,a,b,left", "v,b,a,left", "u,a,c,right", "v,c,a,right", "v,c,b,tie"]
    assert read_plain_csv(write(tmp_path, usual), with_annotators=True) is not None
    for place in (0, 3, 5):
        file = write(tmp_path, [*usual[:place], row, *usual[place:]])
        assert read_plain_csv(file, with_annotators=True) is None


@pytest.mark.parametrize(
    "header", ["annotator,left,right,choice,weight", "left,left,right,choice", "a,b,c,d"]
)
def test_other_headers_are_left_to_the_reader(tmp_path, header: str) -> None:
    rows = ["u,a,b,left,1"[: 100 if "weight" in header else 10], "v,b,a,left"]
    assert read_plain_csv(write(tmp_path, rows, header), with_annotators=True) is None


def test_one_sided_and_badly_encoded_files_are_left_to_the_reader(tmp_path) -> None:
    rows = ["u,a,b,left", "v,b,a,left", "u,a,c,left"]
    assert read_plain_csv(write(tmp_path, rows), with_annotators=True) is None
    file = write(tmp_path, ["u,a,b,left", "v,b,a,right"])
    file.write_bytes(file.read_bytes().replace(b"a,b", b"\xff,b"))
    assert read_plain_csv(file, with_annotators=True) is None
    assert read_plain_csv(tmp_path / "none.csv", with_annotators=True) is None
    assert read_plain_csv(np.zeros(3), with_annotators=True) is None


def test_many_labels_need_a_larger_table(tmp_path) -> None:
    rows = [f"u,{k},{k + 1},{('left', 'right')[k % 2]}" for k in range(5_000)]
    found = read_plain_csv(write(tmp_path, rows), with_annotators=False)
    assert found is not None
    assert len(found.items) == 5_001
    assert found.items[found.left[:3]].tolist() == [0, 1, 2]


@pytest.mark.parametrize("interval", ["0.9", "0"])
def test_the_command_ranks_a_large_plain_file_as_it_ranks_any(tmp_path, monkeypatch, interval):
    file = write(tmp_path, rows_of_crowd())
    arguments = ["rank", str(file), "--interval", interval]
    monkeypatch.setattr(plain_csv, "_SMALLEST", 10**9)
    expected = [CliRunner().invoke(app, [*arguments, *more]) for more in ([], ["--json"])]
    monkeypatch.setattr(plain_csv, "_SMALLEST", 0)
    monkeypatch.setattr("prefpath.cli.reading.read_votes", None)  # nobody calls it
    found = [CliRunner().invoke(app, [*arguments, *more]) for more in ([], ["--json"])]
    assert found[0].stdout == expected[0].stdout
    ours, theirs = (json.loads(one[1].stdout) for one in (found, expected))
    assert {**ours, "ranking": None} == {**theirs, "ranking": None}
    for row, like in zip(ours["ranking"], theirs["ranking"], strict=True):
        numbers = {name for name, value in like.items() if isinstance(value, float)}
        assert [row[name] for name in numbers] == pytest.approx([like[name] for name in numbers])
        assert {**row, **dict.fromkeys(numbers)} == {**like, **dict.fromkeys(numbers)}


def test_what_is_said_of_a_large_plain_file_is_what_the_reader_says(tmp_path):
    file = write(tmp_path, rows_of_crowd())
    found = read_plain_csv(file, with_annotators=True)
    said = plain_csv.origin_of_plain_csv(str(file), found)
    expected = dict(read_votes(file).origin)
    assert expected.pop("duplicates_merged") > 0
    assert said == expected


def test_the_command_leaves_to_the_reader_what_is_unusual(tmp_path):
    file = write(tmp_path, [*rows_of_crowd(), "ann,a,b,perhaps"])
    assert "perhaps" in str(CliRunner().invoke(app, ["rank", str(file)]).exception)
    asked = CliRunner().invoke(app, ["rank", str(file), "--unknown", "drop", "--json"])
    assert asked.exit_code == 0
