"""What a long computation is doing, for whoever watches: a bar on a terminal, mostly nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Called with what is being done, and the share of it that is done.
Watcher = Callable[[str, float], None]
# What takes longest after a fit.
INTERVALS, WHO_STANDS_OUT, REPORT = "intervals", "who stands out", "report"

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched(watcher: Watcher | None) -> Iterator[None]:
    """Let somebody watch what is done meanwhile in this thread.

    >>> with watched(print):
    ...     tell("intervals", 0.5)
    intervals 0.5
    """
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def tell(doing: str, share: float) -> None:
    """Say how far something has come."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(doing, share)
