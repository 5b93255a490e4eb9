"""A progress bar with an estimate of the time left, on terminals only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from prefpath.cli.app import error_console

# Called with what is being done, the share done, and a note beside it that may change on the way.
Report = Callable[..., None]


@contextmanager
def progress_bar() -> Iterator[Report | None]:
    """A function to call with what is being done and the share done; None off a terminal.

    The bar is drawn on standard error, so that output can be piped, and goes away at the end.
    """
    if not error_console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=error_console, transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def report(doing: str, share: float, note: str = "", /) -> None:
            if doing not in tasks:
                tasks[doing] = progress.add_task(doing, total=1.0)
            progress.update(tasks[doing], completed=share, description=doing + note)

        yield report
