"""Annotators on the path: their coefficients beside the common ones in one vector y.

    y = [common | z of the 1st: block, scalars | z of the 2nd: block, scalars | ...]

`evaluate` gives y' at y: the pooled crowd and the active annotators, nobody else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prefpath.compiling import by_reference, inner_kernel, kernel
from prefpath.model.design import Floats, Ints
from prefpath.model.loops import clear
from prefpath.model.penalties import dual_norm
from prefpath.model.pool_index import PoolIndex
from prefpath.solver.arguments import DEVIATION, FIRST_SCALAR, CommonPart, Inputs, Scratch, Terms
from prefpath.solver.kernels import (
    add_to_block,
    common_scores,
    unit_gradient,
    value_block,
    value_scalars,
)
from prefpath.solver.light import (
    LightCells,
    light_gradient,
    light_slopes,
    light_values,
    no_light_cells,
)
from prefpath.solver.pool import Pool, pool_gradient
from prefpath.solver.rkc import Chebyshev, Stage, next_stage


@by_reference
class Active(NamedTuple):
    """The active annotators and where the part of each begins in y; `at` has one more entry."""

    who: Ints
    at: Ints
    light: LightCells = no_light_cells()


@inner_kernel(allocates=False)
def value_active(index: int, active: Active, y: Floats, terms: Terms, scratch: Scratch) -> bool:
    """Put the values of an active annotator's parameters into the scratch; do they deviate?"""
    u, n_scalars = active.who[index], len(scratch.scalar)
    at, end = active.at[index], active.at[index + 1] - n_scalars
    value_scalars(u, y[end : end + n_scalars], terms, scratch)
    return value_block(u, y, at, end, terms, scratch)


@kernel(allocates=False)
def any_entered(first: int, active: Active, y: Floats, terms: Terms) -> bool:
    """Whether any effect of the active annotators from number `first` on is not zero."""
    who, at, threshold = active.who, active.at, terms.threshold
    n_scalars = threshold.shape[1] - FIRST_SCALAR
    for index in range(first, len(who)):
        u, end = who[index], at[index + 1] - n_scalars
        if dual_norm(terms.penalty, y, at[index], end) > threshold[u, DEVIATION]:
            return True
        for k in range(n_scalars):
            if abs(y[end + k]) > threshold[u, FIRST_SCALAR + k]:
                return True
    return False


@kernel(allocates=False)
def active_gradient(
    start: int,
    stop: int,
    active: Active,
    inputs: Inputs,
    common: CommonPart,
    y: Floats,
    f: Floats,
    scratch: Scratch,
) -> float:
    """y' of active annotators; their gradient in the items' scores goes to the scratch."""
    position_gradient = 0.0
    who, at, light = active
    cell_at, total, n_scalars = light.cell_at, inputs.terms.total, len(scratch.scalar)
    any_light = stop < len(cell_at) and cell_at[start] < cell_at[stop]
    clear(f, at[start], at[stop])
    for index in range(start, stop):
        if any_light and cell_at[index] < cell_at[index + 1]:
            continue
        u, end = who[index], at[index + 1] - n_scalars
        deviates = value_active(index, active, y, inputs.terms, scratch)
        unit_gradient(u, inputs, common, deviates, scratch)
        add_to_block(u, inputs.design, scratch.score_gradient, -1.0 / total, f, at[index])
        for k in range(n_scalars):
            f[end + k] = -scratch.scalar_gradient[k] / total
        position_gradient += inputs.terms.stands_for[u] * scratch.scalar_gradient[0]
    if any_light:
        terms, theta = inputs.terms, common.theta
        light_values(start, stop, who, at, light, terms, common, y)
        light_gradient(cell_at[start], cell_at[stop], light, terms, f, scratch)
        position_gradient += light_slopes(start, stop, at, light, terms, theta, f, scratch)
    return position_gradient


@kernel(allocates=False)
def common_slope(
    f: Floats, item_gradient: Floats, position_gradient: float, inputs: Inputs
) -> None:
    """`eta' = -kappa grad_eta L` from the gradient in the items' scores."""
    features, terms = inputs.design.features, inputs.terms
    factor = -terms.kappa / terms.total
    n_items = len(item_gradient)
    n_common = n_items
    if features.shape[0] == 0:
        for i in range(n_items):
            f[i] = factor * item_gradient[i]
    else:
        n_common = features.shape[1]
        for d in range(n_common):
            total = 0.0
            for i in range(n_items):
                total += features[i, d] * item_gradient[i]
            f[d] = factor * total
    if terms.common_position:
        f[n_common] = factor * position_gradient


@by_reference
class Equation(NamedTuple):
    """What y' depends on beside y; `position_at` is the common position effect's place, or -1.

    `first` is the first active annotator whose y' is asked for; beyond 0, of nothing else.
    """

    position_at: int
    active: Active
    pairs: PoolIndex
    pool: Pool
    inputs: Inputs
    theta: Floats
    scratch: Scratch
    first: int = 0


def stages_serial(
    y0: Floats, f0: Floats, step: float, coefficients: Chebyshev, equation: Equation
) -> tuple[Floats, Floats]:
    """All stages of one step in one call, in one thread: y after it, and y' there."""
    newer, older, f = y0 + coefficients.first * step * f0, y0.copy(), np.empty_like(y0)
    run_stages(y0, f0, newer, older, f, step, coefficients, equation)
    return (older if len(coefficients.mu) % 2 else newer), f


@kernel(allocates=False)
def run_stages(
    y0: Floats,
    f0: Floats,
    newer: Floats,
    older: Floats,
    f: Floats,
    step: float,
    coefficients: Chebyshev,
    equation: Equation,
) -> None:
    """From the second stage on; `newer` and `older` take turns.

    y' is evaluated in one place: every other would be compiled with all that it calls.
    """
    position_at, active, pairs, pool, inputs, theta, scratch, first = equation
    n_stages = len(coefficients.mu) - 1
    start = np.int64(0)  # to the compiler, 0 itself would be another type than other numbers
    for j in range(2, n_stages + 2):
        common_scores(newer, inputs.design, theta)
        common = CommonPart(theta, newer[position_at] if position_at >= 0 else 0.0)
        clear(scratch.item_gradient, start, len(scratch.item_gradient))
        terms, n_pairs, n_active = inputs.terms, len(pairs.first), len(active.who)
        position = 0.0
        if first == 0:
            position += pool_gradient(start, n_pairs, pairs, pool, terms, common, scratch)
        position += active_gradient(first, n_active, active, inputs, common, newer, f, scratch)
        if first == 0:
            common_slope(f, scratch.item_gradient, position, inputs)
        if j <= n_stages:
            next_stage(older, Stage(y0, f0, newer, f, older), coefficients, j, step)
            older, newer = newer, older


_NO_STAGES = Chebyshev(0.0, np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(2))


def evaluate_serial(y: Floats, equation: Equation) -> Floats:
    """y' at y, in one thread."""
    f = np.empty_like(y)
    run_stages(y, y, y, y, f, 0.0, _NO_STAGES, equation)
    return f
