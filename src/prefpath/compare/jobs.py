"""Independent jobs side by side in processes, each on one thread."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn, TypeVar

from prefpath.solver.executors import check_threads

Job = TypeVar("Job")
Result = TypeVar("Result")

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run_jobs(
    function: Callable[[Job], Result], jobs: Sequence[Job], n_jobs: int | None = 1
) -> Iterator[tuple[Job, Result]]:
    """Each job with its result, as they finish; None is one process for each processor.

    With more than one process, `function` and the jobs are sent to fresh interpreters. They
    end with this one: when it is interrupted (Ctrl-C) or terminated, and when the caller stops
    asking for results, work under way is given up.
    """
    processes = min(check_threads(n_jobs), len(jobs))
    if processes <= 1:
        for job in jobs:
            yield job, function(job)
        return
    others = set(multiprocessing.active_children())
    with _one_thread_each(), _terminated_as_an_exception():
        pool = ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn"))
        try:
            with _without_interrupts():
                waiting = {pool.submit(function, job): job for job in jobs}
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        except BaseException:
            for worker in set(multiprocessing.active_children()) - others:
                worker.terminate()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes started here use one thread for linear algebra: they share the processors."""
    before = {name: os.environ.get(name) for name in _THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Processes started here do not see Ctrl-C, which is for their parent; it is not lost."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _terminated_as_an_exception() -> Iterator[None]:
    """By default SIGTERM ends a process on the spot, and its pool's semaphores stay behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _exit)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _exit(number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)
