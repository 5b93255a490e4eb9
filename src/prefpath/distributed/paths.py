"""Fits on a cluster: a path, and a path with its folds side by side."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prefpath.checkpoint import Checkpoint, Place, keeping, slot_in
from prefpath.checkpoint.files import write_arrays
from prefpath.distributed.collected import Cluster, Collected, on_cluster
from prefpath.distributed.flow import ClusterPath, begin_path, solve_flow_on
from prefpath.distributed.lbi import solve_lbi_on
from prefpath.distributed.scorer import ClusterScorer
from prefpath.distributed.settings import FoldOf, Model, fold_file
from prefpath.errors import SettingError
from prefpath.model.design import Floats, Ints
from prefpath.model.losses import as_loss
from prefpath.model.penalties import as_penalty
from prefpath.model.problem import Problem
from prefpath.path import Path
from prefpath.selection.criteria import Criterion, criterion_for
from prefpath.selection.cross_validation import CrossValidation
from prefpath.selection.folds import Fold
from prefpath.selection.following import NOT_KEPT, Follower, Found, Kept
from prefpath.selection.stopping import Stopping
from prefpath.solver.flow import TOLERANCE, FlowSolver
from prefpath.solver.grid import Grid
from prefpath.solver.solve import PATH_SLOT, check_solver
from prefpath.solver.work import Common, Progress
from prefpath.votes.check import check_features

if TYPE_CHECKING:
    from distributed import Client


class HowFollowed(NamedTuple):
    """How a path is followed, as in `fit_path`."""

    solver: str
    common: Common
    step: float | None
    progress: Progress | None


def fit_path_on(
    client: Client | None,
    source: Any,
    model: Mapping[str, Any],
    grid: Grid,
    how: HowFollowed,
    checkpoint: Place | None,
) -> Path:
    """`fit_path` on a cluster; `model` is what `Problem.build` takes."""
    solver, common, step, progress = how
    check_solver(solver, common, step, grid)
    refuse_minimised(common)
    # The checkpoint first: a folder that cannot be written is refused before anything is read.
    with keeping(checkpoint) as keeper, on_cluster(client, source) as cluster:
        known = as_model(model, len(cluster.sharded.items))
        if keeper is not None:
            asked = {"solver": solver, "step": step, **grid.settings(), "model": repr(known)}
            keeper.claim(cluster.sharded.digest(), asked)
        if solver == "lbi":
            return solve_lbi_on(*cluster, known, grid, step=step, progress=progress)
        slot = slot_in(keeper, PATH_SLOT)
        return solve_flow_on(*cluster, known, grid, progress=progress, slot=slot)


def as_model(model: Mapping[str, Any], n_items: int) -> Model:
    """Check the settings of a model for a cluster."""
    features = model["features"]
    return Model(
        **{
            **model,
            "loss": as_loss(model["loss"]),
            "penalty": as_penalty(model["penalty"], has_features=features is not None),
            "features": None if features is None else check_features(features, n_items),
        }
    )


def model_of(problem: Problem) -> Model:
    """The model of a problem on this machine."""
    return Model(
        loss=problem.loss,
        penalty=problem.penalty,
        features=problem.features,
        position_bias=problem.position_bias,
        common_position=problem.common_position,
        kappa=problem.kappa,
        balance=bool((problem.deviation_threshold != 1.0).any()),
        attention=problem.attention,
    )


def refuse_minimised(common: Common) -> None:
    if common == "minimise":
        raise SettingError(
            'common="minimise" on a cluster', remedy='pass common="flow", or fit on one machine'
        )


def begin_fold(
    cluster: Cluster,
    model: Model,
    fold: FoldOf,
    criterion: str,
    tolerance: float = TOLERANCE,
    kept: Kept = NOT_KEPT,
) -> tuple[ClusterPath, ClusterScorer]:
    """The path of a fold, at its beginning or where it was kept, and what its knots cost."""
    scorer = ClusterScorer(cluster.sharded.n_annotators)
    how: dict[str, Any] = {"fold": fold, "criterion": criterion, "tolerance": tolerance}
    return begin_path(*cluster, model, **how, recorder=scorer, kept=kept), scorer


class ClusterPaths:
    """The path and the folds of votes on a cluster."""

    def __init__(
        self, cluster: Cluster, model: Model, folds: Sequence[FoldOf], by: str, tolerance: float
    ) -> None:
        self._cluster, self._model, self._folds, self._by = cluster, model, folds, by
        self._tolerance = tolerance
        self.n_folds = len(folds)
        self.n_annotators = ClusterScorer(cluster.sharded.n_annotators).n_groups
        self._main: ClusterPath | None = None
        self._open: list[ClusterPath] = []

    def main(self, kept: Kept) -> FlowSolver:
        """The path of all votes, at its beginning or where it was kept."""
        self._main = begin_path(*self._cluster, self._model, kept=kept)
        self._open.append(self._main)
        return self._main.solver

    def fold(self, k: int, kept: Kept) -> tuple[FlowSolver, ClusterScorer]:
        """The path of a fold, and what its knots cost."""
        how = self._by, self._tolerance
        under_way, scorer = begin_fold(self._cluster, self._model, self._folds[k], *how, kept)
        self._open.append(under_way)
        return under_way.solver, scorer

    def path(self) -> Path:
        """The path of everybody, as far as it has been followed."""
        assert self._main is not None
        return self._main.path()

    def close(self) -> None:
        for under_way in self._open:
            under_way.close()


def follow_on(
    cluster: Cluster,
    model: Model,
    folds: Sequence[FoldOf],
    grid: Grid,
    *,
    criterion: Criterion = "auto",
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> tuple[Path, CrossValidation]:
    """The path of votes on a cluster, followed until the held-out error has settled.

    Path and folds go on side by side, each in a thread of its own: while one waits for an answer
    of the cluster, another may go on.
    """
    by, rule = criterion_for(criterion, model.loss), Stopping()
    tolerance = rule.tolerance_of_folds(attention=model.attention)
    paths = ClusterPaths(cluster, model, folds, by, tolerance)
    try:
        follower = Follower(paths, grid, rule, checkpoint)
        path, found = follower.follow(len(folds) + 1, progress)
        return path, _as_cross_validation(found, by)
    finally:
        paths.close()


def cross_validate_on(
    cluster: Cluster,
    model: Model,
    folds: Sequence[FoldOf],
    times: Floats,
    *,
    criterion: Criterion = "auto",
) -> CrossValidation:
    """Held-out error of each fold at given times."""
    by = criterion_for(criterion, model.loss)
    errors, wrong = [], []
    for fold in folds:
        under_way, scorer = begin_fold(cluster, model, fold, by)
        try:
            under_way.solver.follow(times)
        finally:
            under_way.close()
        errors.append(scorer.errors)
        wrong.append(scorer.wrong)
    return CrossValidation(times, np.array(errors), by, np.array(wrong))


def _as_cross_validation(found: Found, by: str) -> CrossValidation:
    return CrossValidation(found.times, found.errors, by, found.wrong)


@contextmanager
def sent_folds(collected: Collected, folds: Sequence[Fold]) -> Iterator[list[FoldOf]]:
    """Folds of collected votes for the shards, in files for as long as they are needed."""
    sharded, rows, offsets = collected.cluster.sharded, collected.rows, collected.votes.offsets
    ends = np.concatenate(([0], np.cumsum(sharded.n_rows)))
    with tempfile.TemporaryDirectory(
        prefix="folds-", dir=sharded.folder, ignore_cleanup_errors=True
    ) as folder:
        for k, fold in enumerate(folds):
            columns = _fold_columns(fold, rows, offsets)
            for shard in range(len(sharded)):
                part = {name: own[ends[shard] : ends[shard + 1]] for name, own in columns.items()}
                write_arrays(fold_file(FilePath(folder), k, shard), part)
        yield [FoldOf(len(folds), 0, k, folder) for k in range(len(folds))]


def _fold_columns(fold: Fold, rows: Ints, offsets: Ints) -> dict[str, Floats]:
    """A fold by the rows of the shards; whom annotators stand for is nothing where all do."""
    columns = {"train": fold.train, "test": fold.test}
    if fold.stands_for is not None:
        columns["stands_for"] = np.repeat(fold.stands_for, np.diff(offsets))
    place = np.empty(len(rows), dtype=np.int64)
    place[rows] = np.arange(len(rows))
    return {"stands_for": np.zeros(0)} | {name: part[place] for name, part in columns.items()}


def follow_folds(
    cluster: Cluster,
    model: Model,
    folds: Sequence[FoldOf],
    grid: Grid,
    *,
    criterion: Criterion = "auto",
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> tuple[Path, CrossValidation | None]:
    """Path and held-out errors, by the grid: until these have settled, or at given times."""
    if folds and grid.is_open:
        how: dict[str, Any] = {"progress": progress, "checkpoint": checkpoint}
        return follow_on(cluster, model, folds, grid, criterion=criterion, **how)
    slot = slot_in(checkpoint, PATH_SLOT)
    path = solve_flow_on(*cluster, model, grid, progress=progress, slot=slot)
    if not folds:
        return path, None
    return path, cross_validate_on(cluster, model, folds, path.times, criterion=criterion)


def follow_collected(
    collected: Collected,
    model: Model,
    folds: Sequence[Fold],
    grid: Grid,
    **how: Any,
) -> tuple[Path, CrossValidation | None]:
    """The same of votes that are on this machine, too, with the folds of this machine."""
    cluster = collected.cluster
    if not folds:
        return follow_folds(cluster, model, [], grid, **how)
    with sent_folds(collected, folds) as sent:
        return follow_folds(cluster, model, sent, grid, **how)
