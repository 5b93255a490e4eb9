"""Compiled sums for common scores without an annotator's own votes (`without_own`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prefpath.compiling import inner_kernel, kernel
from prefpath.diagnose.consensus import RIDGE
from prefpath.diagnose.lean_kernels import Counts, one_slope_and_information
from prefpath.diagnose.null_model import NullModel
from prefpath.model.design import Design, Floats, Ints

# Of an item that nobody else saw, what is left of its information is rounding: without this, what
# an unfinished Newton step leaves of an annotator's own votes would count as the crowd's opinion.
NOTHING = 1e-9


@kernel()
def leave_out_shard(
    who: Ints,
    design: Design,
    null: NullModel,
    scores: Floats,
    weight: Floats,
    prior: float,
    out: tuple[Floats, Floats],
) -> None:
    """Posterior mean and variance of each score seen, without u's votes, and differences."""
    difference, variance = out
    most = 1
    for u in who:
        most = max(most, design.seen[u + 1] - design.seen[u])
    score, information, own = np.zeros(most), np.zeros(most), np.zeros(most)
    for u in who:
        start, k = design.seen[u], design.seen[u + 1] - design.seen[u]
        _own_part(u, design, null, score[:k], information[:k])
        for j in range(k):
            item = design.seen_item[start + j]
            if prior == 0.0:
                own[j] = scores[item]
                continue
            error = null.score_error[item]
            known = 1.0 / (error * error)
            others = max(known - weight[u] * information[j], 0.0)
            own[j] = (others * scores[item] - weight[u] * score[j]) / (others + prior)
            if others - RIDGE <= NOTHING * known:
                own[j] = 0.0
            variance[start + j] = 1.0 / (others + prior)
        for c in range(design.cells[u], design.cells[u + 1]):
            difference[c] = own[design.left_at[c]] - own[design.right_at[c]]


@inner_kernel(allocates=False)
def _own_part(u: int, design: Design, null: NullModel, score: Floats, information: Floats) -> None:
    """u's part of the score and of the information on each common score."""
    score[:] = 0.0
    information[:] = 0.0
    for c in range(design.cells[u], design.cells[u + 1]):
        left, right = design.left_at[c], design.right_at[c]
        factor = null.slope[c] / max(null.p[c] * (1.0 - null.p[c]), 1e-12)
        r = factor * (null.wins[c] - null.trials[c] * null.p[c])
        score[left] += r
        score[right] -= r
        curvature = factor * null.slope[c] * null.trials[c]
        information[left] += curvature
        information[right] += curvature


@kernel()
def score_of_pooled_slope(
    slope: float,
    position: float,
    design: Design,
    counts: Counts,
    probit: bool,
    followers: NDArray[np.bool_],
) -> tuple[float, float]:
    score, information = 0.0, 0.0
    for u in range(len(followers)):
        if followers[u]:
            for c in range(design.cells[u], design.cells[u + 1]):
                d, wins = counts.offset[c], counts.wins[c]
                margin = slope * d + design.position[c] * position
                gradient, curvature = one_slope_and_information(
                    margin, wins, counts.trials[c] - wins, probit
                )
                score += d * gradient
                information += d * d * curvature
    return score, information
