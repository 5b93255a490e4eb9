"""The fit of a shard's annotators, on the worker that has their votes.

All that is asked of an annotator beside the common part needs their votes and the fit at one
time: each shard gets the common part, and of the path what its own annotators have around that
time, and makes a `Fitted` of it that the rest of the package reads as any other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from prefpath.distributed.numbering import Numbering
from prefpath.distributed.questions import Shards
from prefpath.distributed.remote import Layout
from prefpath.distributed.settings import ALL_VOTES, Model, Totals, of_everybody, shard_problem
from prefpath.fitted.fitted import Fitted
from prefpath.model.design import Floats, Ints
from prefpath.model.problem import Problem
from prefpath.path import Knot, Path
from prefpath.votes.encode import BoolArray, CodeArray
from prefpath.votes.remote import RemoteVotes, pool_rows

_KINDS = ("bias", "attention")  # of scalars


class Piece(NamedTuple):
    """What a shard is told of a fit: the path around its time, of the shard's annotators alone."""

    path: Path
    t: float
    component: CodeArray
    seed: int | None


def shards_of(fitted: Fitted, make: Callable[[Fitted], Any]) -> Shards:
    """Of each shard the value that `make` makes of the fit of its annotators."""
    where = fitted.remote
    assert where is not None
    folder = str(where.cluster.sharded.folder)
    told_all = where.totals, where.layout
    shards = Shards(where.cluster, partial(_OfFit, folder, where.model, told_all, make))
    paths = paths_of_shards(fitted.path, fitted.t, where.numbering)
    told = [(Piece(path, fitted.t, fitted.component, fitted.seed),) for path in paths]
    shards.tell("begin", told)
    return shards


def pooled_votes_of(fitted: Fitted, who: BoolArray) -> RemoteVotes:
    """The votes of some annotators, pooled by the shards; totals stay those of all."""
    where, votes = fitted.remote, fitted.votes
    assert where is not None and isinstance(votes, RemoteVotes)
    with where.shards() as shards:
        rows = shards.ask_each("rows_of", [(own,) for own in where.numbering.split(who)])
    return replace(votes, **vars(pool_rows(rows, votes.n_items)))


class _OfFit:
    """What `make` makes of a shard's fit, once it has been told of it."""

    def __init__(
        self,
        folder: str,
        model: Model,
        of_all: tuple[Totals, Layout],
        make: Callable[[Fitted], Any],
        shard: int,
    ) -> None:
        totals, layout = of_all
        problem = shard_problem(model, folder, shard, ALL_VOTES)
        problem = problem.with_cells(merged=layout.merged)
        self._problem = of_everybody(problem, model, totals)
        self._make = make

    def begin(self, piece: Piece) -> None:
        self._made = self._make(_fitted_of(piece, self._problem))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._made, name)


def _fitted_of(piece: Piece, problem: Problem) -> Fitted:
    """The fit of a shard's annotators."""
    never = np.full(problem.votes.n_annotators, np.inf)
    path = replace(
        piece.path,
        annotators=problem.votes.annotators,
        entered=never,
        entered_bias=never,
        entered_attention=never if problem.attention else None,
        blocks=problem.design.blocks,
        seen_item=problem.design.seen_item,
        deviation_threshold=problem.deviation_threshold,
        position_threshold=problem.position_threshold,
        attention_threshold=problem.attention_threshold if problem.attention else None,
    )
    return Fitted(problem, path, piece.t, piece.component, seed=piece.seed, n_threads=1)


def paths_of_shards(path: Path, t: float, numbering: Numbering) -> list[Path]:
    """The path around a time, for each shard with its own annotators' knots alone."""
    nobody: Floats = np.zeros(0)
    near = path.around(t)
    empty = replace(
        near,
        annotators=path.annotators[:0],
        entered=nobody,
        entered_bias=nobody,
        entered_attention=None,
        blocks=np.zeros(1, dtype=np.int64),
        seen_item=path.seen_item[:0],
        deviation_threshold=nobody,
        position_threshold=nobody,
        attention_threshold=None,
    )
    by_knot = [_knots_of_shards(knot, path.blocks, numbering) for knot in near.knots]
    return [replace(empty, knots=own) for own in zip(*by_knot, strict=True)]


def _knots_of_shards(knot: Knot, blocks: Ints, numbering: Numbering) -> list[Knot]:
    """A knot for each shard, annotators by their number in it."""
    width = blocks[knot.who + 1] - blocks[knot.who]
    pieces = np.split(knot.z, np.cumsum(width)[:-1]) if len(width) else []
    nothing: Floats = np.zeros(0)
    found = []
    for shard in range(len(numbering.first) - 1):
        who, at = numbering.within(shard, knot.who)
        parts: dict[str, Any] = {
            "who": who,
            "z": np.concatenate([nothing, *(pieces[k] for k in at)]),
        }
        for kind in _KINDS:
            own, at = numbering.within(shard, getattr(knot, f"who_{kind}"))
            parts |= {f"who_{kind}": own, f"z_{kind}": getattr(knot, f"z_{kind}")[at]}
        found.append(Knot(**parts))
    return found
