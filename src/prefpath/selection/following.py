"""A path and its folds, followed side by side until the held-out error has settled."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from prefpath.checkpoint import Checkpoint, Slot, slot_in
from prefpath.checkpoint.files import Arrays
from prefpath.errors import VoteWarning
from prefpath.model.design import Floats
from prefpath.model.problem import Problem
from prefpath.path import Path
from prefpath.selection.folds import Fold
from prefpath.selection.held_out import KnotScorer
from prefpath.selection.stopping import Costs, RiseWatch, Stopping, WatchState, stands_still
from prefpath.solver.executors import Executor, Serial, Threads
from prefpath.solver.flow import Accepts, FlowSolver
from prefpath.solver.grid import Grid
from prefpath.solver.solve import PATH_SLOT
from prefpath.solver.state import FlowState, as_arrays, from_arrays
from prefpath.solver.work import Common, Progress


class Kept(NamedTuple):
    """Where a path is kept on its way, and which of what was kept it may go on from."""

    slot: Slot | None
    accepts: Accepts | None


NOT_KEPT = Kept(None, None)


class Paths(Protocol):
    """Makes a path and its folds: on this machine, or on a cluster."""

    n_folds: int
    n_annotators: int

    def main(self, kept: Kept) -> FlowSolver: ...

    def fold(self, k: int, kept: Kept) -> tuple[FlowSolver, Costs]: ...

    def path(self) -> Path: ...


class OneMachine:
    """The path and the folds of a problem, all on this machine."""

    def __init__(
        self,
        problem: Problem,
        folds: Sequence[Fold],
        criterion: str,
        common: Common,
        fold_tolerance: float,
    ) -> None:
        self._problem, self._folds, self._criterion = problem, folds, criterion
        self._common, self._tolerance = common, fold_tolerance
        self.n_folds, self.n_annotators = len(folds), problem.votes.n_annotators

    def main(self, kept: Kept) -> FlowSolver:
        """The path of all votes, at its beginning or where it was kept."""
        self._main = FlowSolver(
            self._problem, common=self._common, n_threads=1, slot=kept.slot, accepts=kept.accepts
        )
        return self._main

    def fold(self, k: int, kept: Kept) -> tuple[FlowSolver, KnotScorer]:
        """The path of a fold, and what its knots cost."""
        trained = self._problem.with_weight(self._folds[k].train, self._folds[k].stands_for)
        scorer = KnotScorer(trained, self._folds[k].test, self._criterion)
        solver = FlowSolver(
            trained,
            common=self._common,
            tolerance=self._tolerance,
            n_threads=1,
            recorder=scorer,
            slot=kept.slot,
            accepts=kept.accepts,
        )
        return solver, scorer

    def path(self) -> Path:
        """The path as far as it has been followed."""
        return self._main.path()


class Found(NamedTuple):
    """Held-out errors at some times, a row for each fold."""

    times: Floats
    errors: Floats
    wrong: Floats


class FollowState(NamedTuple):
    """What was decided of a path and its folds after the knots that the watch has seen."""

    settled: int
    watch: WatchState


class Follower:
    """A path and the paths of its folds under way, side by side.

    What is kept of the watch is never older than what is kept of a path: its slot comes first.
    """

    def __init__(
        self, paths: Paths, grid: Grid, stopping: Stopping, checkpoint: Checkpoint | None
    ) -> None:
        self.paths, self.grid, self.stopping = paths, grid, stopping
        self.watch, self.settled = RiseWatch(paths.n_annotators), False
        self._slot = slot_in(checkpoint, "folds")
        self._restore()
        main = Kept(slot_in(checkpoint, PATH_SLOT), self._accepts_path)
        self.main = paths.main(main)
        folds = [
            paths.fold(k, Kept(slot_in(checkpoint, fold_slot(k)), self._accepts_fold))
            for k in range(paths.n_folds)
        ]
        self.others = [solver for solver, _ in folds]
        self.scorers = [scorer for _, scorer in folds]
        self._told, self._n_told, self._first = threading.Lock(), 0, 0.0

    def follow(self, n_threads: int, progress: Progress | None) -> tuple[Path, Found]:
        """Go on until the error has settled."""
        first = self._first = self.main.first_entry()
        with Threads(n_threads) if n_threads > 1 else Serial() as executor:
            while True:
                self._go_on(self._times(first), executor, progress)
                if self.settled:
                    return self.paths.path(), self.found()

    def _times(self, first: float) -> Floats:
        """All knots up to the next decision; up to the last one, if that was to stop."""
        times = np.append(first, self.grid.further(first, self.stopping.first_ratio))
        needed = self.watch.n_seen + int(not self.settled)
        while len(times) < needed:
            stretch = self.grid.further(float(times[-1]), self.stopping.stretch_ratio)
            times = np.append(times, stretch)
        return times

    def _go_on(self, times: Floats, executor: Executor, progress: Progress | None) -> None:
        solvers = [self.main, *self.others]

        def tell(_: float, __: int) -> None:
            self._tell(progress)

        def one(k: int) -> None:
            solvers[k].follow(times, None if progress is None else tell)

        executor.map(one, range(len(solvers)))
        if not self.settled:
            self._decide()

    def _decide(self) -> None:
        """Compare the new knots, and see whether they are the last."""
        if self._slot is not None:
            self._slot.begin()
        self.watch.see(self.scorers, self.stopping.sure)
        self.settled = self._is_settled(self.found(), self._first) or self._takes_too_long()
        if self._slot is not None:
            self._slot.end(lambda: as_arrays(FollowState(int(self.settled), self.watch.state())))

    def _restore(self) -> None:
        kept = None if self._slot is None else self._slot.load(_is_follow_state)
        if kept is not None:
            state = from_arrays(FollowState, kept)
            self.settled = bool(state.settled)
            self.watch.restore(state.watch)

    def _accepts_path(self, state: FlowState) -> bool:
        """Whether a path kept has not passed the next decision, which is not made yet."""
        driver = state.driver
        return bool(np.isnan(driver.begins)) or driver.last.start < self._times(driver.begins)[-1]

    def _accepts_fold(self, state: FlowState) -> bool:
        """Whether a fold kept has forgotten no costs that the watch has not seen.

        Nor may it have passed the next decision, which is not made yet.
        """
        times, costs = state.recorded["times"], state.recorded["costs"]
        if len(times) - len(costs) > self.watch.n_seen:
            return False
        return not len(times) or len(times) <= len(self._times(float(times[0])))

    def _tell(self, progress: Progress | None) -> None:
        """Say how far path and folds are together: folds go on while the path waits for them."""
        with self._told:
            self._n_told += 1
            knots = self._n_told / (1 + len(self.others)) - 1.0
            if progress is not None:
                n_active = len(self.main.crowd.active.who)
                progress(self._first * self.grid.spacing ** max(0.0, knots), n_active)

    def found(self) -> Found:
        """The held-out errors so far."""
        errors = np.array([scorer.errors for scorer in self.scorers])
        wrong = np.array([scorer.wrong for scorer in self.scorers])
        return Found(np.array(self.scorers[0].times), errors, wrong)

    def _is_settled(self, found: Found, first: float) -> bool:
        rule, last, mean = self.stopping, float(found.times[-1]), found.errors.mean(axis=0)
        entered = self.main.share_entered
        if last >= rule.last_ratio * first or entered == 0.0:  # nobody in time: one ranking
            return True
        if self.watch.n_sure >= min(3, self.grid.knots_within(rule.stretch_ratio)):
            return entered >= rule.entered
        if last >= max(
            rule.settled_ratio * found.times[np.argmin(mean)], rule.settled_from * first
        ):
            return entered >= rule.entered
        return entered == 1.0 and stands_still(found.times, mean, rule.standstill)

    def _takes_too_long(self) -> bool:
        """Whether to end all the same: steps may shrink while time goes on."""
        n_evaluations = self.main.work.evaluations
        if n_evaluations <= self.stopping.most_evaluations:
            return False
        warnings.warn(
            f"the path has taken {n_evaluations:,} evaluations and ends before its held-out error "
            "has settled; --t-ratio (t_ratio) says how far to go instead",
            VoteWarning,
            stacklevel=2,
        )
        return True


def fold_slot(k: int) -> str:
    """Where a checkpoint keeps the path of fold k."""
    return f"fold-{k + 1}"


def _is_follow_state(arrays: Arrays) -> bool:
    return from_arrays(FollowState, arrays).watch.n_seen > 0
