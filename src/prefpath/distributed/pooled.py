"""Everybody's votes by pair of items, from what each shard counted: the driver's pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from prefpath.distributed.settings import Model, Totals
from prefpath.model.attention import PooledVotes, fit_pooled
from prefpath.model.design import Design, Floats, Ints
from prefpath.model.pool_index import PoolIndex, cell_keys, index_of_keys
from prefpath.model.problem import Problem
from prefpath.pairs.keys import number_keys


class Survey(NamedTuple):
    """What the driver learns of a shard before a path begins.

    Pairs are keys of `model.pool_index`; `pull` is the sum of weight times choice, from the
    first item's side. Widths are of the widest annotator: coefficients, and items seen.
    """

    weight: float
    activity: float
    n_present: int
    n_voted: int
    busiest: float
    largest_activity: float
    largest_choice: float
    n_cells: int
    widths: tuple[int, int]
    key: Ints
    pair_weight: Floats
    pull: Floats


def survey(problem: Problem) -> Survey:
    """Count the votes of a shard's problem."""
    design, target = problem.design, problem.target
    n_items = problem.votes.n_items
    key = cell_keys(design, n_items, with_sides=problem.common_position)
    distinct, pair_of = number_keys(key, 3 * n_items * n_items)
    common = problem.common_target.weight
    ahead = np.where(design.left_at < design.right_at, common, -common)
    by_annotator = np.add.reduceat(np.append(target.weight, 0.0), design.cells[:-1])
    by_annotator[np.diff(design.cells) == 0] = 0.0
    activity = problem.votes.annotator_weight
    return Survey(
        weight=problem.total_weight,
        activity=float(activity.sum()),
        n_present=int(np.count_nonzero(activity)),
        n_voted=int(np.count_nonzero(by_annotator)),
        busiest=float(by_annotator.max(initial=0.0)),
        largest_activity=float(activity.max(initial=0.0)),
        largest_choice=float(np.abs(target.choice).max(initial=0.0)),
        n_cells=len(target.weight),
        widths=(
            int(np.diff(design.blocks).max(initial=1)),
            int(np.diff(design.seen).max(initial=1)),
        ),
        key=distinct,
        pair_weight=np.bincount(pair_of, common, len(distinct)).astype(float),
        pull=np.bincount(pair_of, ahead * target.choice, len(distinct)).astype(float),
    )


class Everybody(NamedTuple):
    """All shards together."""

    totals: Totals
    n_voted: int
    largest_share: float
    largest_threshold: float
    largest_choice: float
    n_cells: int
    widths: tuple[int, int]
    key: Ints
    pairs: PoolIndex
    weight: Floats
    choice: Floats


def unite(surveys: Sequence[Survey], model: Model, n_items: int) -> Everybody:
    """Add up what the shards counted, in their order."""
    key = np.unique(np.concatenate([one.key for one in surveys]))
    weight, pull = np.zeros(len(key)), np.zeros(len(key))
    for one in surveys:
        place = np.searchsorted(key, one.key)
        weight[place] += one.pair_weight
        pull[place] += one.pull
    choice = np.divide(pull, weight, out=np.zeros_like(pull), where=weight > 0)
    pairs = index_of_keys(key, n_items)
    total = float(sum(one.weight for one in surveys))
    mean = sum(one.activity for one in surveys) / max(1, sum(one.n_present for one in surveys))
    scale = 1.0
    if model.attention:
        scale = fit_pooled(PooledVotes(pairs, weight, choice), model.loss, n_items, model.features)[
            1
        ]
    busiest = max(one.largest_activity for one in surveys)
    n_cells = sum(one.n_cells for one in surveys)
    return Everybody(
        totals=Totals(total, mean, scale, n_cells),
        n_voted=sum(one.n_voted for one in surveys),
        largest_share=max(one.busiest for one in surveys) / total,
        largest_threshold=float(np.sqrt(busiest / mean)) if model.balance else 1.0,
        largest_choice=max(one.largest_choice for one in surveys),
        n_cells=n_cells,
        widths=(max(one.widths[0] for one in surveys), max(one.widths[1] for one in surveys)),
        key=key,
        pairs=pairs,
        weight=weight,
        choice=choice,
    )


def pairs_of_cells(design: Design, everybody: Everybody, n_items: int, with_sides: bool) -> Ints:
    """Which of everybody's pairs each cell is."""
    return np.searchsorted(everybody.key, cell_keys(design, n_items, with_sides=with_sides))
