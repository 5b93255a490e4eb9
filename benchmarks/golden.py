"""Our LBI against every path of the paper's published code, whole: a table of errors.

    python benchmarks/golden.py [folder of the golden files]

The half-million-iteration path of the movie occupations is run to its end, and its four
cross-validation folds too, against the authors' own stored errors.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path as FilePath

import numpy as np

from prefpath import Path
from prefpath.fit import solve
from prefpath.model.problem import Problem
from prefpath.selection.cross_validation import held_out_errors
from prefpath.solver.grid import make_grid

ROOT = FilePath(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from golden_files import NAMES, OCCUPATIONS, Golden, load_golden  # noqa: E402

LIMIT, STALE_LIMIT = 1e-6, 1e-2


def main() -> int:
    """Print the table; the number of files that do not agree."""
    folder = FilePath(sys.argv[1]) if len(sys.argv) > 1 else _default_folder()
    print(f"{'file':32}{'common':>10}{'deviation':>11}{'bias':>10}{'seconds':>9}")
    failures = sum(not check(load_golden(folder, name)) for name in (*NAMES, OCCUPATIONS))
    failures += not check_folds(load_golden(folder, OCCUPATIONS))
    print("all agree" if not failures else f"{failures} do not agree")
    return failures


def check(golden: Golden) -> bool:
    """One file, columns 1 to 49 (its README says why not the last)."""
    start = time.perf_counter()
    errors = golden.errors(golden.fit(49))
    seconds = time.perf_counter() - start
    shown = [errors.get(part, np.nan) for part in ("common", "deviation", "position bias")]
    print(f"{golden.name:32}{shown[0]:10.1e}{shown[1]:11.1e}{shown[2]:10.1e}{seconds:9.1f}")
    stale = errors.pop("common") if golden.common_is_one_step_old else 0.0
    return max(errors.values()) < LIMIT and stale < STALE_LIMIT


def check_folds(golden: Golden) -> bool:
    """The authors' four folds over votes: each its own path, at the whole path's step and times."""
    settings = {k: v for k, v in golden.settings.items() if k != "step"}
    problem = Problem.build(golden.votes, **settings)
    errors = []
    for fold in range(1, 5):
        test = _weight_in_fold(golden, fold)
        path = _train(problem, golden, golden.votes.weight - test)
        errors.append(held_out_errors(problem, path, test, "mismatch").error)
        if fold == 4:
            _print_last_fold(golden, path)
    gap = np.abs(np.array(errors) - golden.arrays["cv_residmat"][:, :49]).max()
    best = int(np.argmin(np.mean(errors, axis=0))) + 1
    print(f"cross-validation: errors differ by {gap:.1e}, best column {best}", end=" ")
    print(f"(published {int(golden.arrays['k_cv'])})")
    return bool(gap < 1e-9) and best == int(golden.arrays["k_cv"])


def _train(problem: Problem, golden: Golden, weight: np.ndarray) -> Path:
    grid = make_grid(golden.times[:49], 49, 2.0)
    return solve(problem.with_weight(weight), grid, solver="lbi", step=golden.settings["step"])


def _weight_in_fold(golden: Golden, fold: int) -> np.ndarray:
    """How many of the votes that each row stands for are in a fold.

    The sides of these votes are unknown, so `Votes` has put the smaller item first.
    """
    votes = golden.votes
    rows = zip(votes.annotator, votes.left, votes.right, votes.choice, strict=True)
    row_of = {(int(u), int(i), int(j), float(y)): r for r, (u, i, j, y) in enumerate(rows)}
    columns = [golden.arrays[key].ravel() for key in ("user", "item_i", "item_j", "y", "cv_fold")]
    weight = np.zeros(votes.n_rows)
    for u, i, j, y, its_fold in zip(*columns, strict=True):
        if its_fold == fold:
            first, second = sorted((int(i) - 1, int(j) - 1))
            choice = float(y) if i < j else -float(y)
            weight[row_of[int(u) - 1, first, second, choice]] += 1.0
    return weight


def _print_last_fold(golden: Golden, path: Path) -> None:
    common = np.abs(path.common.T - golden.arrays["cvfold4_eta"][:, :49]).max()
    dense = np.stack([path.deviation(t).toarray() for t in path.times], axis=2)
    deviation = np.abs(dense - golden.arrays["cvfold4_xi"][:, :, :49]).max()
    print(f"{'its fourth fold':32}{common:10.1e}{deviation:11.1e}")


def _default_folder() -> FilePath:
    data = FilePath(os.environ.get("PREFPATH_DATA", ROOT.parent / "shared" / "data"))
    return data.parent / "golden"


if __name__ == "__main__":
    sys.exit(main())
