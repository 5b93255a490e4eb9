"""A fold on a cluster: its knots are scored by the shards, a round each."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from prefpath.checkpoint.files import Arrays
from prefpath.distributed.crowd import ClusterCrowd
from prefpath.distributed.scoring import MOST_GROUPS, Score, Scored
from prefpath.model.design import Floats, Ints
from prefpath.solver.active import Active


class HeldOutOf(NamedTuple):
    """Whose costs a scorer holds, by number: annotators, or groups of them."""

    who: Ints


class ClusterScorer:
    """Takes the place of a fold's recorder on the driver, as `KnotScorer` does on one machine."""

    interpolates: ClassVar[bool] = False

    def __init__(self, n_annotators: Ints) -> None:
        self.n_groups = int(np.minimum(n_annotators, MOST_GROUPS).sum())
        self.held_out = HeldOutOf(np.arange(self.n_groups))
        self.crowd: ClusterCrowd | None = None
        self.times: list[float] = []
        self.errors: list[float] = []
        self.wrong: list[float] = []
        self.costs: list[Floats] = []

    @property
    def last_time(self) -> float:
        """Of the last knot; 0 before the first."""
        return self.times[-1] if self.times else 0.0

    def record(self, t: float, y: Floats, active: Active) -> None:
        """Let the shards score their held-out votes at the state y."""
        assert self.crowd is not None
        rooms, n_common = self.crowd.cluster, self.crowd.n_common
        number = self.crowd.numbers[active.who]
        shard = np.searchsorted(rooms.first, number, side="right") - 1
        calls = {}
        for s in range(len(rooms.first) - 1):
            own = np.flatnonzero(shard == s)
            units = [y[active.at[k] : active.at[k + 1]] for k in own]
            calls[s] = Score(y[:n_common], number[own] - rooms.first[s], units)
        self._add(t, rooms.fleet.ask_some(calls))

    def _add(self, t: float, scored: list[Scored]) -> None:
        total = sum(one.weight for one in scored)
        cost = np.concatenate([one.cost for one in scored])
        self.times.append(t)
        self.wrong.append(sum(one.wrong for one in scored) / total)
        self.errors.append(float(cost.sum()) / total)
        self.costs.append(cost)

    def forget(self) -> None:
        """Let go of the costs by annotator, once they have been compared."""
        self.costs.clear()

    def amend(self, u: int, unit: Floats) -> None:
        """Nobody interpolates between the knots of a fold."""

    def state(self) -> Arrays:
        """What has been scored so far, as plain arrays."""
        costs = np.array(self.costs).reshape(len(self.costs), len(self.held_out.who))
        scored = {"times": self.times, "errors": self.errors, "wrong": self.wrong}
        return {"costs": costs, **{name: np.array(part) for name, part in scored.items()}}

    def restore(self, state: Arrays) -> None:
        """Go on after the knots of a state."""
        self.times, self.errors = state["times"].tolist(), state["errors"].tolist()
        self.wrong, self.costs = state["wrong"].tolist(), list(state["costs"])
