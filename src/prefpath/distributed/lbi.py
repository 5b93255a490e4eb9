"""LBI on a cluster: SynPar-LBI, the paper's Algorithm 2, over processes.

One round an iteration; partial gradients are summed in shard order. It is the reference on a
cluster as it is on one machine, not the way to be fast.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh_tridiagonal

from prefpath.distributed.crowd import driver_problem
from prefpath.distributed.everybody import in_label_order
from prefpath.distributed.fleet import Fleet
from prefpath.distributed.iteration_part import (
    Apply,
    BeginLanczos,
    Finish,
    Finished,
    IterationRecipe,
    Pull,
    Record,
    Reduce,
    Restart,
    Step,
)
from prefpath.distributed.pooled import unite
from prefpath.distributed.room_part import AskRoster, AskSurvey, Begin
from prefpath.distributed.settings import Model
from prefpath.distributed.shards import ShardedVotes
from prefpath.errors import SettingError
from prefpath.model.design import Floats
from prefpath.path import Path
from prefpath.solver.arguments import CommonPart, inputs_of
from prefpath.solver.grid import Grid, give_up_after, say_nobody_enters
from prefpath.solver.iteration import move_common
from prefpath.solver.recorder import Solved, build_path, until
from prefpath.solver.work import Progress

if TYPE_CHECKING:
    from distributed import Client

_TOLERANCE, _MOST_IMAGES = 1e-9, 500


def solve_lbi_on(
    client: Client,
    sharded: ShardedVotes,
    model: Model,
    grid: Grid,
    *,
    step: float | None = None,
    progress: Progress | None = None,
) -> Path:
    """The path of sharded votes at the times of a grid, by LBI."""
    if model.attention:
        raise SettingError(
            'attention with solver "lbi" on a cluster',
            remedy='pass solver="flow", or attention=False',
        )
    iteration = ClusterIteration(client, sharded, model, step)
    try:
        return iteration.path(grid, progress)
    finally:
        iteration.fleet.close()


class ClusterIteration:
    """The iteration, whose annotators are on a cluster."""

    def __init__(
        self, client: Client, sharded: ShardedVotes, model: Model, step: float | None
    ) -> None:
        recipe = IterationRecipe(str(sharded.folder), model)
        self.fleet = Fleet(client, len(sharded), recipe, self._story)
        self._calls: list[Any] = []
        try:
            self._begin(sharded, model, step)
        except BaseException:
            self.fleet.close()
            raise

    def _begin(self, sharded: ShardedVotes, model: Model, step: float | None) -> None:
        self.everybody = unite(self.fleet.ask(AskSurvey()), model, len(sharded.items))
        self._ask(Begin(self.everybody.totals))
        self.problem = driver_problem(model, sharded.items, self.everybody)
        self.inputs = inputs_of(self.problem)
        self.n_common = self.problem.n_common + int(self.problem.common_position)
        self.step = self._checked(step)
        self._restart()

    def path(self, grid: Grid, progress: Progress | None = None) -> Path:
        """The path at the times of a grid."""
        times = grid.times if grid.times is not None else grid.from_first(self._first_entry())
        self._restart()
        before: tuple[Floats, float] | None = None
        for t in times:
            if before is None or t > self.time:
                for _ in range(int((t - self.time) / self.step)):
                    self._iterate()
                before = self.common.copy(), self.time
                self._iterate(keep=True)
            share = (t - before[1]) / self.step
            common = before[0] + share * (self.common - before[0])
            n_active = self._ask(Record(float(t), common, share))
            self._recorded.append((float(t), common))
            if progress is not None:
                progress(float(t), sum(n_active))
        return self._finished(float(times[-1]))

    @property
    def time(self) -> float:
        return self._iterations * self.step

    def _restart(self) -> None:
        # What came before has left nothing behind but the settings.
        self._calls = self._calls[:1]
        self._ask(Restart())
        self.common = np.zeros(self.n_common)
        self._iterations, self._first = 0, np.inf
        self._recorded: list[tuple[float, Floats]] = []

    def _first_entry(self) -> float:
        latest = give_up_after(self.everybody.largest_share, self.everybody.largest_threshold)
        while not np.isfinite(self._first):
            if self.time > latest:
                say_nobody_enters()
                return latest
            self._iterate()
        return self._first

    def _iterate(self, *, keep: bool = False) -> None:
        shared = self._common_part(self.common)
        pulls = self._ask(Step(shared, self.time, self.step, keep))
        move = -self.problem.kappa * self.step / self.problem.total_weight
        items, position = _added_up(pulls)
        move_common(self.common, items, position, self.inputs, move)
        self._iterations += 1
        self._first = min(pull.more for pull in pulls)

    def _common_part(self, common: Floats) -> CommonPart:
        scores = self.problem.scores(common[: self.problem.n_common])
        position = float(common[-1]) if self.problem.common_position else 0.0
        return CommonPart(np.array(scores), position)

    def _finished(self, last: float) -> Path:
        solved = Solved("lbi", self.step, self._iterations, np.zeros((0, 2)))
        found: list[Finished] = self._ask(Finish(solved))
        rosters = self._ask(AskRoster())
        times, common = map(list, zip(*self._recorded, strict=True))
        empty = build_path(self.problem, times, common, [], solved)
        entered = until(np.concatenate([one.entered for one in found]), last)
        return in_label_order(empty, found, entered, rosters)

    # ---------------------------------------------------------------- the step

    def _checked(self, step: float | None) -> float:
        default = self.problem.total_weight / (self.problem.kappa * self._norm_squared())
        curvature = self.problem.loss.max_curvature
        if step is None:
            return default / max(1.0, curvature)
        if not 0.0 < step < 2.0 * default / curvature:
            raise SettingError(
                f"step is {step:g}, with which the iteration is not stable",
                expected=f"a step above 0 and below {2.0 * default / curvature:.4g}",
                remedy=f"leave it out for {default:.4g}",
            )
        return float(step)

    def _norm_squared(self) -> float:
        """`||[d Phi, X]||^2` by Lanczos, whose vectors stay where the votes are."""
        vector = np.random.default_rng(0).standard_normal(self.n_common)
        length = float(np.sqrt(vector @ vector + sum(self._ask(BeginLanczos()))))
        older, image = np.zeros(self.n_common), vector
        vector = np.zeros(self.n_common)
        diagonal: list[float] = []
        beside: list[float] = []
        # The drawn vector is divided by its length as the first image.
        for _ in range(_MOST_IMAGES):
            older, vector = vector, image / length
            image, along = self._apply(vector, length if diagonal else -length)
            diagonal.append(along)
            before = beside[-1] if beside else 0.0
            image = image - along * vector - before * older
            left = image @ image + sum(self._ask(Reduce(along, before)))
            length = float(np.sqrt(left))
            value, done = _largest(diagonal, beside, length)
            if done:
                break
            beside.append(length)
        return value

    def _apply(self, vector: Floats, length: float) -> tuple[Floats, float]:
        pulls = self._ask(Apply(self._common_part(vector), length))
        items, position = _added_up(pulls)
        image = self.problem.pull_back(items)
        if self.problem.common_position:
            image = np.append(image, position)
        return image, float(vector @ image + sum(pull.more for pull in pulls))

    # ---------------------------------------------------------------- rounds

    def _ask(self, call: Any) -> list[Any]:
        answers = self.fleet.ask(call)
        self._calls.append(call)
        return answers

    def _story(self, _: int) -> Sequence[Any]:
        return self._calls


def _largest(diagonal: list[float], beside: list[float], remainder: float) -> tuple[float, bool]:
    """The largest Ritz value, and whether it is as good as an eigenvalue."""
    top = len(diagonal) - 1
    value, ritz = eigh_tridiagonal(
        np.array(diagonal), np.array(beside), select="i", select_range=(top, top)
    )
    small = remainder * abs(ritz[-1, 0]) <= np.sqrt(_TOLERANCE) * value[0] * 1e-2
    return float(value[0]), bool(small)


def _added_up(pulls: Sequence[Pull]) -> tuple[Floats, float]:
    """The sum of the shards' gradients, in their order."""
    items = np.zeros_like(pulls[0].items)
    for pull in pulls:
        items += pull.items
    return items, sum(pull.position for pull in pulls)
