"""Files of votes: CSV, TSV, JSON Lines and Parquet; one, a folder of parts, or a pattern."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from prefpath.errors import VoteError
from prefpath.text import shortened
from prefpath.votes.csv_files import scan_csv
from prefpath.votes.database import Database, quote_text
from prefpath.votes.file_names import COMPRESSIONS, compression_of, file_list, is_small
from prefpath.votes.source import Source, kind_of, renamed

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
    scan = {"csv": scan_csv, "json": _scan_json, "parquet": _scan_parquet}[formats.pop()]
    return scan(str(path), files, database)


def find_files(path: str | Path) -> list[Path]:
    """The files a path means, in order of name.

    Raises
    ------
    VoteError
        There are none.
    """
    try:
        found = _matching_files(str(path)) if str(path) else []
        if found:
            return found
        problem, remedy = _why_nothing(str(path))
    except (OSError, ValueError) as error:  # a name too long, a NUL character, a broken disk
        problem, remedy = shortened(error, 300), "give the path of a file that can be opened"
    raise VoteError(
        problem,
        expected="the path of a file, of a folder, or a pattern such as votes/*.csv; names end in "
        f"{', '.join(_FORMATS)}, or these with .gz or .zst",
        remedy=remedy,
    )


def _why_nothing(path: str) -> tuple[str, str]:
    """What is at a path where no votes are, and what to do about it."""
    there, nothing = Path(path), f"there is no file of votes at {path}"
    if "://" in path:
        return f"{nothing}: it is an address, and only files are read", "download it first"
    if path == "-" or (there.exists() and not there.is_dir()):
        return (
            f"{nothing}: it is a pipe or a device, and votes are read more than once",
            "write them into a file first, for example: zcat votes.gz > votes.csv",
        )
    if there.is_symlink():
        return f"{nothing}: it is a link to {there.readlink()}, which is not there", "mend the link"
    if there.is_dir():
        return f"{nothing}: no file in this folder is named like one", "rename the parts"
    return nothing, f"correct the path; it is looked for in {Path.cwd()}"


def _matching_files(path: str) -> list[Path]:
    there = Path(path)
    if there.is_file():
        return [there]
    if there.is_dir():
        return sorted(file for file in there.rglob("*") if _is_part(file))
    names = glob.glob(_pattern(there), recursive=True)  # noqa: PTH207 (Path.glob takes no absolute)
    return sorted(file for file in map(Path, names) if file.is_file())


def _pattern(path: Path) -> str:
    """A pattern whose leading folders are names where such folders exist: `run[1]/*.csv`."""
    folder = next((folder for folder in path.parents if folder.is_dir()), Path())
    return str(Path(glob.escape(str(folder))) / path.relative_to(folder))


def format_of(file: Path) -> Format:
    """The format by the file's name; CSV where the name does not say.

    >>> [format_of(Path(name)) for name in ("a.csv.gz", "b.jsonl", "c.PARQUET", "votes")]
    ['csv', 'json', 'parquet', 'csv']
    """
    suffixes = [suffix.lower() for suffix in file.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    return _FORMATS.get(suffixes[-1], "csv") if suffixes else "csv"


def _is_part(file: Path) -> bool:
    """Whether a file in a folder is a part; hidden files and _SUCCESS marks are not."""
    if not file.is_file() or file.name.startswith((".", "_")):
        return False
    suffixes = [suffix.lower() for suffix in file.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    return bool(suffixes) and suffixes[-1] in _FORMATS


def _scan_parquet(name: str, files: Sequence[Path], database: Database) -> Source:
    scan = f"read_parquet({file_list(files, database)}, union_by_name = true)"
    described = database.rows(f"DESCRIBE SELECT * FROM {scan}")
    return Source(name, *renamed(scan, {row[0]: row[1] for row in described}))


def _scan_json(name: str, files: Sequence[Path], database: Database) -> Source:
    """JSON with the types it has; anything but numbers and lists is read as text.

    Left alone, DuckDB makes dates of labels that look like dates.
    """
    compressions = {compression_of(file) for file in files}
    if len(compressions) > 1:
        raise VoteError("some parts are compressed and some are not", expected="all or none")
    # DuckDB's readers differ in what they call a file that is not compressed.
    compression = compressions.pop().replace("none", "uncompressed")
    given = f"{file_list(files, database)}, compression = '{compression}'"
    described = database.rows(
        f"DESCRIBE SELECT * FROM read_json({given}, union_by_name = true, sample_size = -1)"
    )
    if [row[0] for row in described] == ["json"]:
        raise VoteError(
            f"{name} holds no JSON objects",
            expected='one for each vote, such as {"annotator": "ann", "left": "x", "right": "y", '
            '"choice": "left"}',
            remedy="write one object a line, or a list of them",
        )
    _refuse_columns_of_pandas(name, [row[1] for row in described])
    types = {row[0]: _json_type(row[1]) for row in described}
    declared = ", ".join(f"{quote_text(own)}: {quote_text(kind)}" for own, kind in types.items())
    scan, columns = renamed(f"read_json({given}, columns = {{{declared}}})", types)
    return Source(name, scan, columns, slow=is_small(files))


def _refuse_columns_of_pandas(name: str, types: Sequence[str]) -> None:
    """One object for each column, its keys numbers of rows: what `DataFrame.to_json` writes."""
    if types and all(kind.startswith(('STRUCT("0"', "MAP(")) for kind in types):
        raise VoteError(
            f"{name} has one object for each column, as pandas writes a frame, not for each row",
            expected="one object for each vote",
            remedy='write rows, frame.to_json("votes.jsonl", orient="records", lines=True), or '
            "read it by pandas.read_json and pass the frame",
        )


def _json_type(detected: str) -> str:
    return detected if kind_of(detected) != "text" else "VARCHAR"
