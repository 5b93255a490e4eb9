"""Cross-validation of the stopping time: the same times and the same step in every fold."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from prefpath.checkpoint import Checkpoint, slot_in
from prefpath.checkpoint.files import Arrays
from prefpath.errors import SettingError
from prefpath.fit import PATH_SLOT, Solver, solve
from prefpath.model.design import Floats
from prefpath.model.problem import Problem
from prefpath.path import Path
from prefpath.predict import Comparisons, path_margins
from prefpath.selection.criteria import Criterion, criterion_for, log_loss, mismatch_ratio
from prefpath.selection.folds import Fold
from prefpath.selection.held_out import KnotScorer
from prefpath.selection.stopping import RiseWatch, Stopping, WatchState, stands_still
from prefpath.solver.executors import Executor, Serial, Threads, check_threads
from prefpath.solver.flow import FlowSolver
from prefpath.solver.grid import Grid, make_grid
from prefpath.solver.state import FlowState, as_arrays, from_arrays
from prefpath.solver.work import Common, Progress

Rule = Literal["best", "one-standard-error"]


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Held-out errors along a path.

    Attributes
    ----------
    times : array (n_times,)
    errors : array (n_folds, n_times)
        Held-out error of each fold, by the criterion.
    criterion : str
        What t is chosen by: "mismatch" or "log-loss".
    wrong : array (n_folds, n_times)
        Share of held-out votes predicted wrong (the mismatch ratio), whatever the criterion.
    """

    times: Floats
    errors: Floats
    criterion: str
    wrong: Floats

    @property
    def mean(self) -> Floats:
        """Mean error over the folds."""
        result: Floats = self.errors.mean(axis=0)
        return result

    @property
    def mean_wrong(self) -> Floats:
        """Mean share of held-out votes predicted wrong over the folds."""
        result: Floats = self.wrong.mean(axis=0)
        return result

    @property
    def standard_error(self) -> Floats:
        """Standard error of the mean over the folds."""
        n_folds = self.errors.shape[0]
        if n_folds < 2:
            return np.zeros(self.errors.shape[1])
        result: Floats = self.errors.std(axis=0, ddof=1) / np.sqrt(n_folds)
        return result

    @property
    def t_cv(self) -> float:
        """Smallest time with the least mean error."""
        return float(self.times[int(np.argmin(self.mean))])

    @property
    def t_one_standard_error(self) -> float:
        """Smallest time whose mean error is within one standard error of the least."""
        best = int(np.argmin(self.mean))
        within = self.mean <= self.mean[best] + self.standard_error[best]
        return float(self.times[int(np.argmax(within))])

    def choose(self, rule: Rule = "best") -> float:
        """The time a rule picks."""
        if rule not in ("best", "one-standard-error"):
            raise SettingError(f"rule is {rule!r}", expected="best or one-standard-error")
        return self.t_cv if rule == "best" else self.t_one_standard_error


def cross_validate(
    problem: Problem,
    path: Path,
    folds: Sequence[Fold],
    *,
    criterion: Criterion = "auto",
    solver: Solver = "flow",
    common: Common = "flow",
    n_threads: int | None = None,
    progress: Callable[[int], None] | None = None,
    checkpoint: Checkpoint | None = None,
) -> CrossValidation:
    """Held-out error of each fold at the times of `path`, folds side by side in threads."""
    threads = min(check_threads(n_threads), len(folds))
    by = criterion_for(criterion, problem.loss)

    def one_fold(k: int) -> HeldOut:
        fitted = solve(
            problem.with_weight(folds[k].train),
            make_grid(path.times, path.n_times, 2.0),
            solver=solver,
            common=common,
            step=path.step,
            n_threads=1,
            slot=slot_in(checkpoint, fold_slot(k)),
        )
        if progress is not None:
            progress(1)
        return held_out_errors(problem, fitted, folds[k].test, by)

    with Threads(threads) if threads > 1 else Serial() as executor:
        found = executor.map(one_fold, range(len(folds)))
    return _collect(path.times, found, by)


def follow_until_settled(
    problem: Problem,
    folds: Sequence[Fold],
    grid: Grid,
    *,
    criterion: Criterion = "auto",
    common: Common = "flow",
    n_threads: int | None = None,
    progress: Progress | None = None,
    stopping: Stopping | None = None,
    checkpoint: Checkpoint | None = None,
) -> tuple[Path, CrossValidation]:
    """The path, followed until the held-out error has surely stopped improving.

    All folds go with it side by side. When that is so, `Stopping` says.
    """
    by, rule = criterion_for(criterion, problem.loss), stopping or Stopping()
    follower = _Follower(problem, folds, grid, by, common, rule, checkpoint)
    return follower.follow(min(check_threads(n_threads), len(folds) + 1), progress)


class FollowState(NamedTuple):
    """What was decided of a path and its folds after the knots that the watch has seen."""

    settled: int
    watch: WatchState


class _Follower:
    """A path and the paths of its folds under way, side by side.

    What is kept of the watch is never older than what is kept of a path: its slot comes first.
    """

    def __init__(
        self,
        problem: Problem,
        folds: Sequence[Fold],
        grid: Grid,
        criterion: str,
        common: Common,
        stopping: Stopping,
        checkpoint: Checkpoint | None,
    ) -> None:
        self.grid, self.criterion, self.stopping = grid, criterion, stopping
        self.watch, self.settled = RiseWatch(problem.votes.n_annotators), False
        self._slot = slot_in(checkpoint, "folds")
        self._restore()
        self.main = FlowSolver(
            problem,
            common=common,
            n_threads=1,
            slot=slot_in(checkpoint, PATH_SLOT),
            accepts=self._accepts_path,
        )
        trained = [problem.with_weight(fold.train) for fold in folds]
        self.scorers = [
            KnotScorer(one, fold.test, criterion) for one, fold in zip(trained, folds, strict=True)
        ]
        self.others = [
            FlowSolver(
                one,
                common=common,
                tolerance=stopping.fold_tolerance,
                n_threads=1,
                recorder=scorer,
                slot=slot_in(checkpoint, fold_slot(k)),
                accepts=self._accepts_fold,
            )
            for k, (one, scorer) in enumerate(zip(trained, self.scorers, strict=True))
        ]
        self._told, self._n_told, self._first = threading.Lock(), 0, 0.0

    def follow(self, n_threads: int, progress: Progress | None) -> tuple[Path, CrossValidation]:
        """Go on until the error has settled."""
        first = self._first = self.main.first_entry()
        with Threads(n_threads) if n_threads > 1 else Serial() as executor:
            while True:
                self._go_on(self._times(first), executor, progress)
                if self.settled:
                    return self.main.path(), self.found()

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
        self.settled = self._is_settled(self.found(), self._first)
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
        """Whether a fold kept has forgotten no costs that the watch has not seen."""
        recorded = state.recorded
        return len(recorded["times"]) - len(recorded["costs"]) <= self.watch.n_seen

    def _tell(self, progress: Progress | None) -> None:
        """Say how far path and folds are together: folds go on while the path waits for them."""
        with self._told:
            self._n_told += 1
            knots = self._n_told / (1 + len(self.others)) - 1.0
            if progress is not None:
                n_active = len(self.main.crowd.active.who)
                progress(self._first * self.grid.spacing ** max(0.0, knots), n_active)

    def found(self) -> CrossValidation:
        """The held-out errors so far."""
        errors = np.array([scorer.errors for scorer in self.scorers])
        wrong = np.array([scorer.wrong for scorer in self.scorers])
        return CrossValidation(np.array(self.scorers[0].times), errors, self.criterion, wrong)

    def _is_settled(self, found: CrossValidation, first: float) -> bool:
        rule, last = self.stopping, float(found.times[-1])
        entered = self.main.share_entered
        if last >= rule.last_ratio * first:
            return True
        if self.watch.n_sure >= min(3, self.grid.knots_within(rule.stretch_ratio)):
            return entered >= rule.entered
        if last >= max(rule.settled_ratio * found.t_cv, rule.settled_from * first):
            return entered >= rule.entered
        return entered == 1.0 and stands_still(found.times, found.mean, rule.standstill)


class HeldOut(NamedTuple):
    """Error by the criterion, and share of votes predicted wrong, at some times."""

    error: Floats
    wrong: Floats


def held_out_errors(
    problem: Problem,
    path: Path,
    test_weight: Floats,
    criterion: str,
    times: Floats | None = None,
) -> HeldOut:
    """Errors on held-out votes at some times of a path, or at all its knots."""
    rows = np.flatnonzero(test_weight)
    votes = problem.votes
    asked = Comparisons.of(votes, rows)
    choice, weight = votes.choice[rows], test_weight[rows]
    margins = [
        path_margins(path, asked, float(t)) for t in (path.times if times is None else times)
    ]
    wrong = np.array([mismatch_ratio(margin, choice, weight) for margin in margins])
    if criterion == "mismatch":
        return HeldOut(wrong, wrong)
    cost = [log_loss(margin, choice, weight, problem.loss) for margin in margins]
    return HeldOut(np.array(cost), wrong)


def fold_slot(k: int) -> str:
    """Where a checkpoint keeps the path of fold k."""
    return f"fold-{k + 1}"


def _is_follow_state(arrays: Arrays) -> bool:
    return from_arrays(FollowState, arrays).watch.n_seen > 0


def _collect(times: Floats, folds: Sequence[HeldOut], criterion: str) -> CrossValidation:
    errors, wrong = np.array([one.error for one in folds]), np.array([one.wrong for one in folds])
    return CrossValidation(times, errors, criterion, wrong)
