"""Cross-validation of the stopping time: the same times and the same step in every fold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from prefpath.checkpoint import Checkpoint, slot_in
from prefpath.errors import SettingError
from prefpath.model.design import Floats
from prefpath.model.problem import Problem
from prefpath.path import Path
from prefpath.predict import Comparisons, path_margins
from prefpath.selection.criteria import Criterion, criterion_for, log_loss, mismatch_ratio
from prefpath.selection.folds import Fold
from prefpath.selection.following import Follower, OneMachine, fold_slot
from prefpath.selection.stopping import Stopping
from prefpath.solver.executors import Serial, Threads, check_threads
from prefpath.solver.grid import Grid, make_grid
from prefpath.solver.solve import Solver, solve
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
            problem.with_weight(folds[k].train, folds[k].stands_for),
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
    tolerance = rule.tolerance_of_folds(attention=problem.attention)
    paths = OneMachine(problem, folds, by, common, tolerance)
    follower = Follower(paths, grid, rule, checkpoint)
    path, found = follower.follow(min(check_threads(n_threads), len(folds) + 1), progress)
    return path, CrossValidation(found.times, found.errors, by, found.wrong)


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
