"""Cross-validation of the stopping time: the same times and the same step in every fold."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from prefpath.errors import SettingError
from prefpath.fit import Solver, solve
from prefpath.model.design import Floats
from prefpath.model.problem import Problem
from prefpath.path import Path
from prefpath.predict import Comparisons, path_margins
from prefpath.selection.criteria import Criterion, criterion_for, log_loss, mismatch_ratio
from prefpath.selection.folds import Fold
from prefpath.selection.held_out import KnotScorer
from prefpath.selection.stopping import RiseWatch, Stopping, stands_still
from prefpath.solver.executors import Executor, Serial, Threads, check_threads
from prefpath.solver.flow import FlowSolver
from prefpath.solver.grid import Grid, make_grid
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
) -> CrossValidation:
    """Held-out error of each fold at the times of `path`, folds side by side in threads."""
    threads = min(check_threads(n_threads), len(folds))
    by = criterion_for(criterion, problem.loss)

    def one_fold(fold: Fold) -> HeldOut:
        fitted = solve(
            problem.with_weight(fold.train),
            make_grid(path.times, path.n_times, 2.0),
            solver=solver,
            common=common,
            step=path.step,
            n_threads=1,
        )
        if progress is not None:
            progress(1)
        return held_out_errors(problem, fitted, fold.test, by)

    with Threads(threads) if threads > 1 else Serial() as executor:
        found = executor.map(one_fold, folds)
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
) -> tuple[Path, CrossValidation]:
    """The path, followed until the held-out error has surely stopped improving.

    All folds go with it side by side. When that is so, `Stopping` says.
    """
    by = criterion_for(criterion, problem.loss)
    return _Follower(problem, folds, grid, by, common, stopping or Stopping()).follow(
        min(check_threads(n_threads), len(folds) + 1), progress
    )


class _Follower:
    """A path and the paths of its folds under way, side by side."""

    def __init__(
        self,
        problem: Problem,
        folds: Sequence[Fold],
        grid: Grid,
        criterion: str,
        common: Common,
        stopping: Stopping,
    ) -> None:
        self.grid, self.criterion, self.stopping = grid, criterion, stopping
        self.main = FlowSolver(problem, common=common, n_threads=1)
        trained = [problem.with_weight(fold.train) for fold in folds]
        self.scorers = [
            KnotScorer(one, fold.test, criterion) for one, fold in zip(trained, folds, strict=True)
        ]
        self.others = [
            FlowSolver(
                one, common=common, tolerance=stopping.fold_tolerance, n_threads=1, recorder=scorer
            )
            for one, scorer in zip(trained, self.scorers, strict=True)
        ]
        self.watch = RiseWatch(problem.votes.n_annotators)
        self._told, self._n_told, self._first = threading.Lock(), 0, 0.0

    def follow(self, n_threads: int, progress: Progress | None) -> tuple[Path, CrossValidation]:
        """Go on until the error has settled."""
        first = self._first = self.main.first_entry()
        times = np.append(first, self.grid.further(first, self.stopping.first_ratio))
        with Threads(n_threads) if n_threads > 1 else Serial() as executor:
            while True:
                self._go_on(times, executor, progress)
                found = self.found()
                if self._settled(found, first):
                    return self.main.path(), found
                times = self.grid.further(float(times[-1]), self.stopping.stretch_ratio)

    def _go_on(self, times: Floats, executor: Executor, progress: Progress | None) -> None:
        solvers = [self.main, *self.others]

        def tell(_: float, __: int) -> None:
            self._tell(progress)

        def one(k: int) -> None:
            solvers[k].follow(times, None if progress is None else tell)

        executor.map(one, range(len(solvers)))
        self.watch.see(self.scorers, self.stopping.sure)

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

    def _settled(self, found: CrossValidation, first: float) -> bool:
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


def _collect(times: Floats, folds: Sequence[HeldOut], criterion: str) -> CrossValidation:
    errors, wrong = np.array([one.error for one in folds]), np.array([one.wrong for one in folds])
    return CrossValidation(times, errors, criterion, wrong)
