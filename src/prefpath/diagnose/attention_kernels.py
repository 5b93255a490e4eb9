"""Compiled test and estimate of how sharply each annotator sees the common scores."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefpath.compiling import inner_kernel, kernel
from prefpath.diagnose.attention_likelihood import (
    AttentionCells,
    derivatives,
    likelihood_and_gradient,
)
from prefpath.diagnose.exponentials import Room, exponentials, make_room
from prefpath.diagnose.tails import two_sided_p
from prefpath.model.design import Design, Floats, Ints

CHI_SQUARE_95 = 3.841458820694124
MOST_STEPS = 40
TOLERANCE = 1e-4  # Newton's last step: what is left is far smaller
CLOSE = 0.01  # the same for the ends of intervals
LONGEST_STEP = 2.0  # of a margin
FARTHEST = 50.0
TINY = 1e-300
# Of differences that others leave no larger, rounding or the last of one's own votes made the sign:
# no slope anybody has moves such margins.
LEAST_DIFFERENCE = 1e-3
ESTIMATE, LOW, HIGH, P_VALUE, FIRST_STEP, LEAN = range(6)


class AttentionAsked(NamedTuple):
    """Whose own lean is estimated beside the slope; the lean of the others; what is wanted."""

    own_lean: NDArray[np.bool_]
    common_lean: float
    probit: bool
    interval: bool


@kernel()
def attention_shard(
    who: Ints,
    design: Design,
    cells: AttentionCells,
    variance: Floats,
    asked: AttentionAsked,
    out: Floats,
) -> None:
    most, seen = 1, 1
    for u in who:
        most = max(most, design.cells[u + 1] - design.cells[u])
        seen = max(seen, design.seen[u + 1] - design.seen[u])
    # Of trials a copy: read-only ones would be another type of `two_sided_p`.
    step, p, trials, moved = np.zeros(most), np.zeros(most), np.zeros(most), np.zeros(seen)
    room = make_room(most)
    for u in who:
        a, b = design.cells[u], design.cells[u + 1]
        own = AttentionCells(
            cells.difference[a:b],
            cells.trials[a:b],
            cells.wins[a:b],
            cells.position[a:b],
            cells.left_at[a:b],
            cells.right_at[a:b],
        )
        typical = _typical_difference(own)
        if typical < LEAST_DIFFERENCE:
            continue
        errors = variance[design.seen[u] : design.seen[u + 1]]
        with_lean = asked.own_lean[u]
        row, n, lean = out[u], b - a, asked.common_lean
        if with_lean:
            lean = _best_lean(own, 1.0, lean, asked.probit, room)
        _fill_probabilities(own, lean, asked.probit, room, p[:n], step[:n])
        observed, information, extra = _score_of_slope(
            own, with_lean, errors, (step[:n], p[:n], moved[: len(errors)])
        )
        for c in range(n):
            trials[c] = own.trials[c]
        row[P_VALUE] = two_sided_p(step[:n], trials[:n], p[:n], extra, observed, room)
        row[FIRST_STEP] = 1.0 + observed / information if information > 0.0 else np.nan
        row[LEAN] = lean
        if asked.interval:
            wider = 1.0 + extra / information if information > 0.0 else 1.0
            _estimate(own, typical, with_lean, asked, wider, row, room)


@inner_kernel(allocates=False)
def _typical_difference(own: AttentionCells) -> float:
    """Root mean square of the differences seen."""
    squares, votes = 0.0, 0.0
    for c in range(len(own.trials)):
        squares += own.trials[c] * own.difference[c] * own.difference[c]
        votes += own.trials[c]
    return math.sqrt(squares / votes) if votes > 0.0 else 0.0


@inner_kernel(allocates=False)
def one_probability(margin: float, probit: bool) -> tuple[float, float]:
    """Probability of left and its derivative."""
    if probit:
        density = 0.3989422804014327 * math.exp(-0.5 * margin * margin)
        return 0.5 * math.erfc(-0.7071067811865476 * margin), density
    p = 1.0 / (1.0 + math.exp(-margin))
    return p, p * (1.0 - p)


@inner_kernel(allocates=False)
def _fill_probabilities(
    own: AttentionCells, lean: float, probit: bool, room: Room, p: Floats, slope: Floats
) -> None:
    """Probabilities of left at slope 1 beside a lean, and their derivatives."""
    value = room.value
    for c in range(len(p)):
        value[c] = -(own.difference[c] + own.position[c] * lean)
    if probit:
        for c in range(len(p)):
            p[c], slope[c] = one_probability(-value[c], probit)
        return
    exponentials(room, len(p))
    for c in range(len(p)):
        p[c] = 1.0 / (1.0 + value[c])
        slope[c] = p[c] * (1.0 - p[c])


@inner_kernel(allocates=False)
def _score_of_slope(
    own: AttentionCells,
    with_lean: bool,
    errors: Floats,
    work: tuple[Floats, Floats, Floats],
) -> tuple[float, float, float]:
    """Score in the slope at 1, the part a lean explains taken out.

    `step` has derivatives of probabilities, in whose place comes what each win adds. Returns the
    score, its information, and the variance that errors of the common scores add to it.
    """
    step, p, moved = work
    leaning, shared = 0.0, 0.0
    for c in range(len(p)):
        weight = own.position[c] * own.trials[c] * step[c]
        leaning += weight
        shared += weight * own.difference[c]
    centre = shared / leaning if with_lean and leaning > 0.0 else 0.0
    moved[:] = 0.0
    observed, information = 0.0, 0.0
    for c in range(len(p)):
        slope, scatter = step[c], max(p[c] * (1.0 - p[c]), 1e-12)
        beyond = own.difference[c] - own.position[c] * centre
        step[c] = beyond * slope / scatter
        observed += step[c] * (own.wins[c] - own.trials[c] * p[c])
        information += own.trials[c] * step[c] * step[c] * scatter
        pushed = own.trials[c] * step[c] * slope
        moved[own.left_at[c]] += pushed
        moved[own.right_at[c]] -= pushed
    extra = 0.0
    for j in range(len(errors)):
        extra += moved[j] * moved[j] * errors[j]
    return observed, information, extra if extra > 1e-3 * information else 0.0


@inner_kernel(allocates=False)
def _best_lean(own: AttentionCells, slope: float, lean: float, probit: bool, room: Room) -> float:
    """The lean that fits best beside a slope: Fisher scoring with bounded steps."""
    for _ in range(MOST_STEPS):
        _, gradient, _, _, information = derivatives(own, slope, lean, 0.0, probit, room)
        step = gradient / max(information, TINY)
        lean += max(min(step, LONGEST_STEP), -LONGEST_STEP)
        if abs(step) < TOLERANCE:
            break
    return lean


@inner_kernel(allocates=False)
def _best_fit(
    own: AttentionCells, lean: float, with_lean: bool, typical: float, probit: bool, room: Room
) -> tuple[float, float, float]:
    """Slope and lean that fit best, and the information on the slope beside the lean."""
    slope, information = 1.0, 0.0
    for _ in range(MOST_STEPS):
        a, b, aa, ab, bb = derivatives(own, slope, lean, typical, probit, room)
        shared = ab / max(bb, TINY) if with_lean else 0.0
        information = max(aa - shared * ab, TINY)
        step = (a - shared * b) / information
        step = max(min(step, LONGEST_STEP / typical), -LONGEST_STEP / typical)
        slope += step
        if with_lean:
            turn = (b - ab * step) / max(bb, TINY)
            lean += max(min(turn, LONGEST_STEP), -LONGEST_STEP)
        if abs(step) < TOLERANCE:
            break
    return slope, lean, information


@inner_kernel(allocates=False)
def _interval_end(
    own: AttentionCells,
    start: tuple[float, float],
    with_lean: bool,
    typical: float,
    probit: bool,
    floor: float,
    room: Room,
) -> float:
    """Where the profile log-likelihood, which is concave, has fallen to `floor`: by Newton."""
    slope, lean = start
    limit = FARTHEST / typical
    for _ in range(MOST_STEPS):
        slope = min(max(slope, -limit), limit)
        if with_lean:
            lean = _best_lean(own, slope, lean, probit, room)
        height, gradient = likelihood_and_gradient(own, slope, lean, typical, probit, room)
        if gradient == 0.0:
            break
        slope -= (height - floor) / gradient
        if abs(height - floor) < CLOSE * abs(gradient):
            break
    return slope


@inner_kernel(allocates=False)
def _estimate(
    own: AttentionCells,
    typical: float,
    with_lean: bool,
    asked: AttentionAsked,
    wider: float,
    row: Floats,
    room: Room,
) -> None:
    """Slope with its interval; `wider` is for the errors of the common scores."""
    best, lean, information = _best_fit(own, row[LEAN], with_lean, typical, asked.probit, room)
    top, _ = likelihood_and_gradient(own, best, lean, typical, asked.probit, room)
    fall = CHI_SQUARE_95 * wider
    reach = math.sqrt(fall / information)
    row[ESTIMATE], row[LEAN] = best, lean
    for side, column in ((-1.0, LOW), (1.0, HIGH)):
        row[column] = _interval_end(
            own,
            (best + side * reach, lean),
            with_lean,
            typical,
            asked.probit,
            top - 0.5 * fall,
            room,
        )
