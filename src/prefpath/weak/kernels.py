"""Compiled passes over the votes: margins, and products with their derivatives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prefpath.compiling import kernel
from prefpath.model.design import Design, Floats
from prefpath.model.scalar_losses import scalar_curvature, scalar_gradient


class Terms(NamedTuple):
    """What margins are made of, or a direction in it, in the units of a margin.

    `theta` has an entry for each item, `own` one for each seen item of each annotator, `lean`
    and `attention` one for each annotator (`attention` is sigma: the slope is 1 + sigma).
    """

    theta: Floats
    position: float
    own: Floats
    lean: Floats
    attention: Floats


class Slope(NamedTuple):
    """Derivatives of each cell's loss in its margin, weighted, and the common difference."""

    pull: Floats
    curvature: Floats
    gap: Floats


@kernel()
def fill_margins(design: Design, terms: Terms, margin: Floats, gap: Floats) -> None:
    """Margin of every cell, and how much the common scores differ in it."""
    for u in range(len(design.cells) - 1):
        start = design.seen[u]
        slope = 1.0 + terms.attention[u]
        for c in range(design.cells[u], design.cells[u + 1]):
            a, b = start + design.left_at[c], start + design.right_at[c]
            gap[c] = terms.theta[design.seen_item[a]] - terms.theta[design.seen_item[b]]
            lean = design.position[c] * (terms.position + terms.lean[u])
            margin[c] = slope * gap[c] + terms.own[a] - terms.own[b] + lean


@kernel()
def fill_slopes(
    code: int, parameter: float, margin: Floats, choice: Floats, weight: Floats, slope: Slope
) -> None:
    """First and second derivative of every cell's weighted loss."""
    for c in range(len(margin)):
        slope.pull[c] = weight[c] * scalar_gradient(code, parameter, margin[c], choice[c])
        slope.curvature[c] = weight[c] * scalar_curvature(code, parameter, margin[c], choice[c])


@kernel()
def add_pulls(design: Design, attention: Floats, gap: Floats, pull: Floats, out: Terms) -> Floats:
    """Add the gradient of the loss in the terms to `out`; returns that in the position effect."""
    position = np.zeros(1)
    for u in range(len(design.cells) - 1):
        start, slope = design.seen[u], 1.0 + attention[u]
        for c in range(design.cells[u], design.cells[u + 1]):
            a, b = start + design.left_at[c], start + design.right_at[c]
            out.theta[design.seen_item[a]] += slope * pull[c]
            out.theta[design.seen_item[b]] -= slope * pull[c]
            out.own[a] += pull[c]
            out.own[b] -= pull[c]
            out.lean[u] += design.position[c] * pull[c]
            out.attention[u] += gap[c] * pull[c]
            position[0] += design.position[c] * pull[c]
    return position


@kernel()
def add_curvature(
    design: Design, attention: Floats, slope: Slope, out: Terms, common: Floats, taste: Floats
) -> Floats:
    """Add the diagonal of `J' curvature J` to `out`; returns that of the position effect.

    That of the features' coefficients goes to `common` and `taste`.
    """
    position, width = np.zeros(1), design.features.shape[1]
    for u in range(len(design.cells) - 1):
        start, steep = design.seen[u], (1.0 + attention[u]) ** 2
        for c in range(design.cells[u], design.cells[u + 1]):
            a, b = start + design.left_at[c], start + design.right_at[c]
            i, j, curvature = design.seen_item[a], design.seen_item[b], slope.curvature[c]
            out.theta[i] += steep * curvature
            out.theta[j] += steep * curvature
            out.own[a] += curvature
            out.own[b] += curvature
            out.lean[u] += design.position[c] * curvature
            out.attention[u] += slope.gap[c] ** 2 * curvature
            position[0] += design.position[c] * curvature
            for d in range(width):
                square = (design.features[i, d] - design.features[j, d]) ** 2 * curvature
                common[d] += steep * square
                taste[u * width + d] += square
    return position


@kernel()
def add_product(design: Design, attention: Floats, slope: Slope, way: Terms, out: Terms) -> Floats:
    """Add `J' curvature J way` to `out` in one pass; returns its part in the position effect."""
    position = np.zeros(1)
    for u in range(len(design.cells) - 1):
        start, steep = design.seen[u], 1.0 + attention[u]
        for c in range(design.cells[u], design.cells[u + 1]):
            a, b = start + design.left_at[c], start + design.right_at[c]
            i, j = design.seen_item[a], design.seen_item[b]
            at, gap = design.position[c], slope.gap[c]
            moved = steep * (way.theta[i] - way.theta[j]) + way.own[a] - way.own[b]
            moved += at * (way.position + way.lean[u]) + gap * way.attention[u]
            moved *= slope.curvature[c]
            out.theta[i] += steep * moved
            out.theta[j] -= steep * moved
            out.own[a] += moved
            out.own[b] -= moved
            out.lean[u] += at * moved
            out.attention[u] += gap * moved
            position[0] += at * moved
    return position


@kernel()
def spread(design: Design, coefficient: Floats, own: Floats) -> None:
    """Add to the tastes of seen items what coefficients of features say."""
    width = design.features.shape[1]
    for u in range(len(design.seen) - 1):
        for k in range(design.seen[u], design.seen[u + 1]):
            total, item = 0.0, design.seen_item[k]
            for d in range(width):
                total += design.features[item, d] * coefficient[u * width + d]
            own[k] += total


@kernel()
def gather(design: Design, own: Floats, coefficient: Floats) -> None:
    """Add the transpose of `spread` to the coefficients."""
    width = design.features.shape[1]
    for u in range(len(design.seen) - 1):
        for k in range(design.seen[u], design.seen[u + 1]):
            item = design.seen_item[k]
            for d in range(width):
                coefficient[u * width + d] += design.features[item, d] * own[k]
