"""What we ask of a Dask cluster: tasks in order, workers that are there, and no wait for ever."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefpath.errors import MachineError, MissingExtra, SettingError

if TYPE_CHECKING:
    from distributed import Client, Future

# So long nothing may happen at all: no worker there, or none that answers.
PATIENCE = 60.0
SECONDS_TO_CONNECT = 10.0
# How often we look while we wait.
LOOK_EVERY = 1.0


def connect(scheduler: str) -> Client:
    """A client of the cluster at an address.

    Raises
    ------
    MissingExtra
        Without Dask.
    SettingError
        If no scheduler answers there.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtra("distributed", "dask", "a cluster") from error
    try:
        return Client(scheduler, timeout=SECONDS_TO_CONNECT)
    except (OSError, TimeoutError, ValueError) as error:
        raise SettingError(
            f"no scheduler answers at {scheduler} ({type(error).__name__})",
            expected="the address of a Dask scheduler, such as tcp://10.0.0.1:8786",
            remedy="start one with: dask scheduler",
        ) from error


def worker_addresses(client: Client, silence: float = PATIENCE) -> list[str]:
    """All workers that the scheduler has heard of lately, in order of address.

    Raises
    ------
    MachineError
        If the scheduler is gone.
    """
    with _scheduler_there():
        seen: dict[str, float] = client.run_on_scheduler(_last_seen)
    return sorted(address for address, ago in seen.items() if ago < silence)


async def addresses_heard_of(client: Client, silence: float) -> list[str]:
    """The same, asked on the client's event loop."""
    with _scheduler_there():
        seen = await client.run_on_scheduler(_last_seen)
    return sorted(address for address, ago in seen.items() if ago < silence)


@contextmanager
def _scheduler_there() -> Iterator[None]:
    """Say in plain words that the scheduler does not answer any more."""
    try:
        yield
    except (OSError, TimeoutError) as error:
        raise MachineError(
            f"the scheduler of the cluster does not answer any more ({type(error).__name__})",
            "start scheduler and workers, and fit again, or resume",
        ) from error


def clients(client: Client) -> frozenset[str]:
    """All clients of the cluster that are connected."""
    with _scheduler_there():
        return frozenset(client.run_on_scheduler(_clients))


def _clients(dask_scheduler: Any) -> list[str]:
    return list(dask_scheduler.clients)


def _last_seen(dask_scheduler: Any) -> dict[str, float]:
    """Seconds since each worker was heard of; one that is stopped is not heard of any more."""
    now = time.time()
    return {address: now - w.last_seen for address, w in dask_scheduler.workers.items()}


def threads_of_this_worker() -> int | None:
    """Threads that the worker of this task may use; None outside of a task."""
    from distributed import get_worker

    try:
        return int(get_worker().state.nthreads)
    except ValueError:
        return None


def run_tasks(client: Client, function: Callable[..., Any], jobs: Sequence[Any]) -> list[Any]:
    """`function(*job)` for each job on any worker; results in the jobs' order.

    A job whose worker dies is done again by another; an error in the function is raised.
    """
    name = f"prefpath-{function.__name__}-{secrets.token_hex(4)}"
    futures = [
        client.submit(function, *job, key=f"{name}-{k}", pure=False) for k, job in enumerate(jobs)
    ]
    try:
        wait_for(client, futures)
        return [future.result() for future in futures]
    except BaseException:
        client.cancel(futures, force=True)
        raise


def wait_for(client: Client, futures: Sequence[Future]) -> None:
    """Wait until all are done or one has failed; not where there is nobody to do them.

    Raises
    ------
    MachineError
        If no worker is left, or a task has killed several.
    """
    alone_since: float | None = None
    while any(future.status == "pending" for future in futures):
        if any(future.status == "error" for future in futures):
            break
        sleep_until_news(futures)
        if worker_addresses(client):
            alone_since = None
        elif alone_since is None:
            alone_since = time.monotonic()
        elif time.monotonic() - alone_since > PATIENCE:
            raise MachineError(
                "the cluster has no workers left", "start workers and fit again, or resume"
            )
    for future in futures:
        if future.status in ("error", "lost", "cancelled"):
            raise_error(future)


def sleep_until_news(futures: Sequence[Future]) -> None:
    """Wait until one of these futures is done, but not for long."""
    from distributed import wait

    pending = [future for future in futures if future.status == "pending"]
    try:
        wait(pending, timeout=LOOK_EVERY, return_when="FIRST_COMPLETED")
    except TimeoutError:
        return


def raise_error(future: Future) -> None:
    """Raise what a task failed with, in plain words where the machine is to blame."""
    from distributed.scheduler import KilledWorker

    error = future.exception(timeout=LOOK_EVERY) if future.status == "error" else None
    if isinstance(error, KilledWorker):
        raise MachineError(
            "several workers died of the same task, probably for want of memory",
            "give workers more memory, or split the files of votes into smaller ones",
        ) from error
    if error is not None:
        raise error
    raise MachineError(f"a task of the cluster is {future.status}", "fit again, or resume")


def check_shared_folder(client: Client, folder: Path) -> None:
    """Refuse a folder that some worker does not see: shards would be lost on it."""
    token = folder / f".seen-{secrets.token_hex(8)}"
    token.touch()
    try:
        seen = _ask_each(client, _sees, str(token))
    finally:
        token.unlink(missing_ok=True)
    blind = [address for address, sees in seen.items() if not sees]
    if blind:
        raise SettingError(
            f"{len(blind)} of {len(seen)} workers do not see {folder}: {', '.join(blind[:3])}",
            expected="a folder that the driver and all workers share",
            remedy="pass folder=... (--cluster-folder) on shared storage",
        )
    if not seen:
        raise SettingError(
            "the cluster has no workers", remedy="start workers: dask worker ADDRESS"
        )


def _ask_each(client: Client, function: Callable[..., Any], *args: Any) -> dict[str, Any]:
    """The answer of each worker that answers: one that is stopped must not stop us."""
    from distributed import wait

    futures = {
        address: client.submit(
            function,
            *args,
            key=f"prefpath-ask-{secrets.token_hex(8)}",
            workers=[address],
            pure=False,
        )
        for address in worker_addresses(client)
    }
    try:
        wait(list(futures.values()), timeout=PATIENCE)
    except TimeoutError:
        client.cancel([future for future in futures.values() if not future.done()], force=True)
    return {a: future.result() for a, future in futures.items() if future.status == "finished"}


def _sees(token: str) -> bool:
    return Path(token).exists()
