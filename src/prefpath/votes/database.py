"""The DuckDB session that reads votes: bounded memory, spill to disk, plain-word errors."""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from prefpath.errors import SettingError, VoteError
from prefpath.votes.plain_errors import plain_error

if TYPE_CHECKING:
    import duckdb

Progress = Callable[[str, float], None]
"""Called with what is being done and the share of it that is done, 0 to 1."""

_POLL_SECONDS = 0.1
_MOST_THREADS: ContextVar[int | None] = ContextVar("threads", default=None)


class Database:
    """One in-memory DuckDB session; every failure of it is a `VoteError`.

    Tables that outgrow `memory_limit` go to a temporary folder that is removed at the end.
    Extensions are never fetched: reading a file opens no network connection.
    """

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, folder: Path, progress: Progress | None = None
    ) -> None:
        self._connection = connection
        self._progress = progress
        self.folder = folder
        """For temporary files; it is removed at the end."""

    def run(self, sql: str, doing: str = "reading") -> None:
        """Run a statement whose result stays in the database."""
        self._execute(sql, doing)

    def rows(self, sql: str, doing: str = "reading") -> list[tuple[Any, ...]]:
        """A small result, as Python values."""
        return self._execute(sql, doing, lambda result: result.fetchall())

    def arrays(self, sql: str, doing: str = "reading") -> dict[str, NDArray[Any]]:
        """A large result, as one array for each column."""
        return self._execute(sql, doing, lambda result: result.fetchnumpy())

    def register(self, name: str, table: Any) -> None:
        """Make a frame readable under `name`, without a copy where its library allows."""
        import duckdb

        try:
            self._connection.register(name, table)
        except duckdb.Error as error:
            raise plain_error(error) from error
        except UnicodeError as error:
            raise VoteError(
                f"a label cannot be read: {error}",
                expected="text that can be written in UTF-8",
                remedy='look for halves of surrogate pairs: text.encode("utf-8") fails on them',
            ) from error

    def create_table(self, name: str, columns: Mapping[str, NDArray[Any]]) -> None:
        """A temporary table of arrays."""
        self.register("arrays_", dict(columns))
        self.run(f"CREATE OR REPLACE TEMP TABLE {name} AS FROM arrays_")

    def _execute(self, sql: str, doing: str, fetch: Callable[[Any], Any] | None = None) -> Any:
        import duckdb

        try:
            with _reporting(self._connection, self._progress, doing):
                result = self._connection.execute(sql)
                return fetch(result) if fetch else None
        except duckdb.Error as error:
            raise plain_error(error) from error
        except (UnicodeError, OverflowError) as error:  # a value Python cannot hold
            raise VoteError(f"cannot be read: {error}") from error


@contextmanager
def at_most_threads(n_threads: int | None) -> Iterator[None]:
    """Let sessions opened meanwhile use so many threads; by default, all of the machine's."""
    before = _MOST_THREADS.set(n_threads)
    try:
        yield
    finally:
        _MOST_THREADS.reset(before)


@contextmanager
def open_database(
    memory_limit: str = "1GB", progress: Progress | None = None
) -> Iterator[Database]:
    """Open a session; `memory_limit` is DuckDB's ("512MB", "4GB"), beyond it goes to disk."""
    import duckdb

    _check_limit(memory_limit)
    with tempfile.TemporaryDirectory(prefix="prefpath-") as folder:
        config: dict[str, Any] = {
            "memory_limit": memory_limit,
            "temp_directory": folder,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
        }
        if (n_threads := _MOST_THREADS.get()) is not None:
            config["threads"] = n_threads
        try:
            connection = duckdb.connect(":memory:", config=config)
        except duckdb.Error as error:
            raise _no_limit(memory_limit) from error
        try:
            # Look at all objects of a pandas column before deciding what they are, not at a few.
            connection.execute(f"SET GLOBAL pandas_analyze_sample = {2**62}")
            # DuckDB takes a text file for small and would build its hash table of the votes;
            # joins are written the right way round: votes first, dictionaries after them.
            # Parquet's statistics leave NaN out: with them DuckDB takes isnan() for always false.
            connection.execute(
                "SET disabled_optimizers ="
                " 'join_order,build_side_probe_side,statistics_propagation'"
            )
            connection.execute("SET enable_progress_bar = true")
            connection.execute("SET enable_progress_bar_print = false")
            yield Database(connection, Path(folder), progress)
        finally:
            connection.close()


def _check_limit(memory_limit: str) -> None:
    """A size below 0 is none: DuckDB would take it for no limit at all."""
    if re.match(r"\s*(-|[0.]+(?![0-9.]))", str(memory_limit)):
        raise _no_limit(memory_limit)


def _no_limit(memory_limit: str) -> SettingError:
    return SettingError(
        f"the memory limit is {memory_limit!r}",
        expected="a number above 0 and its unit",
        remedy='give a size such as "1GB" or "512MB"',
    )


@contextmanager
def _reporting(connection: Any, progress: Progress | None, doing: str) -> Iterator[None]:
    """Tell `progress` how far the running query is, from a thread of its own."""
    if progress is None:
        yield
        return
    finished = threading.Event()

    def poll() -> None:
        while not finished.wait(_POLL_SECONDS):
            progress(doing, max(0.0, connection.query_progress()) / 100)

    watcher = threading.Thread(target=poll, daemon=True)
    watcher.start()
    try:
        yield
        progress(doing, 1.0)
    finally:
        finished.set()
        watcher.join()


def quote_name(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"
