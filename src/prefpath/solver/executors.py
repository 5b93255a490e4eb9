"""Executors: they map a function over shards, in order. Nothing else differs between them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import TracebackType
from typing import Protocol, TypeVar

import numpy as np

from prefpath.errors import SettingError
from prefpath.model.design import Ints
from prefpath.settings import as_number

Shard = TypeVar("Shard")
Result = TypeVar("Result")

# A shard must be worth a task of its own, and there must be enough of them to balance. Their
# number depends on the data alone, so that results do not depend on the number of threads.
CELLS_A_SHARD = 50_000
MOST_SHARDS = 64


class Cancelled(Exception):
    """Raised in a worker whose caller has gone: by Ctrl-C, or by an error in another worker."""


_worker = threading.local()


def stop_if_cancelled() -> None:
    """Called between steps of long work, so that Ctrl-C need not wait for its end."""
    cancelled: threading.Event | None = getattr(_worker, "cancelled", None)
    if cancelled is not None and cancelled.is_set():
        raise Cancelled


class Executor(Protocol):
    """Maps a function over shards and returns the results in the shards' order."""

    n_workers: int

    def map(self, function: Callable[[Shard], Result], shards: Iterable[Shard]) -> list[Result]: ...


class Serial:
    """One after another."""

    n_workers = 1

    def map(self, function: Callable[[Shard], Result], shards: Iterable[Shard]) -> list[Result]:
        return [function(shard) for shard in shards]

    def __enter__(self) -> Serial:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class Threads:
    """A pool of threads; the kernels release the GIL."""

    def __init__(self, n_threads: int) -> None:
        self.n_workers = n_threads
        self._cancelled = threading.Event()
        self._pool = ThreadPoolExecutor(
            n_threads, thread_name_prefix="prefpath", initializer=self._begin
        )

    def map(self, function: Callable[[Shard], Result], shards: Iterable[Shard]) -> list[Result]:
        try:
            return list(self._pool.map(function, shards))
        except BaseException:
            self._cancelled.set()
            raise

    def _begin(self) -> None:
        _worker.cancelled = self._cancelled

    def __enter__(self) -> Threads:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._cancelled.set()
        self._pool.shutdown(wait=True, cancel_futures=True)


def make_executor(n_threads: int | None, n_shards: int) -> Serial | Threads:
    """Threads where there is more than one shard and more than one thread, else serial."""
    threads = check_threads(n_threads)
    return Threads(min(threads, n_shards)) if min(threads, n_shards) > 1 else Serial()


def check_threads(n_threads: int | None) -> int:
    """The number of threads asked for; None is one for each processor we may use."""
    if n_threads is None:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else (os.cpu_count() or 1)
        )
    number = as_number(n_threads)
    if not (number >= 1 and number.is_integer()):
        expected = "a whole number of at least 1, or None for all"
        raise SettingError(f"n_threads is {n_threads!r}", expected=expected)
    return int(n_threads)


def split_evenly(sizes: Ints) -> list[tuple[int, int]]:
    """Consecutive ranges of about equal total size, their number given by the data alone."""
    ends = np.concatenate(([0], np.cumsum(sizes)))
    n_shards = int(min(MOST_SHARDS, max(1, ends[-1] // CELLS_A_SHARD)))
    goals = ends[-1] * np.arange(1, n_shards) / n_shards
    bounds = np.unique(np.concatenate(([0], np.searchsorted(ends, goals), [len(sizes)])))
    return list(pairwise(bounds.tolist()))


def split_annotators(cells: Ints, who: Ints | None = None) -> list[Ints]:
    """Annotators (all, or `who`) in contiguous shards of about equal numbers of cells."""
    people = np.arange(len(cells) - 1, dtype=np.int64) if who is None else who
    return [people[a:b] for a, b in split_evenly(cells[people + 1] - cells[people])]
