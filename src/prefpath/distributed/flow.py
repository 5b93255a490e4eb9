"""A path by `flow` on a cluster: the driver makes the steps, the rooms of the shards watch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from prefpath.checkpoint import Slot
from prefpath.distributed.crowd import ClusterCrowd, driver_problem
from prefpath.distributed.everybody import path_of_everybody
from prefpath.distributed.room_part import RoomRecipe
from prefpath.distributed.rooms import ClusterRooms
from prefpath.distributed.scorer import ClusterScorer
from prefpath.distributed.settings import ALL_VOTES, FoldOf, Model
from prefpath.distributed.shards import ShardedVotes
from prefpath.path import Path
from prefpath.selection.following import NOT_KEPT, Kept
from prefpath.solver.executors import Serial
from prefpath.solver.flow import TOLERANCE, FlowSolver, follow_grid
from prefpath.solver.grid import Grid
from prefpath.solver.recorder import FlowRecorder, Recorder
from prefpath.solver.work import Progress

if TYPE_CHECKING:
    from distributed import Client


class ClusterPath(NamedTuple):
    """A path under way whose waiting annotators are on a cluster."""

    solver: FlowSolver
    crowd: ClusterCrowd
    rooms: ClusterRooms

    def path(self) -> Path:
        """The path as far as it has been followed, of everybody in the order of their labels."""
        recorder = self.solver.recorder
        assert isinstance(recorder, FlowRecorder)
        local = self.solver.path()
        return path_of_everybody(local, recorder, self.crowd, self.rooms.rosters())

    def close(self) -> None:
        self.solver.__exit__()
        self.rooms.close()


def begin_path(
    client: Client,
    sharded: ShardedVotes,
    model: Model,
    *,
    fold: FoldOf = ALL_VOTES,
    criterion: str | None = None,
    tolerance: float = TOLERANCE,
    recorder: Recorder | None = None,
    kept: Kept = NOT_KEPT,
) -> ClusterPath:
    """Open the rooms of a path (or of a fold's), at its beginning or where it was kept."""
    recipe = RoomRecipe(str(sharded.folder), model, fold, criterion)
    rooms = ClusterRooms(client, sharded, recipe)
    try:
        problem = driver_problem(model, sharded.items, rooms.everybody)
        crowd = ClusterCrowd(problem, Serial(), rooms)
        if isinstance(recorder, ClusterScorer):
            recorder.crowd = crowd
        solver = FlowSolver(
            problem,
            tolerance=tolerance,
            recorder=recorder,
            crowd=crowd,
            slot=kept.slot,
            accepts=kept.accepts,
        )
        return ClusterPath(solver, crowd, rooms)
    except BaseException:
        rooms.close()
        raise


def solve_flow_on(
    client: Client,
    sharded: ShardedVotes,
    model: Model,
    grid: Grid,
    *,
    progress: Progress | None = None,
    slot: Slot | None = None,
) -> Path:
    """The path of sharded votes at the times of a grid."""
    under_way = begin_path(client, sharded, model, kept=Kept(slot, None))
    try:
        follow_grid(under_way.solver, grid, progress)
        return under_way.path()
    finally:
        under_way.close()
