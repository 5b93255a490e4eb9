"""A path of everybody from what the driver has, which is a path of those who became active."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from prefpath.distributed.crowd import ClusterCrowd
from prefpath.distributed.iteration_part import Finished
from prefpath.distributed.room_part import Roster
from prefpath.distributed.shards import label_order
from prefpath.model.design import Codes, Floats, Ints
from prefpath.path import Knot, Path
from prefpath.solver.arguments import ATTENTION, DEVIATION, POSITION
from prefpath.solver.recorder import FlowRecorder


def path_of_everybody(
    local: Path, recorder: FlowRecorder, crowd: ClusterCrowd, rosters: Sequence[Roster]
) -> Path:
    """Annotators in the order of their labels; who never became active has no coefficients."""
    labels = np.concatenate([roster.labels for roster in rosters])
    order = label_order(labels)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    numbers = place[crowd.numbers]
    threshold = np.concatenate([roster.threshold for roster in rosters])[order]
    blocks, seen_item = _blocks(crowd, numbers, len(order))
    attention = local.entered_attention
    return replace(
        local,
        annotators=labels[order],
        knots=tuple(recorder.knots(numbers)),
        entered=_spread(local.entered, numbers, len(order)),
        entered_bias=_spread(local.entered_bias, numbers, len(order)),
        blocks=blocks,
        seen_item=seen_item,
        deviation_threshold=threshold[:, DEVIATION],
        position_threshold=threshold[:, POSITION],
        attention_threshold=None if attention is None else threshold[:, ATTENTION],
        entered_attention=None if attention is None else _spread(attention, numbers, len(order)),
    )


def in_label_order(
    empty: Path, shards: Sequence[Finished], entered: Floats, rosters: Sequence[Roster]
) -> Path:
    """A path from the knots of all shards; `empty` is one of nobody, with the common part."""
    labels = np.concatenate([roster.labels for roster in rosters])
    order = label_order(labels)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    first = np.concatenate(([0], np.cumsum([len(roster.labels) for roster in rosters])))
    threshold = np.concatenate([roster.threshold for roster in rosters])[order]
    blocks, seen_item = _blocks_of_shards(shards, order, empty.features)
    n_knots = len(shards[0].knots)
    return replace(
        empty,
        annotators=labels[order],
        knots=tuple(
            _united([one.knots[k] for one in shards], shards, first, place) for k in range(n_knots)
        ),
        entered=entered[order, DEVIATION],
        entered_bias=entered[order, POSITION],
        blocks=blocks,
        seen_item=seen_item,
        deviation_threshold=threshold[:, DEVIATION],
        position_threshold=threshold[:, POSITION],
    )


def _united(knots: Sequence[Knot], shards: Sequence[Finished], first: Ints, place: Ints) -> Knot:
    """One knot of all shards, annotators by their place in the order of labels."""
    who = np.concatenate([place[first[s] + knot.who] for s, knot in enumerate(knots)])
    blocks = [
        block
        for knot, shard in zip(knots, shards, strict=True)
        for block in np.split(knot.z, np.cumsum(np.diff(shard.blocks)[knot.who])[:-1])
        if len(knot.who)
    ]
    order = np.argsort(who)
    z = np.concatenate([np.zeros(0), *(blocks[k] for k in order)])
    leans = np.concatenate([place[first[s] + knot.who_bias] for s, knot in enumerate(knots)])
    bias = np.concatenate([knot.z_bias for knot in knots])
    by_place = np.argsort(leans)
    return Knot(who[order], z, leans[by_place], bias[by_place])


def _blocks_of_shards(
    shards: Sequence[Finished], order: Ints, features: Floats | None
) -> tuple[Ints, Codes]:
    """Where the coefficients of each annotator are in the order of labels, and of which items."""
    pieces = [piece for one in shards for piece in np.split(one.seen_item, one.seen[1:-1])]
    items: NDArray[np.int32] = np.concatenate([np.zeros(0, np.int32), *(pieces[k] for k in order)])
    if features is not None:
        return np.arange(len(order) + 1, dtype=np.int64) * features.shape[1], items
    width = np.array([len(pieces[k]) for k in order])
    return np.concatenate(([0], np.cumsum(width))), items


def _spread(values: Floats, numbers: Ints, n: int) -> Floats:
    result = np.full(n, np.inf)
    result[numbers] = values
    return result


def _blocks(crowd: ClusterCrowd, numbers: Ints, n: int) -> tuple[Ints, Codes]:
    """Where the coefficients of each annotator are, and of which items."""
    design, features = crowd.inputs.design, crowd.problem.features
    width = np.zeros(n, dtype=np.int64)
    width[numbers] = np.diff(design.seen)
    order = np.argsort(numbers)
    pieces = [design.seen_item[design.seen[u] : design.seen[u + 1]] for u in order]
    items: NDArray[np.int32] = np.concatenate([np.zeros(0, dtype=np.int32), *pieces])
    if features is not None:
        return np.arange(n + 1, dtype=np.int64) * features.shape[1], items
    return np.concatenate(([0], np.cumsum(width))), items
