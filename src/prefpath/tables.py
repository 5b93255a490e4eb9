"""Tables to files: CSV for spreadsheets, JSON for programs, Parquet for both."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from prefpath.errors import MachineError, SettingError, VoteError
from prefpath.votes.database import open_database, quote_name, quote_text
from prefpath.writing import whole_file

FORMATS = ("csv", "tsv", "json", "jsonl", "parquet")

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
    MachineError
        The disk is full. A file that was there before is then as it was.
    """
    target = Path(path)
    suffix = format_of(target)
    values = {str(name): [_plain(value) for value in _listed(name, column)]
              for name, column in columns.items()}  # fmt: skip
    if len({len(column) for column in values.values()}) != 1:
        found = ", ".join(f"{name} {len(column):,}" for name, column in values.items())
        raise VoteError(
            f"the columns differ in length: {found or 'there are none'}",
            expected="one value of each column in every row",
        )
    with whole_file(target) as part:
        if suffix in ("csv", "tsv"):
            _write_csv(values, part, "\t" if suffix == "tsv" else ",", for_spreadsheets)
        elif suffix == "parquet":
            _write_parquet(columns, values, part)
        else:
            _write_json(values, part, lines=suffix == "jsonl")
    return target


def format_of(path: str | Path) -> str:
    """The format a file's name asks for.

    >>> format_of("ranking.CSV")
    'csv'
    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise SettingError(
            f"{path} does not say which format to write",
            expected=f"a name that ends in .{', .'.join(FORMATS[:-1])} or .{FORMATS[-1]}",
        )
    return suffix


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
    harmless = harmless_cell if for_spreadsheets else lambda value: value
    with target.open("w", encoding="utf-8", errors="replace", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow([harmless(name) for name in values])
        writer.writerows([harmless(value) for value in row] for row in _rows(values))


def harmless_cell(value: Any) -> Any:
    """Text a spreadsheet would run, with an apostrophe in front.

    >>> harmless_cell("=1+1"), harmless_cell("a=1"), harmless_cell(-3.0)
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
    target.write_text(text, encoding="utf-8", errors="replace")


def _write_parquet(
    columns: Mapping[str, ArrayLike], values: Mapping[str, list[Any]], target: Path
) -> None:
    """Through DuckDB, as bounded and closed to the network as for reading; NaN becomes null."""
    arrays = {name: _for_duckdb(columns[name], column) for name, column in values.items()}
    chosen = ", ".join(_finite_or_null(name, array) for name, array in arrays.items())
    with open_database() as database:
        database.register("arrays_", arrays)
        try:
            database.run(
                f"COPY (SELECT {chosen} FROM arrays_) TO {quote_text(str(target))} "
                "(FORMAT parquet)",
                "writing",
            )
        except VoteError as error:  # DuckDB's words; the columns are known to be sound
            raise MachineError(
                f"a Parquet file cannot be written: {error.what.removeprefix('cannot be read: ')}",
                "make room, or write to another place",
                exit_code=74,
            ) from error


def _for_duckdb(given: ArrayLike, plain: list[Any]) -> Any:
    """DuckDB takes text as Python objects."""
    array = np.asarray(given)
    return np.array(plain, dtype=object) if array.dtype.kind in "USO" else array


def _finite_or_null(name: str, array: Any) -> str:
    quoted = quote_name(name)
    if array.dtype.kind != "f":
        return quoted
    return f"CASE WHEN isfinite({quoted}) THEN {quoted} END AS {quoted}"
