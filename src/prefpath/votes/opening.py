"""A path or a data frame, opened as a `Source`; errors name the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prefpath.errors import SettingError, VoteError
from prefpath.machine import lacking
from prefpath.votes.database import Database
from prefpath.votes.files import scan_files
from prefpath.votes.native import scan_frame
from prefpath.votes.source import Source


def open_source(source: Any, database: Database, view: str = "source") -> Source:
    """A path (file, folder, glob pattern) or a data frame as a `Source`."""
    if isinstance(source, str | Path):
        with naming(source):
            return scan_files(source, database)
    return scan_frame(source, database, view)


@contextmanager
def naming(source: Any) -> Iterator[None]:
    """Name the file in every error about its votes, also where it may not be opened."""
    try:
        yield
    except OSError as error:
        doing = f"{source} cannot be read"
        raise lacking(error, doing) or VoteError(
            f"{doing}: {error.strerror or error}",
            expected="a file that this user may read",
            remedy="give the right to read it (chmod +r), or make a copy",
        ) from error
    except SettingError:  # not about the file
        raise
    except VoteError as error:
        if not isinstance(source, str | Path) or str(source) in error.what:
            raise
        raise VoteError(
            f"{source}: {error.what}",
            rows=error.rows,
            expected=error.expected,
            remedy=error.remedy,
        ) from error
