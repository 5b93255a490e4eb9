"""Features of items from a table: numbers as they are, categories and lists as indicators."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefpath.errors import VoteError, VoteWarning
from prefpath.text import agreeing, counted, listed, quoted
from prefpath.votes.check import check_features
from prefpath.votes.database import Database, open_database
from prefpath.votes.dictionary import make_dictionary
from prefpath.votes.encode import FloatArray, Labels
from prefpath.votes.opening import naming, open_source
from prefpath.votes.source import Column, Source

_ITEM_NAMES = (
    "item", "item_id", "movie", "movie_id", "movieId", "model", "name", "id", "title", "film",
    "product", "option", "system", "condition", "stimulus", "image", "idea", "label",
)  # fmt: skip
_FEW_CATEGORIES = 20


@dataclass(frozen=True, eq=False)
class ItemFeatures:
    """One row of features for each item; it may know items nobody has compared yet.

    It unpacks into `items, names, matrix`.

    Examples
    --------
    >>> table = ItemFeatures(np.array(["a", "b"]), ("sweet",), np.array([[1.0], [0.0]]))
    >>> table.of(np.array(["b"]))
    array([[0.]])
    """

    items: Labels
    names: tuple[str, ...]
    matrix: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", np.asarray(self.items))
        object.__setattr__(self, "matrix", check_features(self.matrix, len(self.items)))
        if len(self.names) != self.matrix.shape[1]:
            raise VoteError(
                f"{counted(len(self.names), 'name')} for {self.matrix.shape[1]} columns",
                expected="a name for each column",
            )

    def __iter__(self) -> Iterator[Any]:
        return iter((self.items, self.names, self.matrix))

    def of(self, items: Labels) -> FloatArray:
        """Features of some items, in their order; items without features are all named.

        A number and its text are one item: a single word in a table makes text of all labels.

        >>> table = ItemFeatures(np.array(["a", "b"]), ("size",), np.array([[1.0], [2.0]]))
        >>> table.of(np.array(["b"])).tolist()
        [[2.0]]
        """
        known = {label: k for k, label in enumerate(self.items.tolist())}
        row = {str(label): k for label, k in known.items()} | known
        found = [row.get(label, row.get(str(label))) for label in items.tolist()]
        missing = [label for label, k in zip(items.tolist(), found, strict=True) if k is None]
        if missing:
            raise VoteError(
                f"{len(missing)} of {counted(len(items), 'item')} have no features: "
                f"{', '.join(map(quoted, missing))}",
                expected="a row of features for every item in the votes",
                remedy="add these items to the table, or drop their votes",
            )
        return self.matrix[np.asarray(found, dtype=np.int64)]


def read_feature_table(
    source: Any,
    *,
    item: str | None = None,
    columns: Sequence[str] | None = None,
    separator: str = "|",
) -> ItemFeatures:
    """Features of items from a file or a data frame, one row an item.

    Numbers (and true or false) are one feature. Text is a category, with an indicator
    "colour=red" for each of its values. Lists, and text in which `separator` occurs
    ("Action|Comedy"), have an indicator for each element. No indicator is left out as a
    reference level: features enter as differences between two items, and the path starts from
    zero, so collinear indicators do no harm.

    Parameters
    ----------
    source : path or data frame
        The table.
    item : str, optional
        The column of the items' labels; by default item, movie, model, name, id,
        title, film, product, ...
    columns : sequence of str, optional
        The columns to use. By default all but the item's, and but text that is different for
        more than half of the items (a title is no category): a warning names those.
    separator : str
        What separates the elements of a list written as text.

    Raises
    ------
    VoteError
        An item occurs twice, or a feature has no value for some items (all are named).

    Examples
    --------
    >>> import pandas as pd
    >>> table = read_feature_table(pd.DataFrame({
    ...     "item": ["x", "y"], "price": [3, 4], "taste": ["sweet|sour", "sour"]}))
    >>> table.names
    ('price', 'taste=sour', 'taste=sweet')
    >>> table.matrix
    array([[3., 1., 1.],
           [4., 1., 0.]])
    """
    with naming(source), open_database() as database:
        table = open_source(source, database)
        own = item or _item_column(table)
        items = _read_items(database, table, table.column(own))
        blocks = [
            block
            for name in _feature_columns(table, table.find(own), columns)
            if (block := _read_block(database, table, name, items, separator, columns)) is not None
        ]
    if not blocks:
        raise VoteError(f"{table.name} has no features", expected="columns beside the items'")
    names = tuple(name for block in blocks for name in block[0])
    return ItemFeatures(items, names, np.hstack([block[1] for block in blocks]))


def _item_column(table: Source) -> str:
    """The column of the items, by its name."""
    found = next((name for name in _ITEM_NAMES if table.find(name)), None)
    if found is None:
        raise VoteError(
            f"no column of {table.name} is named like one of items: its columns are "
            f"{listed(list(table.columns), 12)}",
            expected="a column 'item' with the labels that the votes have, and one a feature",
            remedy='rename the column of the items to item (in Python: item="...")',
        )
    return found


def _feature_columns(table: Source, item: str | None, wanted: Sequence[str] | None) -> list[str]:
    return list(wanted) if wanted is not None else [name for name in table.columns if name != item]


def _read_items(database: Database, table: Source, item: Column) -> Labels:
    """The items' labels in order; also keeps the table, in that order, as `features_`."""
    rows = database.rows(
        f"SELECT {item.text} AS label, count(*) FROM {table.scan} GROUP BY label ORDER BY label"
    )
    if not rows:
        raise VoteError(f"{table.name} has no rows", expected="one row for each item")
    twice = [label for label, n in rows if n > 1 or label is None]
    if twice:
        named = ", ".join("a missing label" if label is None else quoted(label) for label in twice)
        raise VoteError(f"items that are missing or occur more than once: {named}",
                        expected="one row for each item")  # fmt: skip
    labels = item.sql if item.kind in ("integer", "real") else item.text
    items = make_dictionary(
        database,
        "feature_items",
        f"SELECT {labels} AS label FROM {table.scan}",
        untyped=item.kind == "untyped",
    )
    database.run(
        f"CREATE OR REPLACE TEMP TABLE features_ AS SELECT votes.*, f.code AS feature_row_"
        f" FROM {table.scan} AS votes JOIN feature_items f ON {labels} = f.label"
    )
    return items


def _read_block(
    database: Database,
    table: Source,
    name: str,
    items: Labels,
    separator: str,
    wanted: Sequence[str] | None,
) -> tuple[list[str], FloatArray] | None:
    """Names and columns of the features of one column of the table."""
    column = table.column(name)
    own = table.find(name) or name
    if column.kind == "list":
        lists = _fetch(database, f"CAST({column.sql} AS VARCHAR[])")
        return _indicators(own, lists, items, may_be_empty=True)
    numbers = _numbers(database, column)
    if numbers is not None:
        _check_complete(own, ~np.isfinite(numbers), items)
        return [own], numbers[:, None]
    texts = _fetch(database, column.text)
    if any(text and separator in text for text in texts):
        lists = [None if text is None else text.split(separator) for text in texts]
        return _indicators(own, lists, items)
    if wanted is None and _is_a_name(texts):
        warnings.warn(
            f"{table.name}: left out the column {own!r}, a different text for most items; "
            "name it in `columns` to use it",
            VoteWarning,
            stacklevel=4,
        )
        return None
    return _indicators(own, [None if text is None else [text] for text in texts], items)


def _fetch(database: Database, sql: str) -> list[Any]:
    return [row[0] for row in database.rows(f"SELECT {sql} FROM features_ ORDER BY feature_row_")]


def _numbers(database: Database, column: Column) -> FloatArray | None:
    """The column as numbers; None where some of it is not a number."""
    if column.kind == "struct":
        return None
    if column.kind in ("text", "untyped"):
        truth = f"CASE lower({column.text}) WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0 END"
        sql = f"coalesce({truth}, TRY_CAST({column.text} AS DOUBLE))"
        bad = f"SELECT count(*) FROM features_ WHERE {sql} IS NULL AND {column.text} IS NOT NULL"
        some = f"SELECT count(*) FROM features_ WHERE {sql} IS NOT NULL"
        if database.rows(bad)[0][0] or not database.rows(some)[0][0]:
            return None
    else:
        sql = column.number
    values: NDArray[Any] = np.array(
        [np.nan if value is None else value for value in _fetch(database, sql)], dtype=float
    )
    return values


def _is_a_name(texts: list[Any]) -> bool:
    return len(set(texts)) > max(_FEW_CATEGORIES, len(texts) / 2)


def _indicators(
    name: str, lists: Sequence[Sequence[Any] | None], items: Labels, may_be_empty: bool = False
) -> tuple[list[str], FloatArray]:
    if not may_be_empty:
        _check_complete(name, np.array([values is None for values in lists]), items)
    found = sorted({value for values in lists for value in values or () if value})
    place = {value: column for column, value in enumerate(found)}
    matrix = np.zeros((len(lists), len(found)))
    for row, values in enumerate(lists):
        matrix[row, [place[value] for value in values or () if value]] = 1.0
    return [f"{name}={value}" for value in found], matrix


def _check_complete(name: str, missing: NDArray[np.bool_], items: Labels) -> None:
    if missing.any():
        raise VoteError(
            f"{counted(missing.sum(), 'item')} {agreeing(missing.sum(), 'has', 'have')} no "
            f"{quoted(name)}: {', '.join(map(quoted, items[missing].tolist()))}",
            expected="a value for every item",
            remedy="fill it in, or leave the column out with `columns`",
        )


def __getattr__(name: str) -> Any:
    if name == "FeatureTable":  # its name in version 0.1.0
        warnings.warn("FeatureTable is now ItemFeatures", DeprecationWarning, stacklevel=2)
        return ItemFeatures
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
