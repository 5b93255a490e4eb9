"""Parts of a fit on the workers: one for each shard, which answers calls one after another.

What a part is follows from its shard and from the calls it has answered, so that a lost one is
made anew from its story. Calls are numbered: one that comes twice is answered twice and done
once, and a part that has missed one says so.

A part is no Dask actor, since these die with their worker; nor is it bound to a worker, since work
bound to one that has gone waits for ever. It is a value that a call finds in the worker's memory,
or does not find.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

# Parts that nobody asked anything for so long are forgotten.
_SECONDS_UNUSED = 24 * 3600.0


class Part(Protocol):
    """What lives on a worker for one shard of one fit."""

    def answer(self, call: Any) -> Any: ...


Recipe = Callable[[int], Any]
"""Makes the part of a shard, from nothing but what is on disk."""


class Order(NamedTuple):
    """Call number `number` for some shards; with a story for those that are to be made anew.

    `fit` is the driver's client and a name; `living` are all clients of the cluster, if the
    worker is to forget the fits of others.
    """

    fit: str
    number: int
    calls: dict[int, Any]
    stories: dict[int, Sequence[Any]]
    living: frozenset[str] | None = None

    def split(self, n: int) -> list[Order]:
        """At most n orders for some of the shards each."""
        shares = [dict(list(self.calls.items())[k::n]) for k in range(min(n, len(self.calls)))]
        return [self._replace(calls=share) for share in shares]


class Missing(NamedTuple):
    """A shard's part is not here, or has missed calls."""

    shard: int


class Failed(NamedTuple):
    """A part could not answer."""

    error: Exception


class _Kept:
    """A part, the number of its last call, and what it answered."""

    def __init__(self, part: Part, number: int) -> None:
        self.part, self.number, self.answer = part, number, None
        self.lock = threading.Lock()
        self.used = time.monotonic()


_PARTS: dict[tuple[str, int], _Kept] = {}
_LOCK = threading.Lock()


def obey(order: Order, recipe: Recipe | None) -> dict[int, Any]:
    """The answer, or `Missing`, of the part of each shard."""
    if order.living is not None:
        _forget_unused(order.living)
    return {shard: _obey_one(order, shard, recipe) for shard in order.calls}


def _obey_one(order: Order, shard: int, recipe: Recipe | None) -> Any:
    name = order.fit, shard
    if recipe is not None and shard in order.stories:
        _tell_story(name, order, recipe)
    kept = _PARTS.get(name)
    if kept is None:
        return Missing(shard)
    with kept.lock:
        kept.used = time.monotonic()
        if kept.number == order.number - 1:
            kept.answer = kept.part.answer(order.calls[shard])
            kept.number = order.number
        return kept.answer if kept.number == order.number else Missing(shard)


def _tell_story(name: tuple[str, int], order: Order, recipe: Recipe) -> None:
    """Make a part anew and let it answer all it has ever been asked that mattered."""
    part = recipe(name[1])
    for call in order.stories[name[1]]:
        part.answer(call)
    with _LOCK:
        _PARTS[name] = _Kept(part, order.number - 1)


def forget(fit: str) -> int:
    """Let go of all parts of a fit; how many there were."""
    with _LOCK:
        names = [name for name in _PARTS if name[0] == fit]
        for name in names:
            del _PARTS[name]
    return len(names)


def _forget_unused(living: frozenset[str]) -> None:
    """Let go of what a driver that has died left behind."""
    now = time.monotonic()
    with _LOCK:
        for (fit, shard), kept in list(_PARTS.items()):
            if fit.partition("/")[0] not in living or now - kept.used > _SECONDS_UNUSED:
                del _PARTS[fit, shard]
