"""Does cross-validation that stops when it knows choose the t it would choose by going far?

    python benchmarks/stopping_study.py              # the table of docs/selection.md
    python benchmarks/stopping_study.py --quick      # without the crowds that take minutes
    python benchmarks/stopping_study.py --tolerance  # what following folds less closely changes

Each data set is followed twice: by the default rule (`prefpath.selection.stopping.Stopping`), and
to a fixed ratio far beyond, whatever the error does. Among the simulated crowds are some made to
trap the rule: whose best t lies late, in which one annotator casts most of the votes and comes in
long before everybody else, and in which nobody gains for a long while. Data come from
PREFPATH_DATA, or from ../shared/data.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from prefpath import Votes, VoteWarning, read_votes, simulate_crowd
from prefpath.model.problem import Problem
from prefpath.selection.cross_validation import CrossValidation, follow_until_settled
from prefpath.selection.folds import make_folds
from prefpath.selection.stopping import Stopping
from prefpath.solver.flow import TOLERANCE
from prefpath.solver.grid import make_grid

BESIDE = FilePath(__file__).resolve().parents[2] / "shared" / "data"
FOLDER = FilePath(os.environ.get("PREFPATH_DATA", BESIDE))


@dataclass(frozen=True)
class Case:
    """Votes, how the problem is built, and how far "far" is."""

    votes: Callable[[], Votes]
    ratio: float = 100.0
    how: dict[str, Any] = field(default_factory=lambda: {"balance": True})
    criterion: str = "auto"
    slow: bool = False


def data(name: str) -> Callable[[], Votes]:
    """Votes of a file."""
    return lambda: read_votes(FOLDER / f"{name}.csv")


def movie_features(votes: Votes) -> np.ndarray:
    """Genres of the movies, in the order of the votes' items."""
    lines = (FOLDER / "movie_pami_items.csv").read_text("utf-8").splitlines()[1:]
    row = {line.split(",")[0]: np.array(line.split(",")[1:], dtype=float) for line in lines}
    return np.array([row[str(item)] for item in votes.items])


def crowd(*sizes: int, **how: Any) -> Callable[[], Votes]:
    """Votes of a simulated crowd."""
    return lambda: simulate_crowd(*sizes, **{"seed": 0, **how}).votes


def one_busy_annotator(seed: int, share: float = 0.5) -> Votes:
    """Half of the votes are one person's, who leans left; 200 others have tastes of their own."""
    rng = np.random.default_rng(seed)
    n_votes, n_items = 20_000, 12
    who = np.where(rng.random(n_votes) < share, 0, rng.integers(1, 201, n_votes))
    left = rng.integers(0, n_items, n_votes)
    right = (left + rng.integers(1, n_items, n_votes)) % n_items
    taste = rng.normal(0.0, 1.5, (201, n_items))
    taste[0] = 0.0
    score = rng.normal(size=n_items)
    margin = score[left] - score[right] + taste[who, left] - taste[who, right] + (who == 0)
    choice = np.where(rng.random(n_votes) < 1.0 / (1.0 + np.exp(-margin)), 1, -1)
    return Votes.from_arrays(who, left, right, choice)


def noise_first(seed: int) -> Votes:
    """30 busy annotators who agree with everybody, then 500 with tastes and few votes each."""
    rng = np.random.default_rng(seed)
    busy, quiet, n_items = 30, 500, 10
    who = np.concatenate((rng.integers(0, busy, 30_000), rng.integers(busy, busy + quiet, 20_000)))
    left = rng.integers(0, n_items, len(who))
    right = (left + rng.integers(1, n_items, len(who))) % n_items
    taste = rng.normal(0.0, 2.0, (busy + quiet, n_items))
    taste[:busy] = 0.0
    score = rng.normal(size=n_items)
    margin = score[left] - score[right] + taste[who, left] - taste[who, right]
    choice = np.where(rng.random(len(who)) < 1.0 / (1.0 + np.exp(-margin)), 1, -1)
    return Votes.from_arrays(who, left, right, choice)


PLAIN: dict[str, Any] = {"balance": False}
ATTENTION: dict[str, Any] = {"balance": True, "attention": True}
CASES = {
    "iqa": Case(data("iqa_ref1")),
    "iqa, plain": Case(data("iqa_ref1"), how=PLAIN),
    "iqa, mismatch": Case(data("iqa_ref1"), criterion="mismatch"),
    "iqa, attention": Case(data("iqa_ref1"), how=ATTENTION),
    "llmfao": Case(data("llmfao_crowd")),
    "llmfao, plain": Case(data("llmfao_crowd"), how=PLAIN),
    "judges": Case(data("llm_position_bias"), ratio=400.0),
    "judges, plain": Case(data("llm_position_bias"), ratio=400.0, how=PLAIN),
    "poems": Case(data("poems")),
    "worldcollege": Case(data("worldcollege"), ratio=50.0),
    "worldcollege, attention": Case(data("worldcollege"), ratio=50.0, how=ATTENTION),
    "worldcollege, plain": Case(data("worldcollege"), how=PLAIN),
    "movies": Case(data("movie_pami"), how={"balance": True, "movie features": True}, ratio=400.0),
    "16,000 x 160, a tenth odd": Case(
        crowd(16_000, 160, 30, contrary=0.05, random=0.05, seed=1), how=ATTENTION
    ),
    "nobody deviates": Case(crowd(10_000, 200, 10, deviants=0, clickers=0)),
    "5,000 x 50": Case(crowd(5_000, 50, 10)),
    "5,000 x 50, even": Case(crowd(5_000, 50, 10, activity="even", deviants=0.3)),
    "20,000 x 2,000": Case(crowd(20_000, 2_000, 50), ratio=30.0),
    "20,000 x 400, half deviate": Case(crowd(20_000, 400, 20, deviants=0.5), ratio=60.0),
    "25,000 x 250, plain": Case(crowd(25_000, 250, 30), how=PLAIN, ratio=600.0),
    "one busy annotator": Case(lambda: one_busy_annotator(0), how=PLAIN, ratio=1_000.0),
    "one busy annotator, 9 of 10": Case(
        lambda: one_busy_annotator(1, 0.9), how=PLAIN, ratio=3_000.0
    ),
    "noise first": Case(lambda: noise_first(0), how=PLAIN, ratio=400.0),
    "noise first, balanced": Case(lambda: noise_first(0), ratio=60.0),
    "250,000 x 2,500, plain": Case(crowd(250_000, 2_500, 100), how=PLAIN, ratio=800.0, slow=True),
    "10^5 x 10^3": Case(crowd(100_000, 1_000, 100), ratio=60.0, slow=True),
}


def follow(case: Case, stopping: Stopping, seed: int) -> tuple[CrossValidation, float]:
    """Cross-validation by a stopping rule, and its CPU seconds."""
    votes = case.votes()
    how = dict(case.how)
    if how.pop("movie features", False):
        how.update(features=movie_features(votes), position_bias=False)
    problem = Problem.build(votes, **how)
    folds = make_folds(votes, 5, random_state=seed)
    start = time.process_time()
    _, found = follow_until_settled(
        problem, folds, make_grid(None, 50, "auto"), criterion=case.criterion,
        n_threads=1, stopping=stopping,
    )  # fmt: skip
    return found, time.process_time() - start


def far(ratio: float) -> Stopping:
    """Go to a ratio, whatever the error does."""
    return Stopping(first_ratio=ratio, last_ratio=0.0)


def compare(name: str, case: Case, seed: int) -> bool:
    """Print where both ways stop; tell whether they choose the same t."""
    soon, seconds = follow(case, Stopping(), seed)
    late, seconds_far = follow(case, far(case.ratio), seed)
    first = soon.times[0]
    lost = float(np.interp(soon.t_cv, late.times, late.mean)) - late.mean.min()
    best = int(np.argmin(late.mean))
    same = abs(soon.t_cv - late.t_cv) <= 1e-6 * late.t_cv
    print(
        f"{name:28} {soon.t_cv / first:8.1f} {late.t_cv / first:8.1f} "
        f"{soon.times[-1] / first:8.1f} {late.times[-1] / first:8.1f} {lost:9.5f} "
        f"{late.standard_error[best]:9.5f} {seconds:7.2f} {seconds_far:7.2f}  "
        f"{'same' if same else 'OTHER'}",
        flush=True,
    )
    return same


def compare_tolerance(name: str, case: Case, seed: int) -> bool:
    """Print how far the folds' tolerance moves the held-out error, to 20 times the first entry."""
    wide = far(20.0)
    close = replace(wide, fold_tolerance=TOLERANCE, fold_tolerance_with_attention=TOLERANCE)
    near, usual = (follow(case, stopping, seed) for stopping in (close, wide))
    moved = float(np.abs(near[0].mean - usual[0].mean).max())
    same = near[0].t_cv == usual[0].t_cv
    print(
        f"{name:28} moved by at most {moved:.1e} (least {near[0].mean.min():.4f}), "
        f"{near[1]:.2f} and {usual[1]:.2f} CPU s, t {'same' if same else 'OTHER'}",
        flush=True,
    )
    return same


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="without the slow crowds")
    parser.add_argument("--tolerance", action="store_true", help="of the folds instead")
    parser.add_argument("--cases", nargs="*", choices=CASES)
    parser.add_argument("--seed", type=int, default=0, help="of the folds")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", VoteWarning)
    if not asked.tolerance:
        print(
            f"{'':28} {'t/t0':>8} {'far':>8} {'followed':>8} {'far':>8} {'lost':>9} {'s.e.':>9} "
            f"{'CPU s':>7} {'far':>7}"
        )
    judge = compare_tolerance if asked.tolerance else compare
    names = asked.cases or [n for n, case in CASES.items() if not (asked.quick and case.slow)]
    same = [judge(name, CASES[name], asked.seed) for name in names]
    print(f"{sum(same)} of {len(same)} choose the same t")


if __name__ == "__main__":
    main()
