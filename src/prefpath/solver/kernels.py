"""Compiled kernels: arrays and scalars in, buffers filled; fused per annotator.

Every kernel works on the annotators `who[first:last]`, writes each annotator's own part in
place, adds to a buffer of its own what concerns the items, and releases the GIL: threads and
cluster workers run the same function on other shards.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from prefpath.model.design import Design, Floats, Ints, Places, Target
from prefpath.model.losses import slopes
from prefpath.model.problem import Problem

# Margins, slopes and sums are three loops over so many cells: the first two then have nothing
# to wait for.
CELLS_AT_ONCE = 256


class Rule(NamedTuple):
    """What the kernels need to know of loss and penalty."""

    loss: int
    parameter: float
    group: bool
    kappa: float
    total: float
    deviation_threshold: Floats
    position_threshold: Floats


class Scratch(NamedTuple):
    """Buffers of one shard, so that no kernel allocates."""

    coefficient: Floats
    score: Floats
    pull: Floats
    slope: Floats
    item_pull: Floats


def rule_of(problem: Problem) -> Rule:
    """The problem's loss and penalty in the form the kernels read."""
    return Rule(
        loss=problem.loss.code,
        parameter=float(problem.loss.parameter),
        group=problem.penalty.group,
        kappa=problem.kappa,
        total=problem.total_weight,
        deviation_threshold=problem.deviation_threshold,
        position_threshold=problem.position_threshold,
    )


def make_scratch(design: Design, n_items: int) -> Scratch:
    """Buffers large enough for any annotator of the design."""
    widest_block = int(np.diff(design.blocks).max(initial=1))
    widest_view = int(np.diff(design.seen).max(initial=1))
    return Scratch(
        coefficient=np.zeros(widest_block),
        score=np.zeros(widest_view),
        pull=np.zeros(widest_view),
        slope=np.zeros(CELLS_AT_ONCE),
        item_pull=np.zeros(n_items),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def common_scores(common: Floats, design: Design, theta: Floats) -> None:
    """`theta = Phi eta`."""
    if design.features.shape[0] == 0:
        for i in range(len(theta)):
            theta[i] = common[i]
        return
    for i in range(len(theta)):
        row = design.features[i]
        total = 0.0
        for d in range(len(row)):
            total += row[d] * common[d]
        theta[i] = total


@njit(cache=True, nogil=True, error_model="numpy")
def dual_norm(z: Floats, start: int, stop: int, group: bool) -> float:
    """How far a block is from entering: its 2-norm (group) or largest entry (l1)."""
    size = 0.0
    if group:
        for k in range(start, stop):
            size += z[k] * z[k]
        return math.sqrt(size)
    for k in range(start, stop):
        size = max(size, abs(z[k]))
    return size


@njit(cache=True, nogil=True, error_model="numpy")
def soft_threshold(z: float, threshold: float) -> float:
    """The prox of the absolute value."""
    if z > threshold:
        return z - threshold
    if z < -threshold:
        return z + threshold
    return 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def shrink_block(
    z: Floats, start: int, stop: int, threshold: float, kappa: float, group: bool, out: Floats
) -> bool:
    """`out = kappa * prox(z)`; tells whether any of it is not zero."""
    size = dual_norm(z, start, stop, group)
    if size <= threshold:
        for k in range(stop - start):
            out[k] = 0.0
        return False
    if group:
        factor = kappa * (1.0 - threshold / size)
        for k in range(stop - start):
            out[k] = factor * z[start + k]
    else:
        for k in range(stop - start):
            out[k] = kappa * soft_threshold(z[start + k], threshold)
    return True


# Sums in any order: several products at once.
@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def own_scores(
    u: int, design: Design, theta: Floats, deviates: bool, coefficient: Floats, score: Floats
) -> None:
    """The scores annotator u gives to the items they have seen: common plus deviation."""
    features, seen = design.features, design.seen_item[design.seen[u] : design.seen[u + 1]]
    if not deviates:
        for k in range(len(seen)):
            score[k] = theta[seen[k]]
    elif features.shape[0] == 0:
        for k in range(len(seen)):
            score[k] = theta[seen[k]] + coefficient[k]
    else:
        for k in range(len(seen)):
            item = np.uint32(seen[k])
            total = theta[item]
            for d in range(features.shape[1]):
                total += features[item, d] * coefficient[d]
            score[k] = total


@njit(cache=True, nogil=True, error_model="numpy")
def vote_pull(
    u: int, design: Design, target: Target, rule: Rule, bias: float, scratch: Scratch
) -> float:
    """Sum of the votes' gradients in u's scores (`scratch.pull`) and in u's bias (returned)."""
    score, pull, slope = scratch.score, scratch.pull, scratch.slope
    for k in range(design.seen[u + 1] - design.seen[u]):
        pull[k] = 0.0
    sideways = 0.0
    stop = design.cells[u + 1]
    for start in range(design.cells[u], stop, CELLS_AT_ONCE):
        end = min(start + CELLS_AT_ONCE, stop)
        left, right = design.left_at[start:end], design.right_at[start:end]
        position = design.position[start:end]
        for k in range(len(left)):
            slope[k] = score[left[k]] - score[right[k]] + position[k] * bias
        slopes(rule.loss, rule.parameter, slope, target.choice, target.weight, start, len(left))
        add_to_pairs(left, right, slope, pull)
        sideways += along(position, slope)
    return sideways


@njit(cache=True, nogil=True, error_model="numpy")
def add_to_pairs(first: Places, second: Places, slope: Floats, pull: Floats) -> None:
    """Add each slope to its pair's first item and take it from the second.

    Pairs are sorted by their first item: equal ones are summed up before they are stored, since
    a sum that has just been stored is slow to read again.
    """
    item, total = first[0], 0.0
    for k in range(len(first)):
        if first[k] != item:
            pull[item] += total
            item, total = first[k], 0.0
        total += slope[k]
        pull[second[k]] -= slope[k]
    pull[item] += total


# Sums in any order: several products at once.
@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def along(position: NDArray[np.int8], slope: Floats) -> float:
    """The sum of the slopes, each with its side."""
    total = 0.0
    for k in range(len(position)):
        total += position[k] * slope[k]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def add_to_items(u: int, design: Design, pull: Floats, item_pull: Floats) -> None:
    """Add u's pull on the items they have seen to everybody's."""
    start = design.seen[u]
    for k in range(design.seen[u + 1] - start):
        item_pull[design.seen_item[start + k]] += pull[k]


@njit(cache=True, nogil=True, error_model="numpy")
def add_to_block(u: int, design: Design, pull: Floats, factor: float, out: Floats, at: int) -> None:
    """`out[at:] += factor *` the gradient in u's coefficients."""
    features, seen = design.features, design.seen_item[design.seen[u] : design.seen[u + 1]]
    if features.shape[0] == 0:
        block = out[at : at + len(seen)]
        for k in range(len(block)):
            block[k] += factor * pull[k]
        return
    block = out[at : at + features.shape[1]]
    for k in range(len(seen)):
        scaled, item = factor * pull[k], np.uint32(seen[k])
        for d in range(len(block)):
            block[d] += scaled * features[item, d]


@njit(cache=True, nogil=True, error_model="numpy")
def crossing(before: float, after: float, threshold: float) -> float:
    """Share of a step after which a quantity that grew past the threshold reached it."""
    if before >= threshold or after <= before:
        return 0.0
    return (threshold - before) / (after - before)


@njit(cache=True, nogil=True, error_model="numpy")
def lbi_shard(
    who: Ints,
    design: Design,
    target: Target,
    rule: Rule,
    theta: Floats,
    common_bias: float,
    z: Floats,
    z_bias: Floats,
    entered: Floats,
    entered_bias: Floats,
    time: float,
    step: float,
    scratch: Scratch,
) -> float:
    """One step of Algorithm 1 for a shard of annotators.

    Reads `(theta, z)` of this iteration, moves `z` to the next, leaves the shard's gradient
    in the items' scores in `scratch.item_pull` and returns the one in the common bias.
    """
    scratch.item_pull[:] = 0.0
    sideways_sum = 0.0
    factor = -step / rule.total
    for index in range(len(who)):
        u = who[index]
        start, stop = design.blocks[u], design.blocks[u + 1]
        threshold = rule.deviation_threshold[u]
        deviates = shrink_block(
            z, start, stop, threshold, rule.kappa, rule.group, scratch.coefficient
        )
        bias = rule.kappa * soft_threshold(z_bias[u], rule.position_threshold[u])
        own_scores(u, design, theta, deviates, scratch.coefficient, scratch.score)
        sideways = vote_pull(u, design, target, rule, bias + common_bias, scratch)
        add_to_items(u, design, scratch.pull, scratch.item_pull)
        sideways_sum += sideways
        waiting = entered[u] == np.inf
        before = dual_norm(z, start, stop, rule.group) if waiting else 0.0
        add_to_block(u, design, scratch.pull, factor, z, start)
        if waiting:
            after = dual_norm(z, start, stop, rule.group)
            if after > threshold:
                entered[u] = time + step * crossing(before, after, threshold)
        before = abs(z_bias[u])
        z_bias[u] += factor * sideways
        after, threshold = abs(z_bias[u]), rule.position_threshold[u]
        if entered_bias[u] == np.inf and after > threshold:
            entered_bias[u] = time + step * crossing(before, after, threshold)
    return sideways_sum


@njit(cache=True, nogil=True, error_model="numpy")
def gradient_shard(
    who: Ints,
    design: Design,
    target: Target,
    rule: Rule,
    theta: Floats,
    common_bias: float,
    coefficient: Floats,
    bias: Floats,
    out: Floats,
    out_bias: Floats,
    scratch: Scratch,
) -> float:
    """Gradient of the mean loss at given coefficients, for a shard of annotators."""
    scratch.item_pull[:] = 0.0
    sideways_sum = 0.0
    for index in range(len(who)):
        u = who[index]
        start, stop = design.blocks[u], design.blocks[u + 1]
        scratch.coefficient[: stop - start] = coefficient[start:stop]
        own_scores(u, design, theta, True, scratch.coefficient, scratch.score)
        sideways = vote_pull(u, design, target, rule, bias[u] + common_bias, scratch)
        add_to_items(u, design, scratch.pull, scratch.item_pull)
        out[start:stop] = 0.0
        add_to_block(u, design, scratch.pull, 1.0 / rule.total, out, start)
        out_bias[u] = sideways / rule.total
        sideways_sum += sideways
    return sideways_sum
