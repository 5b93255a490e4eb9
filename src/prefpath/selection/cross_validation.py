"""Cross-validation of the stopping time: the same times and the same step in every fold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from prefpath.errors import SettingError
from prefpath.fit import Solver, solve
from prefpath.model.design import Floats
from prefpath.model.problem import Problem
from prefpath.path import Path
from prefpath.predict import Comparisons, path_margins
from prefpath.selection.criteria import Criterion, evaluate
from prefpath.selection.folds import Fold
from prefpath.solver.executors import Serial, Threads, check_threads
from prefpath.solver.grid import make_grid
from prefpath.solver.lbi import Common

Rule = Literal["best", "one-standard-error"]


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Held-out errors along a path.

    Attributes
    ----------
    times : array (n_times,)
    errors : array (n_folds, n_times)
        Held-out error of each fold.
    criterion : str
    """

    times: Floats
    errors: Floats
    criterion: str

    @property
    def mean(self) -> Floats:
        """Mean error over the folds."""
        result: Floats = self.errors.mean(axis=0)
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
    criterion: Criterion = "mismatch",
    solver: Solver = "lbi",
    common: Common = "flow",
    n_threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> CrossValidation:
    """Held-out error of each fold at the times of `path`, folds side by side in threads."""
    threads = min(check_threads(n_threads), len(folds))

    def one_fold(fold: Fold) -> Floats:
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
        return held_out_errors(problem, fitted, fold.test, criterion)

    with Threads(threads) if threads > 1 else Serial() as executor:
        errors = executor.map(one_fold, folds)
    return CrossValidation(path.times, np.array(errors), criterion)


def held_out_errors(
    problem: Problem, path: Path, test_weight: Floats, criterion: Criterion
) -> Floats:
    """Error on held-out votes at every knot of a path."""
    rows = np.flatnonzero(test_weight)
    votes = problem.votes
    asked = Comparisons.of(votes, rows)
    choice, weight = votes.choice[rows], test_weight[rows]
    return np.array(
        [
            evaluate(criterion, path_margins(path, asked, float(t)), choice, weight, problem.loss)
            for t in path.times
        ]
    )
