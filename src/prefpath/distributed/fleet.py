"""All parts of a fit, as the driver speaks to them: one call to all, answers in shard order.

A round is one short call to each worker. Whatever happens to a worker meanwhile (killed, stopped,
new ones come), the round ends with the answers an undisturbed one would have had.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from prefpath.distributed import calls as to_workers
from prefpath.distributed import workers
from prefpath.distributed.parts import Missing, Order, Recipe
from prefpath.errors import MachineError

if TYPE_CHECKING:
    from distributed import Client

Story = Callable[[int], Sequence[Any]]

# A round is tried on so many sets of workers before we give up: more often than workers die.
_MOST_TRIES = 20
# Beyond this a worker that is not heard of counts as gone (tests make it shorter).
SILENCE = 20.0


class Rounds(NamedTuple):
    """What rounds have cost: their number, seconds waited in them, parts made anew."""

    number: int
    seconds: float
    rebuilt: int


class Fleet:
    """The parts of one fit.

    Parameters
    ----------
    client : distributed.Client
    n_shards : int
    recipe : callable
        Makes the part of a shard on a worker.
    story : callable
        The calls that bring a new part of a shard to where the others are.
    """

    def __init__(self, client: Client, n_shards: int, recipe: Recipe, story: Story) -> None:
        self.client, self.n_shards, self.story = client, n_shards, story
        self.fit = f"{client.id}/{secrets.token_hex(8)}"
        self.rounds = Rounds(0, 0.0, 0)
        self._recipe = recipe
        self._place: dict[int, str] = {}
        self._number = 0
        self._there: list[str] = []

    def ask(self, call: Any) -> list[Any]:
        """The answer of every part to the same call, in shard order."""
        return self.ask_some(dict.fromkeys(range(self.n_shards), call))

    def ask_some(self, calls: Mapping[int, Any]) -> list[Any]:
        """The answers of some parts, each to its own call; the others hear nothing of it.

        Every part counts its own calls, so that all must be asked each time: who is not among
        `calls` is asked None, which a part answers with nothing.
        """
        started = time.monotonic()
        self._number += 1
        wanted = {shard: calls.get(shard) for shard in range(self.n_shards)}
        answers: dict[int, Any] = {}
        new: set[int] = set(range(self.n_shards)) - set(self._place)
        for _ in range(_MOST_TRIES):
            missing = [shard for shard in wanted if shard not in answers]
            if not missing:
                break
            found = self._try({shard: wanted[shard] for shard in missing}, new)
            answers |= {s: a for s, a in found.items() if not isinstance(a, Missing)}
            new = set(wanted) - set(answers)  # whoever is not there is made anew
            if new:
                self._there = []
        else:
            raise MachineError(
                f"the cluster loses workers faster than they answer ({_MOST_TRIES} tries)",
                "look at the workers' logs; fit again, or resume",
            )
        number, seconds, rebuilt = self.rounds
        self.rounds = Rounds(number + 1, seconds + time.monotonic() - started, rebuilt)
        return [answers[shard] for shard in sorted(calls)]

    def begin_anew(self) -> None:
        """Let every part be made anew from its story at the next call."""
        self._place.clear()

    def close(self) -> None:
        """Let workers forget this fit.

        One that does not hear of it forgets when another driver's fit begins.
        """
        to_workers.forget(self.client, self.fit, self._there)

    def close_soon(self) -> None:
        """The same without waiting for it, from any thread."""
        to_workers.forget_soon(self.client, self.fit, self._there)

    def _try(self, calls: Mapping[int, Any], new: set[int]) -> dict[int, Any]:
        """One call to each worker; answers of those that came back."""
        there = self._workers()
        by_worker: dict[str, list[int]] = {}
        for k, shard in enumerate(sorted(calls)):
            if self._place.get(shard) not in there:
                self._place[shard] = there[k % len(there)]
                new.add(shard)
            by_worker.setdefault(self._place[shard], []).append(shard)
        orders = {
            address: self._order({s: calls[s] for s in shards}, new)
            for address, shards in by_worker.items()
        }
        answers: dict[int, Any] = {}
        for answer in to_workers.call_each(self.client, orders, SILENCE).values():
            answers |= answer
        return answers

    def _order(self, calls: dict[int, Any], new: set[int]) -> tuple[Order, Recipe | None]:
        stories = {shard: self.story(shard) for shard in calls if shard in new}
        if stories and self._number > 1:
            self.rounds = self.rounds._replace(rebuilt=self.rounds.rebuilt + len(stories))
        living = workers.clients(self.client) if self._number == 1 else None
        order = Order(self.fit, self._number, calls, stories, living)
        return order, self._recipe if stories else None

    def _workers(self) -> list[str]:
        """Workers as we last knew them; after a loss, who is there now (a while is waited)."""
        if self._there:
            return self._there
        until = time.monotonic() + workers.PATIENCE
        while True:
            self._there = workers.worker_addresses(self.client, SILENCE)
            if self._there:
                return self._there
            if time.monotonic() > until:
                raise MachineError(
                    "the cluster has no workers left", "start workers and fit again, or resume"
                )
            time.sleep(0.2)
