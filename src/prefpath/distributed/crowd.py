"""A crowd whose waiting annotators are on a cluster; the driver has the pool and who is active."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from prefpath.checkpoint.files import Arrays
from prefpath.distributed.growing import ActiveVotes, Growing
from prefpath.distributed.pooled import Everybody, pairs_of_cells
from prefpath.distributed.room_part import UnitVotes
from prefpath.distributed.rooms import ClusterRooms
from prefpath.distributed.settings import Model
from prefpath.distributed.story import pack_calls, unpack_calls
from prefpath.model.attention import PooledFit
from prefpath.model.design import Floats, Ints, Target, build_design, build_target, weighted_target
from prefpath.model.problem import Problem
from prefpath.solver.arguments import CELLS_AT_ONCE, Scratch
from prefpath.solver.crowd import Crowd
from prefpath.solver.executors import Serial, Threads
from prefpath.solver.pool import Pool
from prefpath.solver.room import Leavers
from prefpath.solver.small import is_small
from prefpath.solver.state import CrowdState, WaitingState
from prefpath.votes import Votes
from prefpath.votes.encode import Labels
from prefpath.votes.remote import RemoteVotes

# Cells from which a pass over the active is worth sharing out among threads, as on one machine.
_LARGE = 200_000


class ClusterCrowd(Crowd):
    """`Crowd` of those who have become active, in the order they did; `numbers` are theirs
    across all shards.
    """

    def __init__(self, problem: Problem, executor: Serial | Threads, rooms: ClusterRooms) -> None:
        super().__init__(problem, executor, rooms)
        self.cluster, self.everybody = rooms, rooms.everybody
        self.n_cells = self.everybody.n_cells
        self.is_large = self.n_cells > _LARGE
        self.is_small = is_small(problem, self.n_cells)
        self._votes = ActiveVotes(self.inputs.terms.threshold.shape[1], problem.features)
        self._numbers = Growing(np.int64)
        self._pair_of = Growing(np.uint32)
        self.pool = Pool(self.everybody.weight.copy(), self.everybody.choice.copy())
        self._largest_choice = self.everybody.largest_choice
        self._bounds = self._current_bounds()

    @property
    def numbers(self) -> Ints:
        """Number across shards of each who is, or has been, active."""
        return self._numbers.values()

    @property
    def labels(self) -> list[Any]:
        return self._votes.labels

    @property
    def n_voted(self) -> int:
        return self.everybody.n_voted

    @property
    def largest_share(self) -> float:
        return self.everybody.largest_share

    @property
    def largest_threshold(self) -> float:
        return self.everybody.largest_threshold

    def scratch(self) -> Scratch:
        block, view = self.everybody.widths
        n_scalars = self.problem.n_scalars
        return Scratch(
            coefficient=np.zeros(block),
            scalar=np.zeros(n_scalars),
            score=np.zeros(view),
            score_gradient=np.zeros(view),
            scalar_gradient=np.zeros(n_scalars),
            slope=np.zeros(CELLS_AT_ONCE),
            item_gradient=np.zeros(self.problem.votes.n_items),
        )

    def _number(self, leavers: Leavers) -> Ints:
        """Those who leave get the next numbers, and their votes come to the driver."""
        return self._take_in(leavers.who, self.cluster.left)

    def _take_in(self, numbers: Ints, units: list[UnitVotes]) -> Ints:
        before = len(self._votes.labels)
        own = self._votes.append(units)
        problem = self.problem
        pairs = pairs_of_cells(own, self.everybody, problem.votes.n_items, problem.common_position)
        self._numbers.append(numbers)
        self._pair_of.append(pairs.astype(np.uint32))
        self.index = self.index._replace(pair_of=self._pair_of.values())
        self.share = self._votes.share
        terms = self.inputs.terms._replace(
            threshold=self._votes.threshold, stands_for=self._votes.stands_for
        )
        self.inputs = self.inputs._replace(
            design=self._votes.design(), target=self._votes.target(), terms=terms
        )
        return np.arange(before, before + len(units), dtype=np.int64)

    def _common_target(self) -> Target:
        design, target, terms = self.inputs
        if (terms.stands_for == 1.0).all():
            return target
        return weighted_target(target, np.repeat(terms.stands_for, np.diff(design.cells)))

    def elsewhere(self) -> Arrays:
        """Numbers of those who became active, and all that rooms were told."""
        return {
            "numbers": self.numbers.copy(),
            **pack_calls(self.cluster.calls, self.cluster.first),
        }

    def restore(self, state: CrowdState, waiting: WaitingState, elsewhere: Arrays) -> None:
        """Take in those who were active again, in the order and the groups they joined."""
        assert not len(waiting.waits)  # they wait on the cluster
        numbers = elsewhere["numbers"]
        self.restore_history(state)
        self.cluster.restore(unpack_calls(elsewhere, self.cluster.first), self.sight)
        units = self.cluster.votes_of(numbers) if len(numbers) else []
        ends = np.cumsum(state.joined)
        for first, last in zip(ends - state.joined, ends, strict=True):
            self._join(self._take_in(numbers[first:last], units[first:last]))


def remote_problem(model: Model, votes: RemoteVotes, everybody: Everybody) -> Problem:
    """The problem of a fit whose votes stayed in the shards."""
    return replace(driver_problem(model, votes.items, everybody), votes=votes)


def driver_problem(model: Model, items: Labels, everybody: Everybody) -> Problem:
    """The problem as the driver has it: everybody's pairs and totals, and nobody's votes."""
    votes = _no_votes(items)
    nobody: Floats = np.zeros(0)
    starts = np.zeros(0, dtype=np.int64)
    features = model.features
    problem = Problem(
        votes=votes,
        loss=model.loss,
        penalty=model.penalty,
        features=features,
        position_bias=model.position_bias,
        common_position=model.common_position,
        kappa=model.kappa,
        cell_starts=starts,
        design=build_design(
            votes, starts, features, use_position=model.position_bias or model.common_position
        ),
        target=build_target(votes, starts, votes.weight),
        weight=votes.weight,
        total_weight=everybody.totals.weight,
        deviation_threshold=nobody,
        position_threshold=nobody,
        attention=model.attention,
        attention_threshold=nobody,
    )
    problem._shared.pool_index = everybody.pairs
    problem.__dict__["pooled_fit"] = PooledFit(np.zeros(0), everybody.totals.attention_scale)
    return problem


def _no_votes(items: Labels) -> Votes:
    codes = np.zeros(0, dtype=np.int32)
    return Votes(
        annotators=np.zeros(0, dtype=object),
        items=items,
        offsets=np.zeros(1, dtype=np.int64),
        left=codes,
        right=codes.copy(),
        choice=np.zeros(0),
        weight=np.zeros(0),
        count=codes.copy(),
        position_known=np.zeros(0, dtype=bool),
    )
