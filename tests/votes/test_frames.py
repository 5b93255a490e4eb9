"""Frames of every library, read where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from same_votes import assert_same_votes

from prefpath import VoteError, Votes, read_votes

COLUMNS = {
    "annotator": ["ann", "ann", "bob"],
    "left": ["x", "y", "x"],
    "right": ["y", "z", "z"],
    "choice": [1, -1, 0],
}
EXPECTED = Votes.from_arrays(**COLUMNS)


@pytest.mark.parametrize(
    ("frame", "library"),
    [
        (pd.DataFrame(COLUMNS), "pandas"),
        (pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"), "pandas"),
        (pd.DataFrame(COLUMNS).astype("category"), "pandas"),
        (pd.DataFrame(COLUMNS).astype(object), "pandas"),
        (pd.DataFrame(COLUMNS, index=[7, 7, 7]), "pandas"),
        (pl.DataFrame(COLUMNS), "polars"),
        (pl.DataFrame(COLUMNS).cast({"left": pl.Categorical}), "polars"),
        (pl.LazyFrame(COLUMNS), "polars"),
        (pa.table(COLUMNS), "pyarrow"),
    ],
    ids=["pandas", "pandas arrow", "category", "object", "index", "polars", "polars category",
         "lazy", "arrow"],
)  # fmt: skip
def test_every_library(frame: Any, library: str) -> None:
    votes = read_votes(frame)
    assert_same_votes(votes, EXPECTED)
    assert votes.frame_library == library


def test_a_file_has_no_library(tmp_path: Any) -> None:
    path = tmp_path / "v.csv"
    pd.DataFrame(COLUMNS).to_csv(path, index=False)
    assert read_votes(path).frame_library is None


def test_types_that_change_late_in_a_column() -> None:
    """DuckDB looks at the first thousand objects of a pandas column only."""
    n = 5000
    left = np.array([1] * (n - 1) + ["late"], dtype=object)
    frame = pd.DataFrame({"annotator": "a", "left": left, "right": "z", "choice": 1})
    assert read_votes(frame).items.tolist() == ["1", "late", "z"]


@pytest.mark.parametrize(
    "source",
    [
        None,
        7,
        {"left": [1]},
        [("a", "x", "y", 1)],
        np.zeros((2, 4)),
        pd.DataFrame([[1, 2, 3]], columns=["left", "left", "right"]),
        pd.Series([1, 2]),
        object(),
    ],
    ids=lambda source: type(source).__name__,
)
def test_what_is_no_frame(source: Any) -> None:
    with pytest.raises(VoteError, match=r"cannot be read from|have the same name") as caught:
        read_votes(source)
    assert "allow_series" not in str(caught.value)  # advice for other people


def test_a_named_index_is_a_column() -> None:
    frame = pd.DataFrame(COLUMNS)
    assert_same_votes(read_votes(frame.set_index("annotator")), EXPECTED)
    assert_same_votes(read_votes(frame.set_index(["left", "annotator"])), EXPECTED)
    frame.index.name = "left"  # the column of that name is meant
    assert_same_votes(read_votes(frame), EXPECTED)


@pytest.mark.parametrize(
    "ages",
    [
        pd.cut([25, 31, 64], [20, 30, 70]),
        pd.interval_range(20, 23),
        pd.period_range("1990", periods=3, freq="Y"),
        pd.arrays.SparseArray([25, 0, 64]),
        [1j, 2j, 3j],
    ],
    ids=["bins", "intervals", "periods", "sparse", "complex"],
)
def test_columns_of_types_of_pandas_own(ages: Any) -> None:
    frame = pd.DataFrame({**COLUMNS, "age": ages})
    assert_same_votes(read_votes(frame), EXPECTED)
    grouped = read_votes(frame, group="age")
    assert set(grouped.annotators) <= {str(age) for age in frame["age"]}


def test_a_missing_interval_is_no_label() -> None:
    frame = pd.DataFrame({**COLUMNS, "age": pd.cut([25, 80, 64], [20, 30, 70])})
    with pytest.raises(VoteError, match="1 vote has no annotator"):
        read_votes(frame, group="age")


def test_addresses_of_objects_are_no_labels() -> None:
    frame = pl.DataFrame({**COLUMNS, "left": pl.Series([object()] * 3, dtype=pl.Object)})
    with pytest.raises(VoteError, match="'left' of the frame holds Python objects"):
        read_votes(frame)


def test_polars_types_that_arrow_lacks() -> None:
    frame = pl.DataFrame(COLUMNS).cast({"choice": pl.Int128})
    with pytest.raises(VoteError, match="the frame cannot be read"):
        read_votes(frame)


def test_a_frame_without_columns() -> None:
    with pytest.raises(VoteError, match="no columns"):
        read_votes(pd.DataFrame())


def test_column_names_need_not_be_text() -> None:
    frame = pd.DataFrame([["a", "x", "y", 1]])
    votes = read_votes(frame, annotator="0", left="1", right="2", choice="3")
    assert votes.items.tolist() == ["x", "y"]


@pytest.mark.parametrize("make", [list, lambda v: np.array(v, dtype="S"), pd.Categorical])
def test_bytes_are_the_text_they_encode(make: Any) -> None:
    frame = pd.DataFrame({"annotator": ["ann"] * 2, "right": ["z"] * 2, "choice": [1, -1]})
    frame["left"] = make([b"x", b"y"])
    assert read_votes(frame).items.tolist() == ["x", "y", "z"]
