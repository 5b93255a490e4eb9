"""Tables written to files and read back."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from prefpath import VoteError
from prefpath.tables import FORMATS, write_table, write_table_in_parts

COLUMNS = {
    "item": np.array(["=1+1", "naïve, 'q' \"q\"", "two\nlines"]),
    "rank": np.array([1, 2, 3]),
    "score": np.array([-0.25, np.nan, np.inf]),
    "beats": np.array([True, False, True]),
}
ROWS = [
    ("=1+1", 1, -0.25, True),
    ("naïve, 'q' \"q\"", 2, None, False),
    ("two\nlines", 3, None, True),
]


@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t.parquet"])
def test_typed_formats_read_back_as_written(tmp_path: Path, name: str) -> None:
    path = write_table(COLUMNS, tmp_path / name)
    found: list[Any] = duckdb.sql(f"FROM '{path}'").fetchall()
    assert found == ROWS


def test_json_is_records_with_null_for_what_is_not_finite(tmp_path: Path) -> None:
    records = json.loads(write_table(COLUMNS, tmp_path / "t.json").read_text(encoding="utf-8"))
    assert records[1] == {"item": ROWS[1][0], "rank": 2, "score": None, "beats": False}


@pytest.mark.parametrize(("name", "delimiter"), [("t.csv", ","), ("t.tsv", "\t")])
def test_csv_keeps_labels_as_they_are(tmp_path: Path, name: str, delimiter: str) -> None:
    path = write_table(COLUMNS, tmp_path / name)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter=delimiter))
    assert rows[0] == list(COLUMNS)
    assert rows[1] == ["=1+1", "1", "-0.25", "True"]
    assert rows[2][2] == ""


def test_csv_for_spreadsheets_runs_no_formula(tmp_path: Path) -> None:
    labels = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\n=1", "\uff1d1+1", "a=1", ""]
    path = write_table(
        {"=name": labels, "score": -np.ones(9)}, tmp_path / "t.csv", for_spreadsheets=True
    )
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert [row[0] for row in rows] == [
        "'=name", "'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\tx", "'\n=1", "'\uff1d1+1", "a=1", ""
    ]  # fmt: skip
    assert {row[1] for row in rows[1:]} == {"-1.0"}


@pytest.mark.parametrize(
    ("columns", "name", "says"),
    [
        ({"a": [1], "b": [1, 2]}, "t.csv", "differ in length: a 1, b 2"),
        ({}, "t.csv", "there are none"),
        ({"a": [[1]]}, "t.csv", "2 dimensions"),
        ({"a": [1]}, "t.xlsx", "does not say which format"),
    ],
)
def test_what_cannot_be_written(
    tmp_path: Path, columns: dict[str, Any], name: str, says: str
) -> None:
    with pytest.raises(VoteError, match=says):
        write_table(columns, tmp_path / name)


def test_a_table_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    path = write_table({"a": [1]}, tmp_path / "t.json")
    with pytest.raises(TypeError):
        write_table({"a": np.array([object()])}, path)
    assert json.loads(path.read_text()) == [{"a": 1}]
    assert [file.name for file in tmp_path.iterdir()] == ["t.json"]


def test_a_lone_surrogate_is_written(tmp_path: Path) -> None:
    for suffix in ("csv", "json", "jsonl"):
        path = write_table({"a": ["x\udc80"]}, tmp_path / f"t.{suffix}")
        assert "x?" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_table_that_comes_in_parts_is_the_same(tmp_path, suffix):
    """Also where nothing is known of a column in the first rows."""
    whole = {"name": ["a", "b", "ü", "d"], "number": [None, None, 0.5, 3.0], "n": [1, 2, 3, 4]}
    parts = [{name: column[k:end] for name, column in whole.items()} for k, end in ((0, 2), (2, 4))]
    expected = write_table(whole, tmp_path / f"whole.{suffix}")
    found = write_table_in_parts(iter(parts), tmp_path / f"parts.{suffix}")
    if suffix == "parquet":
        query = "select *, typeof(number) from read_parquet('{}')"
        rows = [duckdb.sql(query.format(file)).fetchall() for file in (found, expected)]
        assert rows[0] == rows[1] and len(rows[0]) == 4
    else:
        assert found.read_bytes() == expected.read_bytes()


def test_a_part_that_cannot_be_made_leaves_nothing(tmp_path):
    def parts():
        yield {"a": [1]}
        raise VoteError("a worker is gone")

    for suffix in FORMATS:
        with pytest.raises(VoteError, match="a worker is gone"):
            write_table_in_parts(parts(), tmp_path / f"t.{suffix}")
    assert not list(tmp_path.iterdir())
