"""What a fit on a cluster is: the model, and which votes of a shard it learns from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from prefpath.checkpoint.files import read_arrays
from prefpath.distributed.labels import unpack_labels
from prefpath.distributed.shards import ITEMS, read_shard
from prefpath.errors import SettingError
from prefpath.model.attention import RELATIVE_THRESHOLD, PooledFit
from prefpath.model.design import Floats
from prefpath.model.losses import Loss
from prefpath.model.penalties import Penalty
from prefpath.model.problem import Problem
from prefpath.selection.folds import Fold
from prefpath.selection.sampling import Sampling
from prefpath.votes import Votes

# Shards a worker keeps in memory: path and folds of a fit read the same ones.
_SHARDS_KEPT = 64


@dataclass(frozen=True, eq=False)
class Model:
    """The model, as `Problem.build` takes it; `features` are of all items."""

    loss: Loss
    penalty: Penalty
    features: Floats | None = None
    position_bias: bool = True
    common_position: bool = False
    kappa: float = 20.0
    balance: bool = False
    attention: bool = False

    def __post_init__(self) -> None:
        if not self.loss.affine_in_choice:
            raise SettingError(
                f"loss {self.loss.name!r} on a cluster",
                expected="linear, bradley-terry or thurstone-mosteller, whose votes pool by pair",
                remedy="fit it on one machine",
            )


class FoldOf(NamedTuple):
    """Fold `number` of `n_folds`; -1 learns from all votes.

    Drawn in each shard from the seed, or, with a folder, as somebody has drawn and sent it;
    `sampling` draws whom of the shard it follows.
    """

    n_folds: int
    seed: int
    number: int
    folder: str | None = None
    sampling: Sampling | None = None


ALL_VOTES = FoldOf(1, 0, -1)


class Totals(NamedTuple):
    """What a shard must know of all others."""

    weight: float
    mean_activity: float
    attention_scale: float
    n_cells: int


@lru_cache(maxsize=_SHARDS_KEPT)
def shard_votes_in_memory(folder: str, shard: int) -> Votes:
    """The votes of a shard; kept while path and folds of a fit need them."""
    items = unpack_labels(read_arrays(Path(folder) / ITEMS), "items")
    return read_shard(Path(folder), shard, items)


def shard_problem(model: Model, folder: str, shard: int, fold: FoldOf) -> Problem:
    """The problem of a shard by itself: thresholds and total weight are not yet everybody's."""
    votes = shard_votes_in_memory(folder, shard)
    problem = Problem.build(
        votes,
        loss=model.loss,
        penalty=model.penalty,
        features=model.features,
        position_bias=model.position_bias,
        common_position=model.common_position,
        kappa=model.kappa,
        attention=model.attention,
    )
    if fold.number < 0:
        return problem
    drawn = fold_of_shard(votes, shard, fold)
    return problem.with_weight(drawn.train, drawn.stands_for)


def of_everybody(problem: Problem, model: Model, totals: Totals) -> Problem:
    """A shard's problem as a part of everybody's."""
    n = problem.votes.n_annotators
    threshold = np.ones(n)
    if model.balance:
        activity = problem.votes.annotator_weight
        threshold = np.where(activity > 0, np.sqrt(activity / totals.mean_activity), 1.0)
    result = replace(
        problem,
        total_weight=totals.weight,
        deviation_threshold=threshold,
        position_threshold=threshold if model.position_bias else np.full(n, np.inf),
        attention_threshold=RELATIVE_THRESHOLD * threshold,
    )
    # The scale of attention is everybody's, too: no shard may fit its own.
    result.__dict__["pooled_fit"] = PooledFit(np.zeros(0), totals.attention_scale)
    return result


def fold_file(folder: Path, number: int, shard: int) -> Path:
    """Where the weights of a fold are that was drawn elsewhere."""
    return folder / f"fold-{number}-{shard:04d}.npz"


def fold_of_shard(votes: Votes, shard: int, fold: FoldOf) -> Fold:
    """A fold's part of a shard: as it was sent, or as the seed draws it."""
    if fold.folder is not None:
        sent = read_arrays(fold_file(Path(fold.folder), fold.number, shard))
        stands_for = sent["stands_for"][votes.offsets[:-1]] if len(sent["stands_for"]) else None
        return Fold(sent["train"], sent["test"], stands_for)
    test = held_out_weight(votes, shard, fold)
    drawn = Fold(votes.weight - test, test)
    if fold.sampling is None:
        return drawn
    key = np.random.default_rng([fold.seed, shard, 1]).permutation(votes.n_annotators)
    activity = votes.annotator_weight
    stands_for = fold.sampling.stands_for(activity, key.astype(np.uint64), fold.number)
    return drawn.of_sample(stands_for, votes.offsets)


def held_out_weight(votes: Votes, shard: int, fold: FoldOf) -> Floats:
    """What each row weighs in testing: its votes are dealt out to the folds in random order.

    A row of weight 3 is three votes. The draw depends on the seed and the shard, hence on the
    votes and not on the cluster.
    """
    rng = np.random.default_rng([fold.seed, shard])
    pieces = np.clip(np.ceil(votes.weight * (1.0 - 1e-6)), 1, 1_000_000).astype(np.int64)
    row_of_piece = np.repeat(np.arange(votes.n_rows), pieces)
    dealt = np.empty(len(row_of_piece), dtype=np.int64)
    dealt[rng.permutation(len(row_of_piece))] = np.arange(len(row_of_piece)) % fold.n_folds
    out = np.bincount(row_of_piece[dealt == fold.number], minlength=votes.n_rows)
    return votes.weight * (out / pieces)
