"""Short calls to workers, one to each at a time: without a task for the scheduler to manage.

A task costs the scheduler, the worker and the driver some 20 to 30 ms of processor together; a call
(`Client.run`) a sixth of that, and it goes to the worker that was meant. Messages are packed
and unpacked outside the event loops, and answered by the worker's own threads, so that no worker
seems dead while it works.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from prefpath.distributed import parts, workers

if TYPE_CHECKING:
    from distributed import Client

# So long a worker may take to hear that a fit is over.
_SECONDS_TO_FORGET = 1.0


def call_each(client: Client, orders: Mapping[str, Any], silence: float) -> dict[str, Any]:
    """What each worker answers to its order; without those that are lost meanwhile.

    An error in a worker's part is raised. A worker that was not heard of for `silence` seconds, or
    that the scheduler no longer knows, is lost.
    """
    from distributed.protocol.pickle import dumps, loads

    packed = {address: dumps(order) for address, order in orders.items()}
    found = client.sync(_call_each, client, packed, silence)
    answers = {address: loads(answer) for address, answer in found.items()}
    for answer in answers.values():
        if isinstance(answer, parts.Failed):
            raise answer.error
    return answers


def forget(client: Client, fit: str, addresses: Collection[str]) -> None:
    """Let workers forget a fit; one that does not answer at once will do so by itself."""
    if client.status == "running" and addresses:
        client.sync(_forget, client, fit, list(addresses))


def forget_soon(client: Client, fit: str, addresses: Collection[str]) -> None:
    """The same without waiting, as whoever cleans up in any thread must."""
    if client.status == "running" and addresses:
        client.loop.add_callback(_forget, client, fit, list(addresses))


async def _call_each(
    client: Client, packed: Mapping[str, bytes], silence: float
) -> dict[str, bytes]:
    calls = {
        address: _begin(client, _answer, address, message) for address, message in packed.items()
    }
    waiting = set(calls)
    try:
        while waiting:
            await asyncio.wait([calls[address] for address in waiting], timeout=workers.LOOK_EVERY)
            waiting = {address for address in waiting if not calls[address].done()}
            if waiting:
                waiting &= set(await workers.addresses_heard_of(client, silence))
        return {a: answer for a, call in calls.items() if (answer := _result(call, a)) is not None}
    finally:
        for call in calls.values():
            call.cancel()


async def _forget(client: Client, fit: str, addresses: list[str]) -> None:
    calls = [_begin(client, _forget_there, address, fit) for address in addresses]
    await asyncio.wait(calls, timeout=_SECONDS_TO_FORGET)
    for call in calls:
        call.cancel()


def _begin(client: Client, function: Any, address: str, what: Any) -> asyncio.Future[Any]:
    call = client.run(function, what, workers=[address], on_error="return")
    return asyncio.ensure_future(call)


def _result(call: asyncio.Future[Any], address: str) -> bytes | None:
    """The answer; None if the worker was lost, which is the one way in which a call fails."""
    if not call.done() or call.cancelled() or call.exception() is not None:
        return None
    answer = call.result().get(address)
    return answer if isinstance(answer, bytes) else None


# ---------------------------------------------------------------- on the worker


async def _answer(message: bytes, dask_worker: Any) -> bytes:
    """Answer an order by the worker's threads, each of which takes some of the shards.

    What fails in here is an answer, too: an error of the call itself says that the worker is lost.
    """
    from distributed.protocol.pickle import loads

    run = partial(asyncio.get_running_loop().run_in_executor, dask_worker.executors["default"])
    unpacked = await run(_caught, loads, message)
    if isinstance(unpacked, parts.Failed):
        return await run(_packed, unpacked)
    order, recipe = unpacked
    shares = order.split(dask_worker.state.nthreads)
    answers = await asyncio.gather(*(run(_caught, parts.obey, one, recipe) for one in shares))
    return await run(_packed, _united(answers))


def _caught(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return function(*args)
    except Exception as error:  # whatever it is, the driver raises it
        return parts.Failed(error)


def _united(answers: Sequence[Any]) -> Any:
    """The answers of all threads as one, or the first failure."""
    together: dict[int, Any] = {}
    for answer in answers:
        if isinstance(answer, parts.Failed):
            return answer
        together |= answer
    return together


def _packed(answer: Any) -> bytes:
    from distributed.protocol.pickle import dumps

    try:
        return bytes(dumps(answer))
    except Exception as error:
        said = answer.error if isinstance(answer, parts.Failed) else error
        return bytes(dumps(parts.Failed(RuntimeError(f"{type(said).__name__}: {said}"))))


async def _forget_there(fit: str) -> int:
    return parts.forget(fit)
