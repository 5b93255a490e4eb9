"""skglm: logistic L1 path with warm starts; common scores unpenalised, 50 penalties down to 1 %."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from effects_design import EffectsDesign, effects_design
from harness import A_FEW, Task, Votes, best_on_path, main, read
from scipy import sparse
from skglm.datafits import Logistic
from skglm.penalties import WeightedL1
from skglm.solvers import AndersonCD
from skglm.utils.jit_compilation import compiled_clone

POINTS, LEAST_PENALTY = 50, 0.01


def prepare(votes: Votes, folder: Path) -> EffectsDesign:
    return effects_design(votes, read(folder, "fresh_"))


def l1_path(design: EffectsDesign) -> sparse.csr_matrix:
    warnings.simplefilter("ignore")  # "did not converge" at a point is seen in its accuracy
    matrix, choice = design.matrix, design.choice.astype(float)
    datafit = compiled_clone(Logistic())
    datafit.initialize_sparse(matrix.data, matrix.indptr, matrix.indices, choice)
    weights = np.where(design.is_common, 0.0, 1.0)
    w, margin = np.zeros(matrix.shape[1]), np.zeros(matrix.shape[0])
    largest = float(np.abs(matrix.T @ choice).max()) / len(choice)
    found = []
    for share in [2.0, *np.geomspace(1.0, LEAST_PENALTY, POINTS)]:
        penalty = compiled_clone(WeightedL1(largest * share, weights))
        w = _solve(matrix, choice, datafit, penalty, (w, margin))
        margin = matrix @ w
        if share > 1.0:  # nobody deviates yet: where the first one would enter
            left = matrix.T @ (choice / (1 + np.exp(choice * margin))) / len(choice)
            largest = float(np.abs(left[~design.is_common]).max())
        else:
            found.append(sparse.csr_matrix(w))
    return sparse.vstack(found, format="csr")


def _solve(matrix: Any, choice: Any, datafit: Any, penalty: Any, start: Any) -> np.ndarray:
    solver = AndersonCD(fit_intercept=False, tol=1e-4)
    return solver.solve(matrix, choice, datafit, penalty, start[0].copy(), start[1].copy())[0]


def judge(design: EffectsDesign, betas: sparse.csr_matrix) -> dict[str, Any]:
    margins = ((design.fresh @ beta.T).toarray().ravel() for beta in betas)
    return {**best_on_path(margins, design.fresh_choice), "oddness": design.oddness(betas)}


if __name__ == "__main__":
    tasks = ("path", "find")
    main({name: Task(l1_path, prepare, judge, warm=A_FEW) for name in tasks})
