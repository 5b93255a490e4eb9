"""CSV files: delimiter, header, encoding; every column is text until all of it has been seen."""

from __future__ import annotations

import codecs
import csv
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from prefpath.errors import VoteError
from prefpath.votes.database import Database, quote_text
from prefpath.votes.file_names import (
    compression_of,
    file_list,
    file_name,
    is_small,
    place_for,
)
from prefpath.votes.headings import IMPORT_ID, without_headings
from prefpath.votes.source import Column, Source

_DELIMITERS = (",", "\t", ";", "|")
# UTF-32's mark for little ends begins with UTF-16's.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_NO_TEXT = {
    b"PK\x03\x04": ("a spreadsheet or a zip archive", "open it, and save the sheet as CSV (UTF-8); "
                    "unpack an archive"),
    b"\xd0\xcf\x11\xe0": ("an old spreadsheet", "open it, and save the sheet as CSV (UTF-8)"),
    b"PAR1": ("Parquet", "give it a name that ends in .parquet"),
    b"SQLite format 3": ("a database", "save the table as CSV"),
    b"BZh": ("compressed by bzip2", "unpack it: bunzip2"),
    b"\xfd7zXZ\x00": ("compressed by xz", "unpack it: unxz"),
}  # fmt: skip
_MOST_ABOVE = 50  # lines looked at for that of the names
_COMPRESSED = {
    b"\x1f\x8b": ("compressed by gzip", "give it a name that ends in .gz"),
    b"\x28\xb5\x2f\xfd": ("compressed by zstd", "give it a name that ends in .zst"),
}  # fmt: skip


class CsvShape(NamedTuple):
    """How a CSV file is written: files of one shape are read together."""

    delimiter: str
    header: tuple[str, ...]
    compression: str
    skipped: int
    """Lines before the header."""


def scan_csv(name: str, files: Sequence[Path], database: Database) -> Source:
    """Every column as text: what is a number is decided from the whole column, not a sample."""
    alike: dict[CsvShape, list[Path]] = {}
    for file in (_as_utf_8(file, database) for file in files):
        alike.setdefault(_shape(file, database), []).append(file)
    first = next(iter(alike)).header
    for shape, parts in alike.items():
        if sorted(shape.header) != sorted(first):
            raise VoteError(
                f"the columns of {parts[0].name} differ from those of {files[0].name}",
                expected=", ".join(first),
                remedy="give all parts the same columns",
            )
    scans = [_scan(parts, shape, first, database) for shape, parts in alike.items()]
    columns = {own: Column(f"c{first.index(own)}", "untyped") for own in first}
    repeated = frozenset(own for own, times in Counter(first).items() if times > 1)
    scan = f"({' UNION ALL '.join(scans)})"
    source = Source(name, scan, columns, repeated, slow=is_small(files))
    text = next(iter(alike.values()))[0]
    may_have = any(IMPORT_ID in line for line in _first_lines(text, database))
    return without_headings(source, database) if may_have else source


def _as_utf_8(file: Path, database: Database) -> Path:
    """The file, or a temporary copy of it where it is UTF-16 or UTF-32."""
    with file.open("rb") as opened:
        start = opened.read(16)
    compressed = compression_of(file) != "none"
    _refuse_what_is_no_text(file, start, compressed)
    encoding = next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)
    if encoding is None or compressed:
        return file
    copy = place_for(file, database) / file.name
    copy.parent.mkdir(exist_ok=True)
    try:
        with (
            file.open(encoding=encoding, newline="") as old,
            copy.open("w", encoding="utf-8", newline="") as new,
        ):
            shutil.copyfileobj(old, new)
    except UnicodeError as error:
        raise VoteError(f"{file} begins like {encoding.upper()}, but is not: {error}",
                        expected="text in UTF-8", remedy="save it as UTF-8") from error  # fmt: skip
    return copy


def _refuse_what_is_no_text(file: Path, start: bytes, compressed: bool) -> None:
    for magic, (what, remedy) in (_NO_TEXT if compressed else _NO_TEXT | _COMPRESSED).items():
        if start.startswith(magic):
            raise VoteError(f"{file} is {what}, not CSV", expected="CSV, JSON Lines or Parquet",
                            remedy=remedy)  # fmt: skip
    if b"\0" in start and not compressed and not start.startswith(tuple(_MARKS)):
        raise VoteError(
            f"{file} is not text, or UTF-16 without its mark: it begins with NUL characters",
            expected="text in UTF-8",
            remedy="save it as UTF-8, for example: iconv -f utf-16le -t utf-8 votes.csv",
        )


def _shape(file: Path, database: Database) -> CsvShape:
    """Delimiter and column names: the delimiter is the one the header has most of.

    Excel's "sep=;" in a line before the header says the delimiter itself.
    """
    lines = _first_lines(file, database)
    above = _lines_above(lines)
    said = re.fullmatch(r"sep=(.?)", lines[above - 1].strip('\r\n\ufeff" ')) if above else None
    line = lines[above] if len(lines) > above else ""
    if not line.strip():
        raise VoteError(
            f"{file} is empty",
            expected="a line of column names, and votes below it",
            remedy="look whether it was written to its end, and is the file you mean",
        )
    delimiter = (said[1] or "\t") if said else _delimiter_of(line)
    try:
        names = _fields(line, delimiter)
    except csv.Error as error:
        raise VoteError(
            f"the column names of {file} cannot be read: {error}",
            expected=f"names of at most {csv.field_size_limit():,} characters in the first line",
            remedy="look at the first line: it should hold the names of the columns",
        ) from error
    return CsvShape(delimiter, tuple(n.strip() for n in names), compression_of(file), above)


def _delimiter_of(line: str) -> str:
    return max(_DELIMITERS, key=line.count)


def _lines_above(lines: Sequence[str]) -> int:
    """How many lines stand above the names: blank ones, Excel's "sep=", remarks after a #.

    A line of names may begin with a # itself: it has as many fields as the one below.
    """
    told = [line.strip('\r\n\ufeff" ') for line in lines]
    first = next((k for k, line in enumerate(told) if not re.fullmatch(r"(sep=.?|#.*|)", line)), 0)
    delimiter = _delimiter_of(lines[first])
    before = told[first - 1] if first else ""
    is_names = before.startswith("#") and len(_fields(before, delimiter)) == len(
        _fields(lines[first], delimiter)
    )
    return first - is_names


def _fields(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])


def _first_lines(file: Path, database: Database) -> list[str]:
    found = database.rows(
        f"SELECT line FROM read_csv({file_name(file, database)}, auto_detect = false,"
        " header = false, columns = {'line': 'VARCHAR'}, delim = chr(1), quote = '', escape = '',"
        f" strict_mode = false, compression = '{compression_of(file)}') LIMIT {_MOST_ABOVE}"
    )
    lines = [(row[0] or "") for row in found] or [""]
    return [lines[0].removeprefix("\ufeff"), *lines[1:]]


def _scan(
    files: Sequence[Path], shape: CsvShape, first: tuple[str, ...], database: Database
) -> str:
    """The scan of files of one shape; column `ci` is the i-th column of the first file."""
    if shape.header == first:
        places = list(range(len(first)))
    else:
        places = [first.index(column) for column in shape.header]
    declared = ", ".join(f"'c{place}': 'VARCHAR'" for place in places)
    selected = ", ".join(f"c{place}" for place in range(len(first)))
    skip = f" skip = {shape.skipped}," if shape.skipped else ""
    return (
        f"SELECT {selected} FROM read_csv({file_list(files, database)}, auto_detect = false,"
        f" header = true,{skip} columns = {{{declared}}}, delim = {quote_text(shape.delimiter)},"
        f" quote = '\"', escape = '\"', compression = '{shape.compression}')"
    )
