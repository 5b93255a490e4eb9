"""Files of votes: CSV, TSV, JSON Lines and Parquet; one, a folder of parts, or a pattern."""

from __future__ import annotations

import csv
import glob
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from prefpath.errors import VoteError
from prefpath.votes.database import Database, quote_name, quote_text
from prefpath.votes.source import Column, Source, kind_of

Format = Literal["csv", "json", "parquet"]

_FORMATS: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".txt": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_DELIMITERS = (",", "\t", ";", "|")


def scan_files(path: str | Path, database: Database) -> Source:
    """The file, the parts in the folder, or the files of the pattern, as one `Source`."""
    files = find_files(path)
    formats = {format_of(file) for file in files}
    if len(formats) > 1:
        raise VoteError(
            f"{path} holds files of different formats: {', '.join(sorted(formats))}",
            expected="parts of one format",
            remedy='read one format at a time, for example "votes/*.csv"',
        )
    scan = {"csv": _scan_csv, "json": _scan_json, "parquet": _scan_parquet}[formats.pop()]
    return scan(str(path), files, database)


def find_files(path: str | Path) -> list[Path]:
    """The files a path means, in order of name.

    Raises
    ------
    VoteError
        There are none.
    """
    expected = "the path of a file, of a folder, or a pattern such as votes/*.csv"
    try:
        found = _matching_files(str(path)) if str(path) else []
    except (OSError, ValueError) as error:  # a name too long, a NUL character, a broken disk
        raise VoteError(f"{error}", expected=expected) from error
    if not found:
        raise VoteError(
            f"there is no file of votes at {path}",
            expected=f"{expected}; names end in {', '.join(_FORMATS)}, or these with .gz or .zst",
        )
    return found


def _matching_files(path: str) -> list[Path]:
    there = Path(path)
    if there.is_file():
        return [there]
    if there.is_dir():
        return sorted(file for file in there.rglob("*") if _is_part(file))
    names = glob.glob(path, recursive=True)  # noqa: PTH207 (Path.glob takes no absolute pattern)
    return sorted(file for file in map(Path, names) if file.is_file())


def format_of(file: Path) -> Format:
    """The format by the file's name; CSV where the name does not say.

    >>> [format_of(Path(name)) for name in ("a.csv.gz", "b.jsonl", "c.PARQUET", "votes")]
    ['csv', 'json', 'parquet', 'csv']
    """
    suffixes = [suffix.lower() for suffix in file.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSIONS:
        suffixes.pop()
    return _FORMATS.get(suffixes[-1], "csv") if suffixes else "csv"


def _is_part(file: Path) -> bool:
    """Whether a file in a folder is a part; hidden files and _SUCCESS marks are not."""
    if not file.is_file() or file.name.startswith((".", "_")):
        return False
    suffixes = [suffix.lower() for suffix in file.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSIONS:
        suffixes.pop()
    return bool(suffixes) and suffixes[-1] in _FORMATS


def _compression(file: Path) -> str:
    return _COMPRESSIONS.get(file.suffix.lower(), "none")


def _file_list(files: Sequence[Path]) -> str:
    return "[" + ", ".join(quote_text(str(file)) for file in files) + "]"


def _scan_csv(name: str, files: Sequence[Path], database: Database) -> Source:
    """Every column as text: what is a number is decided from the whole column, not a sample."""
    alike: dict[tuple[str, tuple[str, ...], str], list[Path]] = {}
    for file in files:
        alike.setdefault((*_csv_header(file, database), _compression(file)), []).append(file)
    first = next(iter(alike))[1]
    for (_, header, _), parts in alike.items():
        if sorted(header) != sorted(first):
            raise VoteError(
                f"the columns of {parts[0].name} differ from those of {files[0].name}",
                expected=", ".join(first),
                remedy="give all parts the same columns",
            )
    scans = [_csv_scan(parts, *shape, first) for shape, parts in alike.items()]
    columns = {own: Column(f"c{first.index(own)}", "untyped") for own in first}
    repeated = frozenset(own for own, times in Counter(first).items() if times > 1)
    return Source(name, f"({' UNION ALL '.join(scans)})", columns, repeated)


def _csv_header(file: Path, database: Database) -> tuple[str, tuple[str, ...]]:
    """The delimiter and the column names: the delimiter is the one the header has most of."""
    found = database.rows(
        f"SELECT line FROM read_csv({quote_text(str(file))}, auto_detect = false, header = false,"
        f" columns = {{'line': 'VARCHAR'}}, delim = chr(1), quote = '', escape = '',"
        f" strict_mode = false, compression = '{_compression(file)}') LIMIT 1"
    )
    line = (found[0][0] or "").removeprefix("\ufeff") if found else ""
    if not line.strip():
        raise VoteError(f"{file} is empty", expected="a line of column names, and votes below it")
    delimiter = max(_DELIMITERS, key=line.count)
    names = next(csv.reader([line], delimiter=delimiter))
    return delimiter, tuple(column.strip() for column in names)


def _csv_scan(
    files: Sequence[Path],
    delimiter: str,
    header: tuple[str, ...],
    compression: str,
    first: tuple[str, ...],
) -> str:
    """The scan of files of one shape; column `ci` is the i-th column of the first file."""
    if header == first:
        places = list(range(len(first)))
    else:
        places = [first.index(column) for column in header]
    declared = ", ".join(f"'c{place}': 'VARCHAR'" for place in places)
    selected = ", ".join(f"c{place}" for place in range(len(first)))
    return (
        f"SELECT {selected} FROM read_csv({_file_list(files)}, auto_detect = false,"
        f" header = true, columns = {{{declared}}}, delim = {quote_text(delimiter)},"
        f" quote = '\"', escape = '\"', compression = '{compression}')"
    )


def _scan_parquet(name: str, files: Sequence[Path], database: Database) -> Source:
    scan = f"read_parquet({_file_list(files)}, union_by_name = true)"
    described = database.rows(f"DESCRIBE SELECT * FROM {scan}")
    columns = {row[0]: Column(quote_name(row[0]), kind_of(row[1])) for row in described}
    return Source(name, scan, columns)


def _scan_json(name: str, files: Sequence[Path], database: Database) -> Source:
    """JSON with the types it has; anything but numbers and lists is read as text.

    Left alone, DuckDB makes dates of labels that look like dates.
    """
    compressions = {_compression(file) for file in files}
    if len(compressions) > 1:
        raise VoteError("some parts are compressed and some are not", expected="all or none")
    # DuckDB's readers differ in what they call a file that is not compressed.
    compression = compressions.pop().replace("none", "uncompressed")
    given = f"{_file_list(files)}, compression = '{compression}'"
    described = database.rows(
        f"DESCRIBE SELECT * FROM read_json({given}, union_by_name = true, sample_size = -1)"
    )
    types = {row[0]: _json_type(row[1]) for row in described}
    declared = ", ".join(f"{quote_text(own)}: {quote_text(kind)}" for own, kind in types.items())
    columns = {own: Column(quote_name(own), kind_of(kind)) for own, kind in types.items()}
    return Source(name, f"read_json({given}, columns = {{{declared}}})", columns)


def _json_type(detected: str) -> str:
    return detected if kind_of(detected) != "text" else "VARCHAR"
