"""What we ask of a Dask cluster: which workers are there, what they see; and no wait for ever."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefpath.errors import MachineError, MissingExtra, SettingError

if TYPE_CHECKING:
    from distributed import Client

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
        If the scheduler is gone, or does not answer.
    """
    step_aside()
    found: list[str] = client.sync(addresses_heard_of, client, silence)
    return found


async def addresses_heard_of(client: Client, silence: float) -> list[str]:
    """The same, asked on the client's event loop."""
    seen: dict[str, float] = await _ask_scheduler(client, _last_seen)
    return sorted(address for address, ago in seen.items() if ago < silence)


def clients(client: Client) -> frozenset[str]:
    """All clients of the cluster that are connected."""
    return frozenset(client.sync(_ask_scheduler, client, _clients))


def keys_on_others(client: Client, there: Collection[str]) -> list[str]:
    """Keys of the tasks that workers have who are not among these."""
    found: dict[str, list[str]] = client.sync(_ask_scheduler, client, _keys)
    return [key for address, keys in found.items() if address not in there for key in keys]


async def _ask_scheduler(client: Client, function: Callable[..., Any]) -> Any:
    """What a function says on the scheduler, unless that is gone or stopped."""
    with _scheduler_there():
        return await asyncio.wait_for(client.run_on_scheduler(function), PATIENCE)


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


def _clients(dask_scheduler: Any) -> list[str]:
    return list(dask_scheduler.clients)


def _last_seen(dask_scheduler: Any) -> dict[str, float]:
    """Seconds since each worker was heard of; one that is stopped is not heard of any more."""
    now = time.time()
    return {address: now - w.last_seen for address, w in dask_scheduler.workers.items()}


def _keys(dask_scheduler: Any) -> dict[str, list[str]]:
    """Keys of the tasks that each worker has, under way or waiting there."""
    return {
        address: [str(task.key) for task in w.processing]
        for address, w in dask_scheduler.workers.items()
    }


def step_aside() -> None:
    """Inside a task of a cluster: free its thread, for which the parts of a fit may wait.

    A fit that is itself a task of the cluster it uses would otherwise wait for itself for ever,
    as an actor does that calls an actor of its own worker.
    """
    from distributed import secede
    from distributed.threadpoolexecutor import thread_state

    if getattr(thread_state, "proceed", False):
        secede()


def threads_of_this_worker() -> int | None:
    """Threads that the worker of this task may use; None outside of a task."""
    from distributed import get_worker

    try:
        return int(get_worker().state.nthreads)
    except ValueError:
        return None


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
        with client.as_current():  # it need not be the process's default one
            wait(list(futures.values()), timeout=PATIENCE)
    except TimeoutError:
        client.cancel([future for future in futures.values() if not future.done()], force=True)
    return {a: future.result() for a, future in futures.items() if future.status == "finished"}


def _sees(token: str) -> bool:
    return Path(token).exists()
