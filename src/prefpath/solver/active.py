"""Annotators on the path: their coefficients beside the common ones in one vector y.

    y = [common | z of the 1st, its bias | z of the 2nd, its bias | ...]

`evaluate` gives y' at y: the pooled crowd and the active annotators, nobody else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from prefpath.model.design import Design, Floats, Ints, Target
from prefpath.solver.kernels import (
    Rule,
    Scratch,
    add_to_block,
    add_to_items,
    common_scores,
    own_scores,
    shrink_block,
    soft_threshold,
    vote_pull,
)
from prefpath.solver.pool import Pool, PoolIndex, pool_gradient
from prefpath.solver.rkc import Chebyshev, next_stage


class Active(NamedTuple):
    """The active annotators and where the block of each begins in y; `at` has one more entry."""

    who: Ints
    at: Ints


@njit(cache=True, nogil=True, error_model="numpy")
def active_gradient(
    start: int,
    stop: int,
    active: Active,
    design: Design,
    target: Target,
    rule: Rule,
    theta: Floats,
    common_bias: float,
    y: Floats,
    f: Floats,
    scratch: Scratch,
) -> float:
    """y' of active annotators; their gradient in the items' scores goes to the scratch."""
    sideways_sum = 0.0
    for index in range(start, stop):
        u = active.who[index]
        at, end = active.at[index], active.at[index + 1] - 1
        deviates = shrink_block(
            y, at, end, rule.deviation_threshold[u], rule.kappa, rule.group, scratch.coefficient
        )
        bias = rule.kappa * soft_threshold(y[end], rule.position_threshold[u])
        own_scores(u, design, theta, deviates, scratch.coefficient, scratch.score)
        sideways = vote_pull(u, design, target, rule, bias + common_bias, scratch)
        add_to_items(u, design, scratch.pull, scratch.item_pull)
        f[at:end] = 0.0
        add_to_block(u, design, scratch.pull, -1.0 / rule.total, f, at)
        f[end] = -sideways / rule.total
        sideways_sum += sideways
    return sideways_sum


@njit(cache=True, nogil=True, error_model="numpy")
def common_slope(
    f: Floats, item_pull: Floats, sideways: float, design: Design, rule: Rule, with_bias: bool
) -> None:
    """`eta' = -kappa grad_eta L` from the gradient in the items' scores."""
    factor = -rule.kappa / rule.total
    n_items = len(item_pull)
    n_common = n_items
    if design.features.shape[0] == 0:
        for i in range(n_items):
            f[i] = factor * item_pull[i]
    else:
        n_common = design.features.shape[1]
        for d in range(n_common):
            total = 0.0
            for i in range(n_items):
                total += design.features[i, d] * item_pull[i]
            f[d] = factor * total
    if with_bias:
        f[n_common] = factor * sideways


class Equation(NamedTuple):
    """What y' depends on beside y; `bias_at` is the place of the common bias in y, or -1."""

    bias_at: int
    active: Active
    pairs: PoolIndex
    pool: Pool
    design: Design
    target: Target
    rule: Rule
    theta: Floats
    scratch: Scratch


@njit(cache=True, nogil=True, error_model="numpy")
def evaluate_serial(y: Floats, f: Floats, equation: Equation) -> None:
    """y' at y, in one thread."""
    bias_at, active, index, pool, design, target, rule, theta, scratch = equation
    common_scores(y, design, theta)
    common_bias = y[bias_at] if bias_at >= 0 else 0.0
    scratch.item_pull[:] = 0.0
    sideways = pool_gradient(0, len(index.first), index, pool, rule, theta, common_bias, scratch)
    sideways += active_gradient(
        0, len(active.who), active, design, target, rule, theta, common_bias, y, f, scratch
    )
    common_slope(f, scratch.item_pull, sideways, design, rule, bias_at >= 0)


@njit(cache=True, nogil=True, error_model="numpy")
def rkc_stages_serial(
    y0: Floats, f0: Floats, step: float, rule: Chebyshev, equation: Equation
) -> Floats:
    """All stages of one step in one call."""
    older = y0.copy()
    newer = y0 + rule.first * step * f0
    f = np.empty_like(y0)
    for j in range(2, len(rule.mu)):
        evaluate_serial(newer, f, equation)
        next_stage(older, y0, newer, older, f, f0, rule, j, step)
        older, newer = newer, older
    return newer
