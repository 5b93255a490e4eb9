"""Tasks of a Dask cluster whose results come in order: for what takes seconds, such as a file.

A task whose worker dies is done again by Dask. One whose worker is stopped or cut off is begun
again by us on another: Dask waits for minutes. Results are taken as they come, so that no worker
holds what the driver needs later.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from prefpath.distributed import workers
from prefpath.errors import MachineError

if TYPE_CHECKING:
    from distributed import Client, Future

# Beyond this a worker that is not heard of is done without (tests make it shorter).
SILENCE = 20.0


def run_tasks(client: Client, function: Callable[..., Any], jobs: Sequence[Any]) -> list[Any]:
    """`function(*job)` for each job on any worker; results in the jobs' order.

    A job may be done twice, and must leave the same behind then.

    Raises
    ------
    MachineError
        If no worker is left, or a task has killed several. An error in the function is raised
        as it is.
    """
    under_way = _UnderWay(client, function, jobs)
    try:
        under_way.wait()
        return [under_way.results[k] for k in range(len(jobs))]
    except BaseException:
        client.cancel(list(under_way.futures.values()), force=True)
        raise


class _UnderWay:
    """Jobs that are not done yet, and the results of those that are."""

    def __init__(self, client: Client, function: Callable[..., Any], jobs: Sequence[Any]) -> None:
        workers.step_aside()
        self.futures: dict[int, Future] = {}
        self.results: dict[int, Any] = {}
        self._client, self._function, self._jobs = client, function, jobs
        self._name = f"prefpath-{function.__name__}-{secrets.token_hex(4)}"
        self._last_there = time.monotonic()
        for k in range(len(jobs)):
            self._begin(k)

    def wait(self) -> None:
        """Wait until all are done or one has failed; not where there is nobody to do them."""
        while self.futures:
            _sleep_until_news(self._client, list(self.futures.values()))
            if self._take_results():
                continue
            there = workers.worker_addresses(self._client, SILENCE)
            self._check_somebody_is(there)
            stalled = set(workers.keys_on_others(self._client, there))
            for k, future in list(self.futures.items()):
                if future.key in stalled and future.status == "pending":
                    self._begin(k, there)

    def _begin(self, k: int, there: list[str] | None = None) -> None:
        """Begin a job, or begin it again on a worker that is there."""
        if k in self.futures:
            self._client.cancel([self.futures[k]], force=True)
        where: dict[str, Any] = {"workers": there, "allow_other_workers": True} if there else {}
        self.futures[k] = self._client.submit(
            self._function,
            *self._jobs[k],
            key=f"{self._name}-{k}-{secrets.token_hex(4)}",
            pure=False,
            **where,
        )

    def _take_results(self) -> bool:
        """Take the results of what is done; whether there were any."""
        n_before = len(self.results)
        for k, future in list(self.futures.items()):
            if future.status == "finished":
                try:
                    self.results[k] = future.result(timeout=SILENCE)
                except TimeoutError:  # whoever has it is not heard of
                    self._begin(k, workers.worker_addresses(self._client, SILENCE))
                else:
                    del self.futures[k]
            elif future.status != "pending":
                _raise_error(future)
        return len(self.results) > n_before

    def _check_somebody_is(self, there: list[str]) -> None:
        if there:
            self._last_there = time.monotonic()
        elif time.monotonic() - self._last_there > workers.PATIENCE:
            raise MachineError(
                "the cluster has no workers left", "start workers and fit again, or resume"
            )


def _sleep_until_news(client: Client, futures: Sequence[Future]) -> None:
    """Wait until one of these futures is done, but not for long."""
    from distributed import wait

    try:
        with client.as_current():  # it need not be the process's default one
            wait(futures, timeout=workers.LOOK_EVERY, return_when="FIRST_COMPLETED")
    except TimeoutError:
        return


def _raise_error(future: Future) -> None:
    """Raise what a task failed with, in plain words where the machine is to blame."""
    from distributed.scheduler import KilledWorker

    error = future.exception(timeout=SILENCE) if future.status == "error" else None
    if isinstance(error, KilledWorker):
        raise MachineError(
            "several workers died of the same task, probably for want of memory",
            "give workers more memory, or split the files of votes into smaller ones",
        ) from error
    if error is not None:
        raise error
    raise MachineError(f"a task of the cluster is {future.status}", "fit again, or resume")
