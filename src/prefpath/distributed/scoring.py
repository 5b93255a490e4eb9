"""Held-out votes of a fold, scored in the shards that hold them; the driver gets sums."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prefpath.distributed.settings import FoldOf, fold_of_shard
from prefpath.model.design import Floats, Ints
from prefpath.model.problem import Problem
from prefpath.selection.criteria import mismatches, vote_costs
from prefpath.selection.held_out import KnotState, held_out_margins, held_out_votes
from prefpath.solver.active import Active
from prefpath.solver.arguments import CommonPart, inputs_of, make_scratch
from prefpath.solver.kernels import common_scores

# Costs are compared annotator by annotator; beyond so many in a shard, in groups of annotators.
MOST_GROUPS = 100_000


class Score(NamedTuple):
    """What do your held-out votes cost, where these of you have the units (z as y holds it)?"""

    common: Floats
    who: Ints
    units: list[Floats]


class Scored(NamedTuple):
    """Weight of the held-out votes, of those predicted wrong, and costs by annotator."""

    weight: float
    wrong: float
    cost: Floats


class ShardScorer:
    """The held-out votes of one shard in one fold."""

    def __init__(self, problem: Problem, shard: int, fold: FoldOf, criterion: str) -> None:
        self._problem, self._criterion = problem, criterion
        self._held_out = held_out_votes(problem, fold_of_shard(problem.votes, shard, fold).test)
        self._inputs = inputs_of(problem)
        self._theta = np.zeros(problem.votes.n_items)
        self._scratch = make_scratch(problem, with_items=False)
        self._margin = np.empty(len(self._held_out.left))

    def score(self, call: Score) -> Scored:
        held_out, loss = self._held_out, self._problem.loss
        margin = self._margins(call)
        wrong = held_out.weight * mismatches(margin, held_out.choice)
        cost = wrong
        if self._criterion != "mismatch":
            cost = held_out.weight * vote_costs(margin, held_out.choice, loss)
        return Scored(float(held_out.weight.sum()), float(wrong.sum()), self._by_group(cost))

    def _by_group(self, cost: Floats) -> Floats:
        n = min(self._problem.votes.n_annotators, MOST_GROUPS)
        owner = np.repeat(self._held_out.who, np.diff(self._held_out.starts))
        return np.bincount(owner % n, cost, n).astype(float)

    def _margins(self, call: Score) -> Floats:
        problem, n_common = self._problem, len(call.common)
        y = np.concatenate([call.common, *call.units])
        at = n_common + np.cumsum([0, *map(len, call.units)]).astype(np.int64)
        place = np.full(problem.votes.n_annotators, -1, dtype=np.int64)
        place[call.who] = np.arange(len(call.who))
        common_scores(y, problem.design, self._theta)
        position = float(y[problem.n_common]) if problem.common_position else 0.0
        held_out_margins(
            self._held_out,
            KnotState(y, Active(call.who, at), place),
            self._inputs,
            CommonPart(self._theta, position),
            self._scratch,
            self._margin,
        )
        return self._margin
