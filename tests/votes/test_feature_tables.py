"""Tables of item features: numbers, categories, lists; every missing item is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from prefpath import VoteError, VoteWarning
from prefpath.model.features import as_item_features
from prefpath.votes import features as features_module
from prefpath.votes.features import ItemFeatures, read_feature_table

FRAME = pd.DataFrame(
    {
        "item": ["y", "x", "z"],
        "price": [2.5, 1.0, 3.0],
        "new": [True, False, True],
        "colour": ["red", "blue", "red"],
        "genres": ["Action|Comedy", "Comedy", "Drama"],
    }
)
NAMES = ("price", "new", "colour=blue", "colour=red",
         "genres=Action", "genres=Comedy", "genres=Drama")  # fmt: skip
MATRIX = [[1.0, 0, 1, 0, 0, 1, 0], [2.5, 1, 0, 1, 1, 1, 0], [3.0, 1, 0, 1, 0, 0, 1]]


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
def test_numbers_categories_and_lists(tmp_path: Path, kind: str) -> None:
    source: Any = FRAME
    if kind == "csv":
        source = tmp_path / "items.csv"
        FRAME.to_csv(source, index=False)
    elif kind == "parquet":
        source = tmp_path / "items.parquet"
        FRAME.to_parquet(source)
    table = read_feature_table(source)
    assert table.items.tolist() == ["x", "y", "z"]
    assert table.names == NAMES
    np.testing.assert_array_equal(table.matrix, MATRIX)


def test_real_lists_may_be_empty() -> None:
    frame = pl.DataFrame({"model": ["b", "a"], "tags": [["new", "free"], []]})
    table = read_feature_table(frame)
    assert (table.items.tolist(), table.names) == (["a", "b"], ("tags=free", "tags=new"))
    assert table.matrix.tolist() == [[0.0, 0.0], [1.0, 1.0]]


def test_columns_can_be_chosen() -> None:
    table = read_feature_table(FRAME, columns=["colour"])
    assert table.names == ("colour=blue", "colour=red")
    with pytest.raises(VoteError, match="no column 'weight'"):
        read_feature_table(FRAME, columns=["weight"])
    with pytest.raises(VoteError, match="has no features"):
        read_feature_table(FRAME, columns=[])


def test_a_title_is_no_category() -> None:
    frame = pd.DataFrame(
        {"item": range(50), "title": [f"film {i}" for i in range(50)], "year": range(50)}
    )
    with pytest.warns(VoteWarning, match="left out the column 'title'"):
        assert read_feature_table(frame).names == ("year",)
    assert len(read_feature_table(frame, columns=["title"]).names) == 50


@pytest.mark.parametrize("column", ["price", "colour", "genres"])
def test_items_without_a_value_are_all_named(column: str) -> None:
    frame = FRAME.astype({column: object})
    frame.loc[[0, 2], column] = None
    with pytest.raises(VoteError, match=f"2 items have no '{column}': 'y', 'z'"):
        read_feature_table(frame)


def test_items_that_occur_twice_or_have_no_label_are_named() -> None:
    with pytest.raises(VoteError, match="occur more than once: 'x'"):
        read_feature_table(FRAME.assign(item=["x", "x", "z"]))
    with pytest.raises(VoteError, match="a missing label"):
        read_feature_table(FRAME.assign(item=["x", None, "z"]))


def test_integer_items_are_integers(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text("item,size\n10,1\n9,2\n")
    table = read_feature_table(path)
    assert table.items.tolist() == [9, 10]
    assert table.matrix.ravel().tolist() == [2.0, 1.0]


def test_items_under_other_names_and_the_remedy_where_nothing_is_named_so() -> None:
    columns = {"Title": ["x", "y"], "Year": [1999, 2001]}
    assert read_feature_table(pd.DataFrame(columns)).items.tolist() == ["x", "y"]
    with pytest.raises(VoteError, match="is named like one of items") as caught:
        read_feature_table(pd.DataFrame({"Streifen": ["x", "y"], "Year": [1999, 2001]}))
    assert "rename the column of the items to item" in str(caught.value)


def test_an_empty_table(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text("item,size\n")
    with pytest.raises(VoteError, match="has no rows"):
        read_feature_table(path)


def test_a_table_of_features_is_what_a_model_takes() -> None:
    """`PreferenceModel(features=load_movielens().features)`: no tuple taken for an array."""
    table = read_feature_table(FRAME)
    assert as_item_features(table, table.items) is table
    items, names, matrix = table
    assert (items.tolist(), names) == (table.items.tolist(), table.names)
    assert table.of(items[::-1]).tolist() == matrix[::-1].tolist()


def test_the_name_of_version_0_1_0_still_works() -> None:
    with pytest.warns(DeprecationWarning, match="ItemFeatures"):
        old = features_module.FeatureTable
    assert old is ItemFeatures


def test_a_number_and_its_text_are_one_item() -> None:
    table = ItemFeatures(["1", "2", "new"], ("size",), [[1], [2], [3]])  # type: ignore[arg-type]
    assert table.of(np.array([2, 1])).tolist() == [[2.0], [1.0]]
    with pytest.raises(VoteError, match="1 of 2 items have no features: 3"):
        table.of(np.array([1, 3]))


def test_every_column_has_a_name() -> None:
    with pytest.raises(VoteError, match="1 name for 2 columns"):
        ItemFeatures(np.array(["a"]), ("size",), np.ones((1, 2)))
