"""A fold on a cluster: its knots are scored by the shards, a round each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prefpath.distributed.crowd import ClusterCrowd
from prefpath.distributed.scoring import MOST_GROUPS, Score, Scored
from prefpath.model.design import Floats, Ints
from prefpath.selection.held_out import FoldScores
from prefpath.solver.active import Active


class HeldOutOf(NamedTuple):
    """Whose costs a scorer holds, by number: annotators, or groups of them."""

    who: Ints


class ClusterScorer(FoldScores):
    """A fold whose held-out votes are in the shards."""

    def __init__(self, n_annotators: Ints) -> None:
        self.n_groups = int(np.minimum(n_annotators, MOST_GROUPS).sum())
        super().__init__(HeldOutOf(np.arange(self.n_groups)))
        self.crowd: ClusterCrowd | None = None

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
        wrong = sum(one.wrong for one in scored) / total
        self.note(t, float(cost.sum()) / total, wrong, cost)
