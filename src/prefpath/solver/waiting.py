"""Annotators who wait: their z is an integral of a gradient in the common scores alone.

Nothing an annotator does matters before they pop up, so their z is not followed but made up
for when it is needed: `z(b) = z(a) - (b - a) * grad(mean of theta over [a, b])`, exact for the
linear loss and of second order for the others. Between two such refreshes a bound tells that
they cannot have popped up:

- never looked at: no vote pulls harder than the steepest slope of the loss so far;
- looked at: z grows along its last slope, and the slope cannot turn faster than theta moves.

How far theta moves is measured twice, by the range of its changes (`drift`) and by their norm
(`travel`): an annotator with few items in many votes is bounded better by the first, one whose
votes are spread over all items by the second.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from prefpath.compiling import by_reference, inner_kernel, kernel
from prefpath.model.design import Design, Floats, Ints
from prefpath.model.loops import clear
from prefpath.model.penalties import dual_norm, scalar_time_to_leave, time_to_leave
from prefpath.model.problem import Problem
from prefpath.solver.arguments import (
    DEVIATION,
    FIRST_SCALAR,
    Inputs,
    Personal,
    Scratch,
    Terms,
    zero_personal,
)
from prefpath.solver.heaviest import heaviest_items, weight_by_annotator
from prefpath.solver.kernels import add_to_block, vote_gradient

# Quadrature error of a waiting annotator's z that we accept, in units of its threshold: entry
# times are promised to 1 %, and this is a fifth of that.
QUADRATURE_TOLERANCE = 2e-3


@by_reference
class Waiting(NamedTuple):
    """What is known of each waiting annotator, at history entry `since`.

    Columns are effects: `norm` is how large z was then, `reach` how long it would take to its
    threshold along its last slope. `drift` and `travel` are how far theta had moved when that
    slope was taken. `dormant` ones have never been looked at. `share` is an annotator's share of
    all votes, `turning[u, effect]` how much their slope turns at most (by drift, by travel).
    """

    waits: Ints
    dormant: Ints
    since: Ints
    z: Personal
    norm: Floats
    reach: Floats
    drift: Floats
    travel: Floats
    share: Floats
    turning: Floats


@by_reference
class History(NamedTuple):
    """The integral of theta (and, last, of the common position effect) at ends of past steps.

    `theta` itself is kept with attention only, whose gradient is not affine in theta; it has
    no columns else.
    """

    time: Floats
    integral: Floats
    theta: Floats
    drift: Floats
    travel: Floats


@by_reference
class GradientBounds(NamedTuple):
    """How fast a gradient can be and can change, for one vote of weight 1.

    `steepest[effect]` bounds the dual norm of a gradient, `curvature[effect]` how it changes
    with a margin, and `quadrature` the error of a mean's gradient, whatever the effect.
    """

    steepest: Floats
    curvature: Floats
    quadrature: float


def make_waiting(problem: Problem) -> Waiting:
    """Everybody waits, and nobody has been looked at."""
    z = zero_personal(problem)
    n, n_effects = len(z.scalar), FIRST_SCALAR + z.scalar.shape[1]
    share = weight_by_annotator(problem) / problem.total_weight
    return Waiting(
        waits=np.ones(n, dtype=np.int64),
        dormant=np.ones(n, dtype=np.int64),
        since=np.zeros(n, dtype=np.int64),
        z=z,
        norm=np.zeros((n, n_effects)),
        reach=np.full((n, n_effects), np.inf),
        drift=np.zeros(n),
        travel=np.zeros(n),
        share=share,
        turning=_turning(problem, share),
    )


def _turning(problem: Problem, share: Floats) -> Floats:
    """Bounds of an annotator's change of slope, for curvature 1 and unit drift or travel.

    Without features the slope is a graph Laplacian times theta, whose rows are bounded by the
    heaviest item. The range of a vector is at most sqrt(2) norms.
    """
    heaviest = heaviest_items(problem.design, problem.target) / problem.total_weight
    if problem.features is None:
        block = problem.penalty.laplacian_bounds(share, heaviest)
    else:
        by_drift = problem.penalty.pair_norm(problem.features) * share
        block = by_drift, math.sqrt(2.0) * by_drift
    scalar = share, np.sqrt(2.0 * share * heaviest)
    effects = [block, *[scalar] * problem.n_scalars]
    return np.stack([np.stack(effect, axis=1) for effect in effects], axis=1)


def spread(theta: Floats, n_items: int) -> tuple[float, float]:
    """How much a margin can change where the scores (and, last, a common bias) change so.

    By the range of the changes, and by their norm; a bias is one change of every margin.
    """
    scores, bias = theta[:n_items], float(np.abs(theta[n_items:]).sum())
    apart = scores - scores.sum() / n_items
    norm = math.sqrt(float((apart * apart).sum()))
    return float(scores.max() - scores.min()) + bias, norm + 0.5 * math.sqrt(n_items) * bias


def surely_waiting_until(share: Floats, terms: Terms, bounds: GradientBounds) -> float:
    """Time before which no annotator can pop up, however they vote."""
    with np.errstate(divide="ignore"):
        return float((terms.threshold / (bounds.steepest * share[:, None])).min())


def find_suspects(
    waiting: Waiting,
    history: History,
    terms: Terms,
    bounds: GradientBounds,
    time: float,
    drift: float,
    travel: float,
) -> Ints:
    """Waiting annotators who are not certain to be still waiting at `time`.

    `drift` and `travel` are how far theta will have moved by then.
    """
    found = np.empty(len(waiting.waits), dtype=np.int64)
    return found[: note_suspects(waiting, history, terms, bounds, time, drift, travel, found)]


@kernel(allocates=False)
def note_suspects(
    waiting: Waiting,
    history: History,
    terms: Terms,
    bounds: GradientBounds,
    time: float,
    drift: float,
    travel: float,
    found: Ints,
) -> int:
    """Fill in who they are; how many there are."""
    n_found = 0
    for u in range(len(waiting.waits)):
        if waiting.waits[u] == 0:
            continue
        passed = time - history.time[waiting.since[u]]
        drifted, travelled = drift - waiting.drift[u], travel - waiting.travel[u]
        for effect in range(terms.threshold.shape[1]):
            threshold = terms.threshold[u, effect]
            if waiting.dormant[u] == 1:
                most = time * bounds.steepest[effect] * waiting.share[u]
            else:
                by_drift = waiting.turning[u, effect, 0] * drifted
                turned = min(by_drift, waiting.turning[u, effect, 1] * travelled)
                most = passed * bounds.curvature[effect] * turned
                most += _grown(waiting.norm[u, effect], threshold, passed, waiting.reach[u, effect])
            if most >= threshold:
                found[n_found] = u
                n_found += 1
                break
    return n_found


@inner_kernel(allocates=False)
def _grown(norm: float, threshold: float, passed: float, reach: float) -> float:
    """Bound of a norm that along its slope is at the threshold after `reach`: it is convex."""
    if passed >= reach:
        return np.inf
    if reach == np.inf:
        return norm
    return norm + (threshold - norm) * passed / reach


@kernel(allocates=False)
def refresh(
    who: Ints,
    waiting: Waiting,
    history: History,
    now: int,
    inputs: Inputs,
    bounds: GradientBounds,
    scratch: Scratch,
) -> int:
    """Bring z of some waiting annotators up to history entry `now`; count the cells read."""
    cells_read = 0
    blocks, cells = inputs.design.blocks, inputs.design.cells
    z, slope, scalar_slope = waiting.z, scratch.coefficient, scratch.scalar
    for index in range(len(who)):
        u = who[index]
        start, width = blocks[u], blocks[u + 1] - blocks[u]
        k = waiting.since[u]
        while k < now:
            last = _panel_end(u, k, waiting, history, now, bounds)
            panel_slope(u, history, k, last, inputs, scratch)
            length = history.time[last] - history.time[k]
            for d in range(width):
                z.block[start + d] += length * slope[d]
            for d in range(len(scalar_slope)):
                z.scalar[u, d] += length * scalar_slope[d]
            waiting.drift[u], waiting.travel[u] = history.drift[k], history.travel[k]
            cells_read += _points(history) * (cells[u + 1] - cells[u])
            k = last
        if waiting.since[u] < now:
            waiting.dormant[u] = 0
            waiting.since[u] = now
            _note_reach(u, waiting, inputs, scratch)
    return cells_read


@inner_kernel(allocates=False)
def _panel_end(
    u: int, first: int, waiting: Waiting, history: History, now: int, bounds: GradientBounds
) -> int:
    """How far one panel of the quadrature may reach from history entry `first`.

    Over a panel, the squares of the margins' changes sum to at most share drift^2, and to at
    most the square of the position's turning by travel.
    """
    pull = bounds.quadrature * history.time[now] / (24.0 * QUADRATURE_TOLERANCE)
    turning, share = waiting.turning[u, FIRST_SCALAR, 1], waiting.share[u]
    by_drift, by_travel = pull * share, pull * (turning * turning) / max(share, 1e-300)
    last = first + 1
    while last < now:
        drifted = history.drift[last + 1] - history.drift[first]
        travelled = history.travel[last + 1] - history.travel[first]
        if by_drift * (drifted * drifted) <= 1.0 or by_travel * (travelled * travelled) <= 1.0:
            last += 1
        else:
            break
    return last


@inner_kernel(allocates=False)
def _points(history: History) -> int:
    """Points of a panel: the mean of theta, or with attention Gauss's two on a straight move."""
    return 2 if history.theta.shape[1] > 0 else 1


@inner_kernel(allocates=False)
def panel_slope(
    u: int, history: History, first: int, last: int, inputs: Inputs, scratch: Scratch
) -> None:
    """z' of a waiting annotator in the mean between two history entries.

    It goes to the scratch: of the block to `coefficient`, of the scalars to `scalar`.
    """
    design, n_points = inputs.design, _points(history)
    start = np.int64(0)  # to the compiler, 0 itself would be another type
    clear(scratch.coefficient, start, design.blocks[u + 1] - design.blocks[u])
    clear(scratch.scalar, start, len(scratch.scalar))
    for point in range(n_points):
        shift = (point - 0.5) / math.sqrt(3.0) if n_points == 2 else 0.0
        position = _panel_scores(u, history, first, last, shift, design, scratch.score)
        _add_slope(u, position, inputs, 1.0 / n_points, scratch)


@inner_kernel(allocates=False)
def _panel_scores(
    u: int, history: History, first: int, last: int, shift: float, design: Design, score: Floats
) -> float:
    """Scores at the mean of theta, shifted by a share of its move; the common position effect."""
    length = history.time[last] - history.time[first]
    seen = design.seen[u]
    for k in range(design.seen[u + 1] - seen):
        item = design.seen_item[seen + k]
        score[k] = (history.integral[last, item] - history.integral[first, item]) / length
        if shift != 0.0:
            score[k] += shift * (history.theta[last, item] - history.theta[first, item])
    position = (history.integral[last, -1] - history.integral[first, -1]) / length
    if shift != 0.0:
        position += shift * (history.theta[last, -1] - history.theta[first, -1])
    return position


@inner_kernel(allocates=False)
def _add_slope(u: int, position: float, inputs: Inputs, share: float, scratch: Scratch) -> None:
    """Add a share of z' at the scores in the scratch to what the scratch has of it."""
    design, factor = inputs.design, -share / inputs.terms.total
    gradient = vote_gradient(u, inputs, position, scratch)
    scratch.scalar[0] -= share * gradient / inputs.terms.total
    if len(scratch.scalar) > 1:
        product = 0.0
        for k in range(design.seen[u + 1] - design.seen[u]):
            product += scratch.score_gradient[k] * scratch.score[k]
        scratch.scalar[1] += factor * inputs.terms.attention_unit * product
    start = np.int64(0)  # to the compiler, 0 itself would be another type
    add_to_block(u, design, scratch.score_gradient, factor, scratch.coefficient, start)


@inner_kernel(allocates=False)
def _note_reach(u: int, waiting: Waiting, inputs: Inputs, scratch: Scratch) -> None:
    """Note how large z is and how long it would take to its threshold along its slope."""
    terms, z = inputs.terms, waiting.z
    start, stop = inputs.design.blocks[u], inputs.design.blocks[u + 1]
    waiting.norm[u, DEVIATION] = dual_norm(terms.penalty, z.block, start, stop)
    waiting.reach[u, DEVIATION] = time_to_leave(
        terms.penalty, z.block, scratch.coefficient, start, stop, terms.threshold[u, DEVIATION]
    )
    for k in range(z.scalar.shape[1]):
        effect = FIRST_SCALAR + k
        waiting.norm[u, effect] = abs(z.scalar[u, k])
        waiting.reach[u, effect] = scalar_time_to_leave(
            z.scalar[u, k], scratch.scalar[k], terms.threshold[u, effect]
        )
