"""Names of files as DuckDB must be told them: a name that exists is that file, no pattern."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from prefpath.votes.database import Database, quote_text

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_MOST_BYTES_HELD = 2**28
_COMPRESSED_BY = 10  # votes repeat the same few labels
_PATTERN_CHARACTERS = frozenset("*?[]{}\\")


def compression_of(file: Path) -> str:
    """What DuckDB calls the compression of a file, by its name."""
    return COMPRESSIONS.get(file.suffix.lower(), "none")


def is_small(files: Sequence[Path]) -> bool:
    """Whether the text in these files can be held in memory while it is read."""
    sizes = (
        file.stat().st_size * (1 if compression_of(file) == "none" else _COMPRESSED_BY)
        for file in files
    )
    return sum(sizes) <= _MOST_BYTES_HELD


def file_list(files: Sequence[Path], database: Database) -> str:
    """The files as an SQL list."""
    return "[" + ", ".join(file_name(file, database) for file in files) + "]"


def place_for(file: Path, database: Database) -> Path:
    """A place beside the temporary files that no other file has, whatever their names."""
    return database.folder / f"file-{hash(file.absolute()) % 2**64:x}"


def file_name(file: Path, database: Database) -> str:
    """A file as an SQL text that DuckDB takes for this file.

    DuckDB expands patterns, `~` and addresses such as s3://. An absolute name is none of the
    last two; a file whose name reads like a pattern, or is no UTF-8, gets a plain one beside the
    temporary files.
    """
    whole = file.absolute()
    if _is_plain(str(whole)):
        return quote_text(str(whole))
    place = place_for(file, database)
    plain = place.with_name(f"{place.name}.link{''.join(file.suffixes[-2:])}")
    if not _is_plain(plain.name):
        plain = place.with_name(f"{place.name}.link")
    if not plain.exists():
        try:
            plain.symlink_to(whole)
        except OSError:  # no right to make links
            shutil.copyfile(whole, plain)
    return quote_text(str(plain))


def _is_plain(name: str) -> bool:
    encoded = name.encode("utf-8", "replace").decode("utf-8")
    return encoded == name and not _PATTERN_CHARACTERS & set(name)
