"""One value for each shard on the workers, asked by the names of its methods.

What comes after a path asks the shards a few questions and adds the answers up in shard order.
Calls that a value must have heard before it can answer the next are told with `tell`, and told
again to one that was lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any, NamedTuple, Self

from prefpath.distributed.collected import Cluster
from prefpath.distributed.fleet import Fleet

# Answers of so many bytes come to the driver at a time: items^2 numbers of many shards are more
# than it can hold.
_BYTES_AT_ONCE = 2**30


class Question(NamedTuple):
    """A method of a shard's value and what it is given."""

    method: str
    given: tuple[Any, ...]


class AnsweringPart:
    """The part of a shard: a value whose methods are asked."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def answer(self, call: Question | None) -> Any:
        return None if call is None else getattr(self._value, call.method)(*call.given)


def _make_part(make: Callable[[int], Any], shard: int) -> AnsweringPart:
    return AnsweringPart(make(shard))


class Shards:
    """The values of all shards, as the driver speaks to them.

    Parameters
    ----------
    cluster : Cluster
    make : callable
        Makes the value of a shard on a worker; sent there as it is.
    """

    def __init__(self, cluster: Cluster, make: Callable[[int], Any]) -> None:
        n = len(cluster.sharded)
        self.fleet = Fleet(cluster.client, n, partial(_make_part, make), self._story)
        self._told: list[list[Question]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.fleet.close()

    def __len__(self) -> int:
        return self.fleet.n_shards

    def ask(self, method: str, *given: Any) -> list[Any]:
        """What every shard answers to the same question, in shard order."""
        return self.fleet.ask(Question(method, given))

    def ask_each(self, method: str, given: Sequence[tuple[Any, ...]]) -> list[Any]:
        """What every shard answers to a question of its own."""
        calls = {shard: Question(method, own) for shard, own in enumerate(given)}
        return self.fleet.ask_some(calls)

    def ask_some(self, method: str, given: Mapping[int, tuple[Any, ...]]) -> list[Any]:
        """What some shards answer, each to a question of its own, in shard order."""
        return self.fleet.ask_some({s: Question(method, own) for s, own in given.items()})

    def tell(self, method: str, given: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The same for what a value must have heard."""
        answers = self.ask_each(method, given)
        self._told.append([Question(method, own) for own in given])
        return answers

    def tell_all(self, method: str, *given: Any) -> list[Any]:
        """Tell every shard the same."""
        return self.tell(method, [given] * len(self))

    def forget(self, *methods: str) -> None:
        """What was told of these does not matter any more."""
        self._told = [calls for calls in self._told if calls[0].method not in methods]

    def total(self, method: str, *given: Any, n_numbers: int) -> list[Any]:
        """Answers (tuples of numbers and arrays, of so many numbers) added up in shard order.

        Some shards are asked at a time, so that the driver never holds many answers.
        """
        at_once = max(1, _BYTES_AT_ONCE // (8 * max(n_numbers, 1)))
        total: list[Any] = []
        for start in range(0, len(self), at_once):
            asked = range(start, min(start + at_once, len(self)))
            for answer in self.fleet.ask_some(dict.fromkeys(asked, Question(method, given))):
                total = [a + b for a, b in zip(total, answer, strict=True)] if total else [*answer]
        return total

    def _story(self, shard: int) -> Sequence[Question]:
        return [calls[shard] for calls in self._told]
