"""A path by `flow` on a cluster: the driver makes the steps, the rooms of the shards watch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from prefpath.distributed.crowd import ClusterCrowd, driver_problem
from prefpath.distributed.everybody import path_of_everybody
from prefpath.distributed.room_part import RoomRecipe
from prefpath.distributed.rooms import ClusterRooms
from prefpath.distributed.settings import ALL_VOTES, FoldOf, Model
from prefpath.distributed.shards import ShardedVotes
from prefpath.path import Path
from prefpath.solver.executors import MOST_SHARDS, make_executor
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
    n_threads: int | None = 1,
) -> ClusterPath:
    """Open the rooms of a path (or of a fold's), and stand at its beginning."""
    recipe = RoomRecipe(str(sharded.folder), model, fold, criterion)
    rooms = ClusterRooms(client, sharded, recipe)
    problem = driver_problem(model, sharded.items, rooms.everybody)
    crowd = ClusterCrowd(problem, make_executor(n_threads, MOST_SHARDS), rooms)
    solver = FlowSolver(problem, tolerance=tolerance, recorder=recorder, crowd=crowd)
    return ClusterPath(solver, crowd, rooms)


def solve_flow_on(
    client: Client,
    sharded: ShardedVotes,
    model: Model,
    grid: Grid,
    *,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> Path:
    """The path of sharded votes at the times of a grid."""
    under_way = begin_path(client, sharded, model, n_threads=n_threads)
    try:
        follow_grid(under_way.solver, grid, progress)
        return under_way.path()
    finally:
        under_way.close()
