"""Independent jobs side by side in processes, each on one thread."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TypeVar

from prefpath.solver.executors import check_threads

Job = TypeVar("Job")
Result = TypeVar("Result")

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run_jobs(
    function: Callable[[Job], Result], jobs: Sequence[Job], n_jobs: int | None = 1
) -> Iterator[tuple[Job, Result]]:
    """Each job with its result, as they finish; None is one process for each processor.

    With more than one process, `function` and the jobs are sent to fresh interpreters.
    """
    processes = min(check_threads(n_jobs), len(jobs))
    if processes <= 1:
        for job in jobs:
            yield job, function(job)
        return
    with _one_thread_each():
        pool = ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn"))
        try:
            waiting = {pool.submit(function, job): job for job in jobs}
            for done in as_completed(waiting):
                yield waiting[done], done.result()
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
