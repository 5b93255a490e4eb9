"""Everybody's votes as the driver sees them where they stay in the shards: pooled, and totals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from prefpath.distributed.collected import Cluster
from prefpath.distributed.numbering import Numbering
from prefpath.distributed.pooled import Everybody, Survey, survey, unite
from prefpath.distributed.questions import Shards
from prefpath.distributed.settings import (
    ALL_VOTES,
    Model,
    Totals,
    shard_problem,
    shard_votes_in_memory,
)
from prefpath.distributed.shards import label_order
from prefpath.errors import SettingError
from prefpath.model.design import Ints, cell_starts_of, is_worth_merging
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray, Labels
from prefpath.votes.remote import AnnotatorTotals, RemoteVotes, Rows, pool_rows, remote_votes
from prefpath.votes.totals import totals_of, voices_of_items
from prefpath.votes.trials import has_whole_weights


class Sizes(NamedTuple):
    """Rows of votes, and cells where those that differ in the choice alone share one."""

    n_rows: int
    n_cells: int


class Counted(NamedTuple):
    """What the driver learns of a shard: labels, totals, pooled rows, voices on items.

    Whether weights are all `whole`, and `sizes`, are of all votes and of the decisive ones.
    """

    labels: Labels
    totals: AnnotatorTotals
    rows: Rows
    voices: Ints
    whole: tuple[bool, bool]
    sizes: tuple[Sizes, Sizes]


class Layout(NamedTuple):
    """How everybody's votes lie in cells: decided by all of them, not shard by shard.

    `merged` and `decisive_merged` say whether rows that differ in the choice alone share a cell,
    of all votes and of the decisive ones; `plain` whether every vote is a win or a loss.
    """

    merged: bool
    decisive_merged: bool
    plain: bool


class ShardVotes:
    """The votes of a shard, on a worker."""

    def __init__(self, folder: str, shard: int) -> None:
        self.votes = shard_votes_in_memory(folder, shard)

    def count(self) -> Counted:
        votes, decisive = self.votes, self.votes.without_ties()
        return Counted(
            votes.annotators,
            totals_of(votes),
            pool_rows([votes], votes.n_items),
            voices_of_items(votes),
            (has_whole_weights(votes.weight), has_whole_weights(decisive.weight)),
            (_sizes(votes), _sizes(decisive)),
        )

    def rows_of(self, kept: BoolArray) -> Rows:
        """The pooled votes of some of the annotators."""
        votes = self.votes
        return pool_rows([votes.take(kept[votes.annotator])], votes.n_items)


def _sizes(votes: Votes) -> Sizes:
    return Sizes(votes.n_rows, len(cell_starts_of(votes, merge_choices=True, always=True)))


@dataclass(frozen=True, eq=False)
class Remote:
    """Where the votes of a `RemoteVotes` are, how annotators are numbered there, and cells laid."""

    cluster: Cluster
    numbering: Numbering
    layout: Layout

    def shards(self) -> Shards:
        """The votes of all shards, to be asked."""
        return Shards(self.cluster, partial(ShardVotes, str(self.cluster.sharded.folder)))


@dataclass(frozen=True, eq=False)
class RemoteFit(Remote):
    """The same of a fit, with the model and what all shards are together."""

    model: Model
    totals: Totals


class Elsewhere(NamedTuple):
    """Votes that stay on a cluster: what is known of them here, and where they are."""

    votes: RemoteVotes
    remote: Remote


def count_votes(cluster: Cluster) -> Elsewhere:
    """Pool everybody's votes and count each annotator's, without collecting them."""
    sharded = cluster.sharded
    with Shards(cluster, partial(ShardVotes, str(sharded.folder))) as shards:
        counted: list[Counted] = shards.ask("count")
    _check_weights(counted)
    labels = np.concatenate([one.labels for one in counted])
    numbering = Numbering(label_order(labels), sharded.first)
    each = zip(*(one.totals for one in counted), strict=True)
    totals = AnnotatorTotals(*map(numbering.join, each))
    rows = pool_rows([one.rows for one in counted], len(sharded.items))
    votes = remote_votes(
        rows,
        totals,
        np.sum([one.voices for one in counted], axis=0),
        annotators=labels[numbering.order],
        items=sharded.items,
        origin=sharded.origin,
    )
    return Elsewhere(votes, Remote(cluster, numbering, _layout(counted, rows)))


def _layout(counted: list[Counted], rows: Rows) -> Layout:
    merged = [_is_merged([one.sizes[k] for one in counted]) for k in (0, 1)]
    return Layout(merged[0], merged[1], bool((np.abs(rows.choice) == 1.0).all()))


def _is_merged(sizes: list[Sizes]) -> bool:
    return is_worth_merging(sum(one.n_cells for one in sizes), sum(one.n_rows for one in sizes))


def _check_weights(counted: list[Counted]) -> None:
    """Weights that are whole in some shards only would be read in two ways."""
    if any(len({one.whole[k] for one in counted if one.sizes[k].n_rows}) > 1 for k in (0, 1)):
        raise SettingError(
            "some votes have weights that are no whole numbers, and some shards have none of them",
            expected="whole weights, or fractions throughout",
            remedy="fit with collect=True, if this machine can hold the votes",
        )


def survey_everybody(cluster: Cluster, model: Model) -> Everybody:
    """What all shards are together for a model."""
    with Shards(cluster, partial(_Surveyed, str(cluster.sharded.folder), model)) as shards:
        return unite(shards.ask("survey"), model, len(cluster.sharded.items))


class _Surveyed:
    def __init__(self, folder: str, model: Model, shard: int) -> None:
        self._problem = shard_problem(model, folder, shard, ALL_VOTES)

    def survey(self) -> Survey:
        return survey(self._problem)
