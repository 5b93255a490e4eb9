"""What a model is to allow for, decided by votes that stay on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from prefpath.distributed.numbering import Numbering
from prefpath.distributed.questions import Shards
from prefpath.distributed.remote import Remote, ShardVotes, survey_everybody
from prefpath.distributed.settings import ALL_VOTES, Model, shard_problem
from prefpath.fitted.follow import check_switch
from prefpath.inference.own_attention import UnequalAttention, attention_in
from prefpath.inference.shared_lean import (
    SharedLean,
    Sides,
    explain_sides,
    is_one_sided,
    judge,
    lean_sums,
)
from prefpath.inference.slope_sums import (
    AtScores,
    Scatter,
    Slopes,
    SlopeSums,
    Tastes,
    dispersed,
    dispersed_tastes,
    shared_lean,
    typical_square,
)
from prefpath.model.attention import PooledVotes, fit_pooled
from prefpath.model.design import Floats
from prefpath.votes.encode import BoolArray
from prefpath.votes.remote import RemoteVotes

Switch = bool | Literal["auto"]


def decide(
    model: Model, votes: RemoteVotes, where: Remote, common_position: Switch, attention: Switch
) -> Model:
    """The model with what its votes ask for, where that is to be decided by them."""
    check_switch(common_position, "common_position")
    check_switch(attention, "attention")
    shared = common_position
    if common_position == "auto":
        shared = find_shared_lean_elsewhere(votes, where).is_there
    known = replace(model, common_position=bool(shared))
    if attention == "auto":
        attention = find_unequal_attention_elsewhere(known, votes, where).is_there
    return replace(known, attention=bool(attention))


class _LeanShard(ShardVotes):
    def lean_sums(self, sides: Sides) -> tuple[Floats, Floats, Floats]:
        return lean_sums(self.votes.without_ties(), sides)


def find_shared_lean_elsewhere(votes: RemoteVotes, where: Remote) -> SharedLean:
    """`find_shared_lean` of votes that stay on a cluster."""
    decisive = votes.rows_where(votes.choice != 0)
    if is_one_sided(decisive):
        return SharedLean(0.0, 1.0)
    sides = explain_sides(decisive)
    folder = str(where.cluster.sharded.folder)
    with Shards(where.cluster, partial(_LeanShard, folder)) as shards:
        parts = zip(*shards.ask("lean_sums", sides), strict=True)
    pull, told, spread = (np.asarray(where.numbering.join(part)) for part in parts)
    return judge(pull, told, spread, sides.information)


def find_unequal_attention_elsewhere(
    model: Model, votes: RemoteVotes, where: Remote
) -> UnequalAttention:
    """`find_unequal_attention` of votes that stay on a cluster."""
    everybody = survey_everybody(where.cluster, model)
    pooled = PooledVotes(everybody.pairs, everybody.weight, everybody.choice)
    scores = fit_pooled(pooled, model.loss, votes.n_items, model.features).scores
    lean = 0.0
    if model.common_position:
        lean = shared_lean(model.loss, scores, votes, votes.weight)
    folder = str(where.cluster.sharded.folder)
    make = partial(_slope_sums, folder, model, AtScores(scores, lean))
    with Shards(where.cluster, make) as shards:
        there = SlopesElsewhere(shards, where.numbering, votes.annotator_weight)
        return attention_in(there, model.loss)


def _slope_sums(folder: str, model: Model, at: AtScores, shard: int) -> SlopeSums:
    return SlopeSums(shard_problem(model, folder, shard, ALL_VOTES), at)


class SlopesElsewhere:
    """`SlopeVotes` in the shards."""

    def __init__(self, shards: Shards, numbering: Numbering, weight: Floats) -> None:
        self._shards, self._numbering, self.weight = shards, numbering, weight

    def slopes(self) -> Slopes:
        parts, scatter = zip(*self._shards.ask("slopes"), strict=True)
        return dispersed(self._joined(Slopes, parts), _summed(scatter))

    def tastes(self) -> Tastes:
        parts, scatter = zip(*self._shards.ask("tastes"), strict=True)
        return dispersed_tastes(self._joined(Tastes, parts), _summed(scatter))

    def refitted(self, who: BoolArray) -> tuple[Slopes, Tastes]:
        own = self._numbering.split(who)
        found = self._shards.ask_each("squares", [(each,) for each in own])
        typical = typical_square(*(sum(part) for part in zip(*found, strict=True)))
        again = self._shards.ask_each("refitted", [(each, typical) for each in own])
        slopes, tastes, scatter = zip(*again, strict=True)
        total = _summed(scatter)
        along = dispersed(self._joined(Slopes, slopes), total)
        return along, dispersed_tastes(self._joined(Tastes, tastes), total)

    def _joined(self, kind: Any, parts: Sequence[Any]) -> Any:
        return kind(*(self._numbering.join(part) for part in zip(*parts, strict=True)))


def _summed(parts: Sequence[Scatter]) -> Scatter:
    return Scatter(*(float(sum(part)) for part in zip(*parts, strict=True)))
