"""Compiled sums for common scores without an annotator's own votes (`without_own`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prefpath.compiling import inner_kernel, kernel
from prefpath.diagnose.exponentials import Room, exponentials, make_room
from prefpath.diagnose.lean_kernels import Counts, one_slope_and_information
from prefpath.diagnose.null_model import NullModel
from prefpath.model.design import Design, Floats, Ints
from prefpath.model.loops import longest_run


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
            others = max(1.0 / (error * error) - weight[u] * information[j], 0.0)
            own[j] = (others * scores[item] - weight[u] * score[j]) / (others + prior)
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
    room = make_room(longest_run(design.cells))
    score, information = 0.0, 0.0
    for u in range(len(followers)):
        if followers[u]:
            more = _slope_terms(u, slope, position, design, counts, probit, room)
            score += more[0]
            information += more[1]
    return score, information


@inner_kernel(allocates=False, fastmath={"reassoc", "contract"})
def _slope_terms(
    u: int,
    slope: float,
    position: float,
    design: Design,
    counts: Counts,
    probit: bool,
    room: Room,
) -> tuple[float, float]:
    """Of one annotator; of logistic choices several at once."""
    first, last = design.cells[u], design.cells[u + 1]
    difference, trials, wins = (
        counts.offset[first:last],
        counts.trials[first:last],
        counts.wins[first:last],
    )
    side, value = design.position[first:last], room.value
    score, information = 0.0, 0.0
    for c in range(len(wins)):
        value[c] = -(slope * difference[c] + side[c] * position)
    if probit:
        for c in range(len(wins)):
            gradient, curvature = one_slope_and_information(
                -value[c], wins[c], trials[c] - wins[c], probit
            )
            score += difference[c] * gradient
            information += difference[c] * difference[c] * curvature
        return score, information
    exponentials(room, len(wins))
    for c in range(len(wins)):
        d, p = difference[c], 1.0 / (1.0 + value[c])
        score += d * (wins[c] - trials[c] * p)
        information += d * d * (trials[c] * p * (value[c] * p))
    return score, information
