"""Data frames of any library, read where they are."""

from __future__ import annotations

from typing import Any

import narwhals as nw
from narwhals.exceptions import NarwhalsError

from prefpath.errors import MissingExtra, VoteError
from prefpath.frames import library_of
from prefpath.votes.database import Database
from prefpath.votes.source import Source, renamed

_READ_BY_DUCKDB = {"pandas", "pyarrow"}


def scan_frame(frame: Any, database: Database, view: str) -> Source:
    """A pandas, Polars, Arrow or other Narwhals frame as a `Source`."""
    try:
        eager = nw.from_native(frame)
        if isinstance(eager, nw.LazyFrame):
            eager = eager.collect()
        library = library_of(eager.to_native())
        eager = eager.rename({name: str(name) for name in eager.columns})
    except (TypeError, NarwhalsError) as error:
        raise VoteError(
            f"votes cannot be read from {_named(frame)}: {error}",
            expected="the path of a file, or a pandas, Polars or Arrow frame with unlike columns",
        ) from error
    database.register(view, _readable(eager, library))
    described = database.rows(f"DESCRIBE {view}")
    scan, columns = renamed(view, {row[0]: row[1] for row in described})
    return Source("the frame", scan, columns, library=library)


def _readable(frame: nw.DataFrame[Any], library: str) -> Any:
    if library in _READ_BY_DUCKDB:
        return frame.to_native()
    try:
        return frame.to_arrow()
    except ImportError as error:
        raise MissingExtra("PyArrow", "frames", f"reading a {library} frame") from error


def _named(value: Any) -> str:
    return f"a {type(value).__name__}"
