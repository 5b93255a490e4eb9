"""adelie: group lasso path, an annotator a group, common scores unpenalised; logistic or quadratic.

`path` is logistic; `path-quadratic` fits choices 1 and -1 by least squares, and only signs count.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import adelie as ad
import numpy as np
from effects_design import EffectsDesign, effects_design
from harness import Task, Votes, best_on_path, main, read
from scipy import sparse

POINTS, LEAST_PENALTY = 50, 0.01


def prepare(votes: Votes, folder: Path) -> EffectsDesign:
    return effects_design(votes, read(folder, "fresh_"))


def group_path(design: EffectsDesign, glm: Any) -> sparse.csr_matrix:
    starts = design.group_starts()
    sizes = np.diff(np.append(starts, len(design.owner)))
    penalty = np.where(design.is_common[starts], 0.0, np.sqrt(sizes))
    state = ad.grpnet(
        X=ad.matrix.sparse(design.matrix, method="naive", n_threads=1),
        glm=glm,
        groups=starts,
        penalty=penalty,
        lmda_path_size=POINTS,
        min_ratio=LEAST_PENALTY,
        intercept=False,
        progress_bar=False,
    )
    return sparse.csr_matrix(state.betas)


def logistic(design: EffectsDesign) -> sparse.csr_matrix:
    return group_path(design, ad.glm.binomial(y=(design.choice > 0).astype(float)))


def quadratic(design: EffectsDesign) -> sparse.csr_matrix:
    return group_path(design, ad.glm.gaussian(y=design.choice.astype(float)))


def judge(design: EffectsDesign, betas: sparse.csr_matrix) -> dict[str, Any]:
    margins = ((design.fresh @ beta.T).toarray().ravel() for beta in betas)
    found = best_on_path(margins, design.fresh_choice)
    return {**found, "oddness": design.oddness(betas)}


def judge_signs(design: EffectsDesign, betas: sparse.csr_matrix) -> dict[str, Any]:
    found = judge(design, betas)
    del found["log_loss"]  # margins of least squares are no logits
    return found


if __name__ == "__main__":
    main(
        {
            "path": Task(logistic, prepare, judge),
            "path-quadratic": Task(quadratic, prepare, judge_signs),
            "find": Task(logistic, prepare, judge),
        }
    )
