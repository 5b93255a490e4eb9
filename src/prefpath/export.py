"""Tables to files: CSV for spreadsheets, JSON for programs, Parquet for both."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from prefpath.errors import VoteError

if TYPE_CHECKING:
    from prefpath.path import Path as PreferencePath

# A spreadsheet runs a cell that starts with one of these as a formula. (OWASP, CSV injection.)
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def write_table(
    columns: Mapping[str, ArrayLike], path: str | Path, *, for_spreadsheets: bool = False
) -> Path:
    """Write columns of equal length to a file; its name says how: .csv, .tsv, .json, .jsonl,
    .parquet.

    What is not finite is written as an empty field or null. Labels are written as they are, so
    that the file can be read back: a label "=1+1" is a formula to a spreadsheet, though not to
    a program. With `for_spreadsheets`, text in CSV and TSV that starts with = + - @, a tab or a
    carriage return gets an apostrophe in front, which spreadsheets show as text; numbers do not.

    Parameters
    ----------
    columns : mapping of str to array
        Names and values.
    path : str or Path
        Where to; an existing file is replaced.
    for_spreadsheets : bool
        Whether labels that look like formulas are made harmless.

    Returns
    -------
    Path
        Where it was written.

    Raises
    ------
    VoteError
        The columns differ in length, or the format is unknown.
    """
    target = Path(path)
    values = {str(name): [_plain(value) for value in _listed(name, column)]
              for name, column in columns.items()}  # fmt: skip
    if len({len(column) for column in values.values()}) != 1:
        found = ", ".join(f"{name} {len(column):,}" for name, column in values.items())
        raise VoteError(f"the columns differ in length: {found or 'there are none'}")
    suffix = target.suffix.lower()
    if suffix in (".csv", ".tsv"):
        _write_csv(values, target, "\t" if suffix == ".tsv" else ",", for_spreadsheets)
    elif suffix in (".json", ".jsonl"):
        _write_json(values, target, lines=suffix == ".jsonl")
    elif suffix == ".parquet":
        _write_parquet(columns, values, target)
    else:
        raise VoteError(
            f"{target} does not say which format to write",
            expected="a name that ends in .csv, .tsv, .json, .jsonl or .parquet",
        )
    return target


def _listed(name: str, column: ArrayLike) -> list[Any]:
    array = np.asarray(column)
    if array.ndim != 1:
        raise VoteError(f"the column {name!r} has {array.ndim} dimensions", expected="one")
    return list(array.tolist())


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _rows(values: Mapping[str, list[Any]]) -> Any:
    return zip(*values.values(), strict=True)


def _write_csv(
    values: Mapping[str, list[Any]], target: Path, delimiter: str, for_spreadsheets: bool
) -> None:
    harmless = _harmless if for_spreadsheets else lambda value: value
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow([harmless(name) for name in values])
        writer.writerows([harmless(value) for value in row] for row in _rows(values))


def _harmless(value: Any) -> Any:
    """Text a spreadsheet would run, with an apostrophe in front.

    >>> _harmless("=1+1"), _harmless("a=1"), _harmless(-3.0)
    ("'=1+1", 'a=1', -3.0)
    """
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value


def _write_json(values: Mapping[str, list[Any]], target: Path, *, lines: bool) -> None:
    records = [dict(zip(values, row, strict=True)) for row in _rows(values)]
    if lines:
        text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    else:
        text = json.dumps(records, ensure_ascii=False, indent=1) + "\n"
    target.write_text(text, encoding="utf-8")


def _write_parquet(
    columns: Mapping[str, ArrayLike], values: Mapping[str, list[Any]], target: Path
) -> None:
    """Through DuckDB, which needs text as Python objects; NaN becomes null."""
    import duckdb

    arrays = {}
    for name, column in values.items():
        given = np.asarray(columns[name])
        arrays[name] = np.array(column, dtype=object) if given.dtype.kind in "USO" else given
    nulled = ", ".join(
        f"CASE WHEN isfinite({quoted}) THEN {quoted} END AS {quoted}"
        if np.asarray(columns[name]).dtype.kind == "f"
        else quoted
        for name in values
        for quoted in ['"' + name.replace('"', '""') + '"']
    )
    with duckdb.connect() as connection:
        connection.register("arrays_", arrays)
        destination = str(target).replace("'", "''")
        connection.execute(
            f"COPY (SELECT {nulled} FROM arrays_) TO '{destination}' (FORMAT parquet)"
        )


def path_columns(path: PreferencePath) -> dict[str, list[Any]]:
    """A path as one long table: what is not zero at each of its times.

    A row is a time, a kind ("score" of an item, "deviation" of an annotator for an item or
    feature, "position bias" of an annotator), whom and what it is about, and the value.
    """
    rows: list[tuple[float, str, Any, Any, float]] = []
    about = path.items.tolist()
    if path.features is not None:
        about = [f"feature {k + 1}" for k in range(path.common.shape[1])]
    for t in path.times.tolist():
        scores = zip(path.items.tolist(), path.scores(t).tolist(), strict=True)
        rows += [(t, "score", None, item, value) for item, value in scores]
        own = path.deviation(t).tocoo()
        rows += [
            (t, "deviation", path.annotators[u], about[k], float(value))
            for u, k, value in zip(own.row, own.col, own.data, strict=True)
        ]
        bias = path.position_bias(t)
        rows += [
            (t, "position bias", path.annotators[u], None, float(bias[u]))
            for u in np.flatnonzero(bias)
        ]
    names = ("t", "kind", "annotator", "item", "value")
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}
