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
from numba import njit

from prefpath.model.design import Design, Floats, Ints, Target
from prefpath.model.problem import Problem
from prefpath.solver.kernels import (
    Rule,
    Scratch,
    add_to_block,
    dual_norm,
    vote_pull,
)

# Quadrature error of a waiting annotator's z that we accept, in units of its threshold.
QUADRATURE_TOLERANCE = 2e-3


class Waiting(NamedTuple):
    """What is known of each waiting annotator, at history entry `since`.

    `norm` is how large z was then, `reach` how long it would take to its threshold along its
    last slope, `drift` and `travel` how far theta had moved when that slope was taken.
    `dormant` ones have never been looked at. `share` is an annotator's share of all votes,
    `turning` how much their slope turns at most (deviation by drift and by travel, then bias).
    """

    waits: Ints
    dormant: Ints
    since: Ints
    z: Floats
    z_bias: Floats
    norm: Floats
    norm_bias: Floats
    reach: Floats
    reach_bias: Floats
    drift: Floats
    travel: Floats
    share: Floats
    turning: Floats


class History(NamedTuple):
    """The integral of theta (and, last, of the common bias) at the ends of past steps."""

    time: Floats
    integral: Floats
    drift: Floats
    travel: Floats


class Limits(NamedTuple):
    """How fast a gradient can be and can change, for one vote of weight 1."""

    steepest: float
    curvature: float
    curvature_change: float
    spread: float


def make_waiting(problem: Problem) -> Waiting:
    """Everybody waits, and nobody has been looked at."""
    n = problem.votes.n_annotators
    weight = np.zeros(n)
    sums = np.add.reduceat(
        np.append(problem.target.weight, 0.0), np.minimum(problem.design.cells[:-1], _last(problem))
    )
    filled = np.diff(problem.design.cells) > 0
    weight[filled] = sums[filled]
    share = weight / problem.total_weight
    return Waiting(
        waits=np.ones(n, dtype=np.int64),
        dormant=np.ones(n, dtype=np.int64),
        since=np.zeros(n, dtype=np.int64),
        z=np.zeros(int(problem.design.blocks[-1])),
        z_bias=np.zeros(n),
        norm=np.zeros(n),
        norm_bias=np.zeros(n),
        reach=np.full(n, np.inf),
        reach_bias=np.full(n, np.inf),
        drift=np.zeros(n),
        travel=np.zeros(n),
        share=share,
        turning=_turning(problem, share),
    )


def _turning(problem: Problem, share: Floats) -> Floats:
    """Bounds of an annotator's change of slope, for curvature 1 and unit drift or travel.

    Without features the slope is a graph Laplacian times theta: an entry of it, and half of its
    norm, is bounded by the heaviest item. The range of a vector is at most sqrt(2) norms.
    """
    heaviest = heaviest_items(problem.design, problem.target) / problem.total_weight
    spread = pair_spread(problem)
    by_drift = spread * share
    by_travel = math.sqrt(2.0) * by_drift
    if problem.features is None:
        if problem.penalty.group:
            by_travel = 2.0 * heaviest
        else:
            by_drift, by_travel = heaviest, math.sqrt(2.0) * heaviest
    return np.stack((by_drift, by_travel, share, np.sqrt(2.0 * share * heaviest)), axis=1)


@njit(cache=True, nogil=True, error_model="numpy")
def heaviest_items(design: Design, target: Target) -> Floats:
    """For each annotator the weight of the votes on the item they voted on most."""
    heaviest = np.zeros(len(design.cells) - 1)
    weight = np.zeros(1)
    for u in range(len(heaviest)):
        n_seen = design.seen[u + 1] - design.seen[u]
        if n_seen > len(weight):
            weight = np.zeros(n_seen)
        weight[:n_seen] = 0.0
        for c in range(design.cells[u], design.cells[u + 1]):
            weight[design.left_at[c]] += target.weight[c]
            weight[design.right_at[c]] += target.weight[c]
        for k in range(n_seen):
            heaviest[u] = max(heaviest[u], weight[k])
    return heaviest


def _last(problem: Problem) -> int:
    return len(problem.target.weight)


def pair_spread(problem: Problem) -> float:
    """Largest dual norm of one vote's gradient in a deviation, for slope 1."""
    if problem.features is None:
        return math.sqrt(2.0) if problem.penalty.group else 1.0
    if problem.penalty.group:
        return 2.0 * float(np.linalg.norm(problem.features, axis=1).max())
    return float(np.ptp(problem.features, axis=0).max())


def surely_waiting_until(share: Floats, rule: Rule, limits: Limits) -> float:
    """Time before which no annotator can pop up, however they vote."""
    with np.errstate(divide="ignore"):
        deviation = rule.deviation_threshold / (limits.steepest * limits.spread * share)
        bias = rule.position_threshold / (limits.steepest * share)
    return float(min(deviation.min(), bias.min()))


@njit(cache=True, nogil=True, error_model="numpy")
def find_suspects(
    waiting: Waiting,
    history: History,
    rule: Rule,
    limits: Limits,
    time: float,
    drift: float,
    travel: float,
) -> Ints:
    """Waiting annotators who are not certain to be still waiting at `time`.

    `drift` and `travel` are how far theta will have moved by then.
    """
    found = np.empty(len(waiting.waits), dtype=np.int64)
    n_found = 0
    for u in range(len(waiting.waits)):
        if waiting.waits[u] == 0:
            continue
        share = waiting.share[u]
        if waiting.dormant[u] == 1:
            most_bias = time * limits.steepest * share
            most = most_bias * limits.spread
        else:
            passed = time - history.time[waiting.since[u]]
            drifted, travelled = drift - waiting.drift[u], travel - waiting.travel[u]
            turn = waiting.turning[u]
            most = passed * limits.curvature * min(turn[0] * drifted, turn[1] * travelled)
            most += _grown(waiting.norm[u], rule.deviation_threshold[u], passed, waiting.reach[u])
            most_bias = passed * limits.curvature * min(turn[2] * drifted, turn[3] * travelled)
            most_bias += _grown(
                waiting.norm_bias[u], rule.position_threshold[u], passed, waiting.reach_bias[u]
            )
        if most >= rule.deviation_threshold[u] or most_bias >= rule.position_threshold[u]:
            found[n_found] = u
            n_found += 1
    return found[:n_found]


@njit(cache=True, nogil=True, error_model="numpy")
def _grown(norm: float, threshold: float, passed: float, reach: float) -> float:
    """Bound of a norm that along its slope is at the threshold after `reach`: it is convex."""
    if passed >= reach:
        return np.inf
    if reach == np.inf:
        return norm
    return norm + (threshold - norm) * passed / reach


@njit(cache=True, nogil=True, error_model="numpy")
def refresh(
    who: Ints,
    waiting: Waiting,
    history: History,
    now: int,
    design: Design,
    target: Target,
    rule: Rule,
    limits: Limits,
    tolerance: float,
    scratch: Scratch,
) -> int:
    """Bring z of some waiting annotators up to history entry `now`; count the cells read."""
    cells_read = 0
    for index in range(len(who)):
        u = who[index]
        start, stop = design.blocks[u], design.blocks[u + 1]
        slope = scratch.coefficient
        sideways = 0.0
        pull = limits.curvature_change * limits.spread * history.time[now] / (24.0 * tolerance)
        # Over a panel, the squares of the margins' changes sum to at most share drift^2, and to
        # at most the square of the bias' turning by travel.
        by_drift, by_travel = pull * waiting.share[u], pull * waiting.turning[u, 3] ** 2
        by_travel /= max(waiting.share[u], 1e-300)
        k = waiting.since[u]
        while k < now:
            panel_end = k + 1
            while panel_end < now and (
                by_drift * (history.drift[panel_end + 1] - history.drift[k]) ** 2 <= 1.0
                or by_travel * (history.travel[panel_end + 1] - history.travel[k]) ** 2 <= 1.0
            ):
                panel_end += 1
            sideways = panel_slope(u, history, k, panel_end, design, target, rule, slope, scratch)
            length = history.time[panel_end] - history.time[k]
            for d in range(stop - start):
                waiting.z[start + d] += length * slope[d]
            waiting.z_bias[u] += length * sideways
            waiting.drift[u], waiting.travel[u] = history.drift[k], history.travel[k]
            cells_read += design.cells[u + 1] - design.cells[u]
            k = panel_end
        if waiting.since[u] < now:
            waiting.dormant[u] = 0
            waiting.since[u] = now
            note_reach(u, waiting, design, rule, slope, sideways)
    return cells_read


@njit(cache=True, nogil=True, error_model="numpy")
def panel_slope(
    u: int,
    history: History,
    first: int,
    last: int,
    design: Design,
    target: Target,
    rule: Rule,
    slope: Floats,
    scratch: Scratch,
) -> float:
    """z' of a waiting annotator at the mean of theta between two history entries."""
    length = history.time[last] - history.time[first]
    seen = design.seen[u]
    for k in range(design.seen[u + 1] - seen):
        item = design.seen_item[seen + k]
        moved = history.integral[last, item] - history.integral[first, item]
        scratch.score[k] = moved / length
    bias = (history.integral[last, -1] - history.integral[first, -1]) / length
    sideways = vote_pull(u, design, target, rule, bias, scratch)
    for d in range(design.blocks[u + 1] - design.blocks[u]):
        slope[d] = 0.0
    add_to_block(u, design, scratch.pull, -1.0 / rule.total, slope, 0)
    return -sideways / rule.total


@njit(cache=True, nogil=True, error_model="numpy")
def note_reach(
    u: int, waiting: Waiting, design: Design, rule: Rule, slope: Floats, sideways: float
) -> None:
    """Note how large z is and how long it would take to its threshold along its slope."""
    start, stop = design.blocks[u], design.blocks[u + 1]
    waiting.norm[u] = dual_norm(waiting.z, start, stop, rule.group)
    waiting.norm_bias[u] = abs(waiting.z_bias[u])
    waiting.reach[u] = _reach(
        waiting.z, slope, start, stop, rule.deviation_threshold[u], rule.group
    )
    room = rule.position_threshold[u] - math.copysign(1.0, sideways) * waiting.z_bias[u]
    waiting.reach_bias[u] = max(room, 0.0) / abs(sideways) if sideways != 0.0 else np.inf


@njit(cache=True, nogil=True, error_model="numpy")
def _reach(z: Floats, slope: Floats, start: int, stop: int, threshold: float, group: bool) -> float:
    if group:
        a, b, c = 0.0, 0.0, -threshold * threshold
        for k in range(stop - start):
            a += slope[k] * slope[k]
            b += z[start + k] * slope[k]
            c += z[start + k] * z[start + k]
        if c >= 0.0:
            return 0.0
        return (math.sqrt(b * b - a * c) - b) / a if a > 0.0 else np.inf
    shortest = np.inf
    for k in range(stop - start):
        if slope[k] != 0.0:
            room = threshold - math.copysign(1.0, slope[k]) * z[start + k]
            shortest = min(shortest, max(room, 0.0) / abs(slope[k]))
    return shortest
