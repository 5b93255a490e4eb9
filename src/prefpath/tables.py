"""Tables to files: CSV for spreadsheets, JSON for programs, Parquet for both."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prefpath.errors import MachineError, SettingError, VoteError
from prefpath.votes.database import Database, open_database, quote_name, quote_text
from prefpath.writing import whole_file

FORMATS = ("csv", "tsv", "json", "jsonl", "parquet")
Columns = Mapping[str, ArrayLike]

# A spreadsheet runs a cell that starts with one of these as a formula, those of full width where
# its language has them. (OWASP, CSV injection.)
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def write_table(columns: Columns, path: str | Path, *, for_spreadsheets: bool = False) -> Path:
    """Write columns of equal length to a file; its name says how: .csv, .tsv, .json, .jsonl,
    .parquet.

    What is not finite is written as an empty field or null. Labels are written as they are, so
    that the file can be read back: a label "=1+1" is a formula to a spreadsheet, though not to
    a program. With `for_spreadsheets`, text in CSV and TSV that starts with = + - @ (also of full
    width), a tab or a line end gets an apostrophe in front, which spreadsheets show as text;
    numbers do not.

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
    return write_table_in_parts([columns], path, for_spreadsheets=for_spreadsheets)


def write_table_in_parts(
    parts: Iterable[Columns], path: str | Path, *, for_spreadsheets: bool = False
) -> Path:
    """`write_table` of columns that come some rows at a time, which no memory need hold at once.

    All parts have the same columns, and there is at least one.
    """
    target = Path(path)
    suffix = format_of(target)
    with whole_file(target) as file:
        rows = map(_part_of_table, parts)
        if suffix in ("csv", "tsv"):
            _write_csv(rows, file, "\t" if suffix == "tsv" else ",", for_spreadsheets)
        elif suffix == "parquet":
            _write_parquet(rows, file)
        elif suffix == "jsonl":
            _write_json_lines(rows, file)
        else:
            _write_json(rows, file)
    return target


class _Part(NamedTuple):
    """Rows of a table: columns as they were given, and as plain values."""

    given: Columns
    values: dict[str, list[Any]]

    def records(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(self.values, row, strict=True)) for row in self.rows())

    def rows(self) -> Iterator[tuple[Any, ...]]:
        return zip(*self.values.values(), strict=True)


def _part_of_table(columns: Columns) -> _Part:
    values = {str(name): [_plain(value) for value in _listed(name, column)]
              for name, column in columns.items()}  # fmt: skip
    if len({len(column) for column in values.values()}) != 1:
        found = ", ".join(f"{name} {len(column):,}" for name, column in values.items())
        raise VoteError(
            f"the columns differ in length: {found or 'there are none'}",
            expected="one value of each column in every row",
        )
    return _Part(columns, values)


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


def _write_csv(
    parts: Iterator[_Part], target: Path, delimiter: str, for_spreadsheets: bool
) -> None:
    harmless = harmless_cell if for_spreadsheets else lambda value: value
    first = next(parts)
    with target.open("w", encoding="utf-8", errors="replace", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow([harmless(name) for name in first.values])
        for part in chain((first,), parts):
            writer.writerows([harmless(value) for value in row] for row in part.rows())


def harmless_cell(value: Any) -> Any:
    """Text a spreadsheet would run, with an apostrophe in front.

    >>> harmless_cell("=1+1"), harmless_cell("a=1"), harmless_cell(-3.0)
    ("'=1+1", 'a=1', -3.0)
    """
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value


def _write_json_lines(parts: Iterator[_Part], target: Path) -> None:
    with target.open("w", encoding="utf-8", errors="replace") as file:
        for record in chain.from_iterable(part.records() for part in parts):
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def _write_json(parts: Iterator[_Part], target: Path) -> None:
    """One list of records, as `json.dumps` with an indent of 1 writes it."""
    begin, between, end = "[\n", ",\n", "[]\n"
    with target.open("w", encoding="utf-8", errors="replace") as file:
        for record in chain.from_iterable(part.records() for part in parts):
            one = json.dumps([record], ensure_ascii=False, indent=1)
            file.write(begin + one.removeprefix("[\n").removesuffix("\n]"))
            begin, end = between, "\n]\n"
        file.write(end)


def _write_parquet(parts: Iterator[_Part], target: Path) -> None:
    """Through DuckDB, as bounded and closed to the network as for reading; NaN becomes null.

    Of several parts each is a file of its own first: what type a column has is known when all
    of them are there.
    """
    first, second = next(parts), next(parts, None)
    with open_database() as database:
        if second is None:
            _copy_to_parquet(database, first, target)
            return
        files = []
        for k, part in enumerate(chain((first, second), parts)):
            files.append(database.folder / f"part-{k:06d}.parquet")
            _copy_to_parquet(database, part, files[-1])
        named = ", ".join(quote_text(str(file)) for file in files)
        _copy(database, f"FROM read_parquet([{named}], union_by_name = true)", target)


def _copy_to_parquet(database: Database, part: _Part, file: Path) -> None:
    arrays = {name: _for_duckdb(part.given[name], column) for name, column in part.values.items()}
    chosen = ", ".join(_finite_or_null(name, array) for name, array in arrays.items())
    database.register("arrays_", arrays)
    _copy(database, f"SELECT {chosen} FROM arrays_", file)


def _copy(database: Database, chosen: str, file: Path) -> None:
    try:
        database.run(f"COPY ({chosen}) TO {quote_text(str(file))} (FORMAT parquet)", "writing")
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
