"""Data frames of any library, read where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prefpath.errors import MissingExtra, VoteError
from prefpath.frames import library_of
from prefpath.text import quoted
from prefpath.votes.database import Database
from prefpath.votes.source import Source, renamed

if TYPE_CHECKING:
    import narwhals as nw

_READ_BY_DUCKDB = {"pandas", "pyarrow"}


def scan_frame(frame: Any, database: Database, view: str) -> Source:
    """A pandas, Polars, Arrow or other Narwhals frame as a `Source`."""
    import narwhals as nw  # here: it takes a fifth of what `prefpath --help` takes
    from narwhals.exceptions import DuplicateError, NarwhalsError

    try:
        eager = nw.from_native(_with_index(frame))
        if isinstance(eager, nw.LazyFrame):
            eager = eager.collect()
        library = library_of(eager.to_native())
        eager = eager.rename({name: str(name) for name in eager.columns})
    except DuplicateError as error:
        raise VoteError(
            f"columns of the frame have the same name: {error}",
            expected="one column of each name",
            remedy="rename or remove the others",
        ) from error
    except (TypeError, NarwhalsError) as error:
        raise VoteError(
            f"votes cannot be read from {_named(frame)}",
            expected="the path of a file, or a pandas, Polars or Arrow frame",
            remedy="make a frame of it; of arrays, Votes.from_arrays makes votes",
        ) from error
    if not eager.columns:
        raise VoteError("the frame has no columns", expected="annotator, left, right, choice")
    database.register(view, _readable(eager, library))
    described = database.rows(f"DESCRIBE {view}")
    scan, columns = renamed(view, {row[0]: row[1] for row in described})
    return Source("the frame", scan, columns, library=library)


def _with_index(frame: Any) -> Any:
    """A pandas frame with the named parts of its index as columns: they may say who voted."""
    names = getattr(getattr(frame, "index", None), "names", ())
    named = [name for name in names if name is not None]
    if not named or any(name in frame.columns for name in named):
        return frame
    return frame.reset_index(level=named)


def _readable(frame: nw.DataFrame[Any], library: str) -> Any:
    import narwhals as nw

    if library == "pandas":
        return _types_known(frame.to_native())
    if library in _READ_BY_DUCKDB:
        return frame.to_native()
    for name, kind in frame.schema.items():
        if kind == nw.Object:  # Arrow would hold their addresses
            raise VoteError(
                f"the column {quoted(name)} of the frame holds Python objects",
                expected="text, numbers, dates or booleans",
                remedy="turn it into text, or leave it out",
            )
    try:
        return frame.to_arrow()
    except ImportError as error:
        raise MissingExtra("PyArrow", "frames", f"reading a {library} frame") from error
    except (ValueError, TypeError, NotImplementedError) as error:
        raise VoteError(
            f"the frame cannot be read: {error}",
            expected="columns of text, numbers, dates or booleans",
            remedy="turn columns of other types into text, or leave them out",
        ) from error


def _types_known(frame: Any) -> Any:
    """The same with columns of types DuckDB does not know, such as intervals, as text."""
    unknown = {
        name: column.astype(object).map(_as_text, na_action="ignore")
        for name, column in frame.items()
        if _is_unknown(column)
    }
    return frame.assign(**unknown) if unknown else frame


def _is_unknown(column: Any) -> bool:
    """Whether a pandas column, or the categories of one, are of a type of pandas' own or bytes."""
    import narwhals as nw

    categories = getattr(column.dtype, "categories", None)
    if getattr(categories, "inferred_type", "") == "bytes":
        return True
    values = column if categories is None else categories.to_series()
    return bool(nw.from_native(values, series_only=True).dtype == nw.Unknown)


def _as_text(value: Any) -> str:
    """Its text; of bytes the text they encode, not Python's way to write them."""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def _named(value: Any) -> str:
    return f"a {type(value).__name__}"
