"""Compiled kernels: arrays and scalars in, buffers filled; fused per annotator.

An annotator owns sparse parameters: a *block* (the deviation) and *scalars* (the position bias;
see docs/architecture.md, "The widened model in code"). Only `unit_gradient` knows how they enter
a margin. Every kernel writes each annotator's own part in place, adds to a buffer of its own what
concerns the items, and releases the GIL: threads and cluster workers run the same function on
other shards.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prefpath.compiling import inner_kernel, kernel
from prefpath.model.design import Design, Floats, Ints, Places
from prefpath.model.loops import clear
from prefpath.model.penalties import scaled_prox, soft_threshold
from prefpath.model.scalar_losses import scalar_curvature, slopes
from prefpath.solver.arguments import (
    CELLS_AT_ONCE,
    DEVIATION,
    FIRST_SCALAR,
    CommonPart,
    Inputs,
    Personal,
    Scratch,
    Terms,
)


@kernel(allocates=False)
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


@inner_kernel(allocates=False)
def value_block(u: int, z: Floats, start: int, stop: int, terms: Terms, scratch: Scratch) -> bool:
    """Put `kappa * prox` of u's block into the scratch; tells whether any of it is not zero."""
    threshold = terms.threshold[u, DEVIATION]
    return scaled_prox(terms.penalty, z, start, stop, threshold, terms.kappa, scratch.coefficient)


@inner_kernel(allocates=False)
def value_scalars(u: int, z: Floats, terms: Terms, scratch: Scratch) -> None:
    """Put `kappa * prox` of u's scalars into the scratch."""
    for k in range(len(z)):
        threshold = terms.threshold[u, FIRST_SCALAR + k]
        scratch.scalar[k] = terms.kappa * soft_threshold(z[k], threshold)


@inner_kernel(allocates=False)
def unit_gradient(
    u: int, inputs: Inputs, common: CommonPart, deviates: bool, scratch: Scratch
) -> None:
    """The gradient of u's votes at the values in the scratch.

    In u's scores and scalars it is left in the scratch; in the items' scores it is added to
    what is there. This and `unit_scores` alone know how parameters enter a margin.
    """
    attention = unit_scores(u, inputs, common.theta, deviates, scratch)
    position = scratch.scalar[0] + common.position
    scratch.scalar_gradient[0] = vote_gradient(u, inputs, position, scratch)
    if len(scratch.scalar) > 1:
        seen = inputs.design.seen_item[inputs.design.seen[u] : inputs.design.seen[u + 1]]
        total = 0.0
        for k in range(len(seen)):
            total += scratch.score_gradient[k] * common.theta[seen[k]]
        scratch.scalar_gradient[1] = inputs.terms.attention_unit * total
    seen_by = attention * inputs.terms.stands_for[u]
    add_to_items(u, inputs.design, scratch.score_gradient, seen_by, scratch.item_gradient)


@inner_kernel(allocates=False)
def unit_scores(u: int, inputs: Inputs, theta: Floats, deviates: bool, scratch: Scratch) -> float:
    """The scores of u's items at the values in the scratch, without position effects.

    Returns `1 + sigma`, with which u sees the common scores.
    """
    attention = 1.0
    if len(scratch.scalar) > 1:
        attention += inputs.terms.attention_unit * scratch.scalar[1]
    coefficient, score = scratch.coefficient, scratch.score
    own_scores(u, inputs.design, theta, deviates, coefficient, score)
    if attention != 1.0:  # apart, so that without attention not a bit changes
        seen = inputs.design.seen_item[inputs.design.seen[u] : inputs.design.seen[u + 1]]
        for k in range(len(seen)):
            score[k] += (attention - 1.0) * theta[seen[k]]
    return attention


# Sums in any order: several products at once.
@inner_kernel(allocates=False, fastmath={"reassoc", "contract"})
def own_scores(
    u: int,
    design: Design,
    theta: Floats,
    deviates: bool,
    coefficient: Floats,
    score: Floats,
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


@inner_kernel(allocates=False)
def vote_gradient(u: int, inputs: Inputs, position_effect: float, scratch: Scratch) -> float:
    """Sum of the votes' gradients in u's scores (to the scratch) and in u's position bias."""
    design, target, terms = inputs
    score, score_gradient, slope = scratch.score, scratch.score_gradient, scratch.slope
    for k in range(design.seen[u + 1] - design.seen[u]):
        score_gradient[k] = 0.0
    position_gradient = 0.0
    stop = design.cells[u + 1]
    for start in range(design.cells[u], stop, CELLS_AT_ONCE):
        end = min(start + CELLS_AT_ONCE, stop)
        left, right = design.left_at[start:end], design.right_at[start:end]
        position = design.position[start:end]
        for k in range(len(left)):
            slope[k] = score[left[k]] - score[right[k]] + position[k] * position_effect
        slopes(terms.loss, terms.parameter, slope, target.choice, target.weight, start, len(left))
        add_to_pairs(left, right, slope, score_gradient)
        position_gradient += signed_sum(position, slope)
    return position_gradient


@inner_kernel(allocates=False)
def add_to_pairs(first: Places, second: Places, slope: Floats, gradient: Floats) -> None:
    """Add each slope to its pair's first item and take it from the second.

    Pairs are sorted by their first item: equal ones are summed up before they are stored, since
    a sum that has just been stored is slow to read again.
    """
    item, total = first[0], 0.0
    for k in range(len(first)):
        if first[k] != item:
            gradient[item] += total
            item, total = first[k], 0.0
        total += slope[k]
        gradient[second[k]] -= slope[k]
    gradient[item] += total


# Sums in any order: several products at once.
@inner_kernel(allocates=False, fastmath={"reassoc", "contract"})
def signed_sum(position: NDArray[np.int8], slope: Floats) -> float:
    """The sum of the slopes, each with its side."""
    total = 0.0
    for k in range(len(position)):
        total += position[k] * slope[k]
    return total


@inner_kernel(allocates=False)
def add_to_items(
    u: int, design: Design, score_gradient: Floats, factor: float, item_gradient: Floats
) -> None:
    """Add `factor *` the gradient in u's scores to the items u has seen."""
    start = design.seen[u]
    for k in range(design.seen[u + 1] - start):
        item_gradient[design.seen_item[start + k]] += factor * score_gradient[k]


@inner_kernel(allocates=False)
def add_to_block(
    u: int, design: Design, score_gradient: Floats, factor: float, out: Floats, at: int
) -> None:
    """`out[at:] += factor *` the gradient in u's coefficients."""
    features, seen = design.features, design.seen_item[design.seen[u] : design.seen[u + 1]]
    if features.shape[0] == 0:
        block = out[at : at + len(seen)]
        for k in range(len(block)):
            block[k] += factor * score_gradient[k]
        return
    block = out[at : at + features.shape[1]]
    for k in range(len(seen)):
        scaled, item = factor * score_gradient[k], np.uint32(seen[k])
        for d in range(len(block)):
            block[d] += scaled * features[item, d]


@kernel(allocates=False)
def gradient_shard(
    who: Ints,
    inputs: Inputs,
    common: CommonPart,
    value: Personal,
    out: Personal,
    scratch: Scratch,
) -> float:
    """Gradient of the mean loss at given parameters, for a shard of annotators.

    Returns the sum in the common position effect; the gradient in the items' scores is left in
    the scratch. Scalars that `value` has no column for are zero.
    """
    first = np.int64(0)  # to the compiler, 0 itself would be another type
    clear(scratch.item_gradient, first, len(scratch.item_gradient))
    position_gradient = 0.0
    for index in range(len(who)):
        u = who[index]
        start, stop = inputs.design.blocks[u], inputs.design.blocks[u + 1]
        for k in range(stop - start):
            scratch.coefficient[k] = value.block[start + k]
        for k in range(len(scratch.scalar)):
            scratch.scalar[k] = value.scalar[u, k] if k < value.scalar.shape[1] else 0.0
        unit_gradient(u, inputs, common, stop > start, scratch)  # True would be a type of its own
        clear(out.block, start, stop)
        add_to_block(
            u, inputs.design, scratch.score_gradient, 1.0 / inputs.terms.total, out.block, start
        )
        for k in range(out.scalar.shape[1]):
            out.scalar[u, k] = scratch.scalar_gradient[k] / inputs.terms.total
        position_gradient += inputs.terms.stands_for[u] * scratch.scalar_gradient[0]
    return position_gradient


def attention_curvatures(who: Ints, inputs: Inputs, common: CommonPart) -> Floats:
    """Second derivative of the mean loss in each of these annotators' attention (as b), at zero.

    Of everybody's margin it takes the common part; what an annotator has beside moves the
    curvature little and is left to the estimate of the whole spectrum.
    """
    result = np.zeros(len(who))
    note_attention_curvatures(who, inputs, common, result)
    return result


@kernel(allocates=False)
def note_attention_curvatures(
    who: Ints, inputs: Inputs, common: CommonPart, result: Floats
) -> None:
    """Fill them in."""
    design, target, terms = inputs
    for index in range(len(who)):
        u = who[index]
        start, total = design.seen[u], 0.0
        for c in range(design.cells[u], design.cells[u + 1]):
            left = design.seen_item[start + design.left_at[c]]
            right = design.seen_item[start + design.right_at[c]]
            apart = common.theta[left] - common.theta[right]
            margin = apart + design.position[c] * common.position
            curvature = scalar_curvature(terms.loss, terms.parameter, margin, target.choice[c])
            total += target.weight[c] * curvature * apart * apart
        result[index] = terms.attention_unit * terms.attention_unit * total / terms.total
