"""Where to stop: balance, criterion and rule, compared on held-out votes of real data.

    python benchmarks/selection_study.py            # 20 splits: the tables of docs/selection.md
    python benchmarks/selection_study.py --quick    # 3 splits of the smaller data

Each split holds 30 % of the votes out at random. On the others the path is fitted and t chosen
by 5-fold cross-validation, for the penalty plain or balanced by activity, by mismatch or
log-loss, by the least error or the one-standard-error rule; the model at that t is then judged
on the held-out votes. Data come from PREFPATH_DATA, or from ../shared/data.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import product
from pathlib import Path as FilePath

import numpy as np

from prefpath import Path, Votes, VoteWarning, read_votes
from prefpath.fit import solve
from prefpath.model.losses import as_loss
from prefpath.model.problem import Problem
from prefpath.predict import Comparisons, path_margins
from prefpath.selection.criteria import log_loss, mismatch_ratio
from prefpath.selection.cross_validation import CrossValidation, held_out_errors
from prefpath.selection.folds import Fold, make_folds, split_votes
from prefpath.solver.grid import make_grid

BESIDE = FilePath(__file__).resolve().parents[2] / "shared" / "data"
FOLDER = FilePath(os.environ.get("PREFPATH_DATA", BESIDE))
DATA = ("iqa_ref1", "llmfao_crowd", "llm_position_bias", "worldcollege", "movie_pami")
QUICK = ("iqa_ref1", "llmfao_crowd")
CRITERIA = ("mismatch", "log-loss")
RULES = ("best", "one-standard-error")
T_RATIO = 50.0
CHOICES = tuple(product((False, True), CRITERIA, RULES))

Results = dict[tuple[bool, str, str], tuple[float, float, float]]


def load(name: str) -> tuple[Votes, np.ndarray | None]:
    """Votes, and features where there are any."""
    votes = read_votes(FOLDER / f"{name}.csv")
    if name != "movie_pami":
        return votes, None
    lines = (FOLDER / "movie_pami_items.csv").read_text("utf-8").splitlines()[1:]
    row = {line.split(",")[0]: np.array(line.split(",")[1:], dtype=float) for line in lines}
    return votes, np.array([row[str(item)] for item in votes.items])


def one_split(votes: Votes, features: np.ndarray | None, seed: int) -> Results:
    """Held-out mismatch, log-loss and chosen t over t0 for every choice, on one split."""
    split = split_votes(votes, 0.3, seed)
    training = keep(votes, split.train)
    folds = make_folds(training, 5, random_state=seed)
    held_out = Comparisons.of(votes, np.flatnonzero(split.test))
    results: Results = {}
    for balance in (False, True):
        problem = Problem.build(
            training, features=features, position_bias=features is None, balance=balance
        )
        path = solve(problem, make_grid(None, 25, T_RATIO), n_threads=1)
        for criterion, errors in zip(CRITERIA, cross_validate(problem, path, folds), strict=True):
            for rule in RULES:
                t = errors.choose(rule)
                margin = path_margins(path, held_out, t)
                results[balance, criterion, rule] = (
                    *judge(votes, split, margin),
                    t / path.times[0],
                )
    return results


def keep(votes: Votes, weight: np.ndarray) -> Votes:
    """The votes with other weights, and counts to match; labels are kept."""
    rows = np.flatnonzero(weight > 0)
    share = weight[rows] / votes.weight[rows]
    count = np.round(votes.count[rows] * share).astype(votes.count.dtype)
    return replace(votes.take(rows), weight=weight[rows], count=count)


def cross_validate(problem: Problem, path: Path, folds: list[Fold]) -> list[CrossValidation]:
    """Both criteria from the same fits of the folds."""
    errors: dict[str, list[np.ndarray]] = {criterion: [] for criterion in CRITERIA}
    for fold in folds:
        fitted = solve(problem.with_weight(fold.train), make_grid(path.times, 2, 2.0), n_threads=1)
        for criterion in CRITERIA:
            errors[criterion].append(held_out_errors(problem, fitted, fold.test, criterion).error)
    wrong = np.array(errors["mismatch"])
    return [CrossValidation(path.times, np.array(errors[c]), c, wrong) for c in CRITERIA]


def judge(votes: Votes, split: Fold, margin: np.ndarray) -> tuple[float, float]:
    rows = np.flatnonzero(split.test)
    choice, weight = votes.choice[rows], split.test[rows]
    return (
        mismatch_ratio(margin, choice, weight),
        log_loss(margin, choice, weight, as_loss("bradley-terry")),
    )


def run_job(job: tuple[str, int]) -> Results:
    warnings.simplefilter("ignore", VoteWarning)
    return one_split(*load(job[0]), job[1])


def report(name: str, results: list[Results], seconds: float) -> None:
    """Means with standard errors, and differences from the paper's choice, paired by split."""
    table = np.array([[result[choice] for choice in CHOICES] for result in results])
    mean, error = table.mean(axis=0), table.std(axis=0, ddof=1) / np.sqrt(len(table))
    difference = table - table[:, :1]
    gain = difference.mean(axis=0)
    gain_error = difference.std(axis=0, ddof=1) / np.sqrt(len(table))
    print(f"\n{name}: {len(table)} splits, {seconds:.0f} s")
    print(
        f"{'penalty':9} {'criterion':9} {'rule':19} {'t/t0':>6} {'mismatch':>14} "
        f"{'log-loss':>14} {'mismatch - first':>18} {'log-loss - first':>18}"
    )
    for k, (balance, criterion, rule) in enumerate(CHOICES):
        print(
            f"{'balanced' if balance else 'plain':9} {criterion:9} {rule:19} {mean[k, 2]:6.1f} "
            f"{mean[k, 0]:.4f} ± {error[k, 0]:.4f} {mean[k, 1]:.4f} ± {error[k, 1]:.4f} "
            f"{gain[k, 0]:+.4f} ± {gain_error[k, 0]:.4f} "
            f"{gain[k, 1]:+.4f} ± {gain_error[k, 1]:.4f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="three splits of two data sets")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--data", nargs="*", choices=DATA)
    asked = parser.parse_args()
    splits = 3 if asked.quick else asked.splits
    with ProcessPoolExecutor(asked.processes) as pool:
        for name in asked.data or (QUICK if asked.quick else DATA):
            start = time.perf_counter()
            results = list(pool.map(run_job, [(name, seed) for seed in range(splits)]))
            report(name, results, time.perf_counter() - start)


if __name__ == "__main__":
    main()
