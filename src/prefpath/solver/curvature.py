"""How stiff each part of the equation is by itself: what `exponential` takes out of a step.

The common part's own matrix is a graph Laplacian weighted by curvatures. A scalar (position bias,
attention) has a rate of its own, and so has a block: the Laplacian of an annotator's votes is
bounded by the heaviest pair of items they compared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prefpath.compiling import by_reference, inner_kernel, kernel
from prefpath.machine import one_blas_thread
from prefpath.model.design import Floats, Ints
from prefpath.model.loops import clear
from prefpath.model.penalties import dual_norm, soft_threshold
from prefpath.model.pool_index import PoolIndex
from prefpath.model.scalar_losses import scalar_curvature
from prefpath.solver.active import Active
from prefpath.solver.arguments import (
    ATTENTION,
    DEVIATION,
    FIRST_SCALAR,
    POSITION,
    CommonPart,
    Inputs,
    Terms,
)
from prefpath.solver.pool import Pool

# Of the largest eigenvalue a Laplacian can have (the weights of two items that were compared, at
# most): more than half of it keeps a step stable, and all of it would be twice what most have.
_OF_BOUND = 0.7
# What others add to an attention's rate where everybody's has entered. Attentions and the scale of
# the common scores then say the same in two ways, and move each other as fast as themselves: with
# rates of their own alone, steps would be unstable from some length on, and are kept short by that.
# The first to enter has only its own: with more, steps after its entry would be off.
_BY_OTHERS = 0.2
# Of a margin: a scalar that moved so far in a step changes the curvatures its rate is made of.
FAR = 0.05


@by_reference
class Rates(NamedTuple):
    """Of each active annotator, for entered effects: how fast scalars and the block relax."""

    scalar: Floats
    block: Floats


class Stiffness(NamedTuple):
    """W: the common part's eigenvalues and eigenvectors, and the rates of active annotators.

    `drift` is how far theta had moved when it was taken, `age` how many steps have used it.
    """

    values: Floats
    vectors: Floats
    rates: Rates
    drift: float
    age: int


def no_stiffness(n_scalars: int) -> Stiffness:
    """Nothing is known yet."""
    rates = Rates(np.zeros((0, n_scalars)), np.zeros(0))
    return Stiffness(np.zeros(0), np.zeros((0, 0)), rates, -np.inf, 0)


@kernel(allocates=False)
def pool_hessian(
    index: PoolIndex, pool: Pool, terms: Terms, common: CommonPart, hessian: Floats
) -> None:
    """Add the pooled pairs' part of `kappa * Hessian` in the common parameters."""
    for p in range(len(index.first)):
        a, b, side = index.first[p], index.second[p], index.side[p]
        margin = common.theta[a] - common.theta[b] + side * common.position
        curvature = scalar_curvature(terms.loss, terms.parameter, margin, pool.choice[p])
        weight = terms.kappa / terms.total * pool.weight[p] * curvature
        _add_pair(hessian, a, b, side, weight, 1.0, len(common.theta))


@inner_kernel(allocates=False)
def _add_pair(
    hessian: Floats, a: int, b: int, side: int, weight: float, attention: float, position: int
) -> None:
    """A vote's part; the common position effect, if there is one, is at place `position`."""
    square, across = attention * attention * weight, side * attention * weight
    hessian[a, a] += square
    hessian[b, b] += square
    hessian[a, b] -= square
    hessian[b, a] -= square
    if position < len(hessian) and side != 0:
        hessian[position, position] += weight
        hessian[a, position] += across
        hessian[position, a] += across
        hessian[b, position] -= across
        hessian[position, b] -= across


def whose_scalars_moved(old: Floats, y: Floats, active: Active, terms: Terms) -> Ints:
    """Numbers, among the active, of annotators whose rates a step from old to y changed."""
    n_scalars = terms.threshold.shape[1] - FIRST_SCALAR
    at = active.at[1:, np.newaxis] + np.arange(-n_scalars, 0)
    most = terms.threshold[active.who, FIRST_SCALAR:]
    before, now = (part[at] - np.clip(part[at], -most, most) for part in (old, y))
    return np.flatnonzero((terms.kappa * np.abs(now - before) > FAR).any(axis=1))


def add_others(
    rates: Rates, which: Ints, active: Active, terms: Terms, y: Floats, share: Floats
) -> None:
    """Add to some attentions' rates what others add: more, the more votes are of those entered."""
    if rates.scalar.shape[1] > 1:
        rates.scalar[which, 1] *= 1.0 + _BY_OTHERS * share_with_attention(active, terms, y, share)


def share_with_attention(active: Active, terms: Terms, y: Floats, share: Floats) -> float:
    """What those whose attention has entered have of all votes; 0 without attention."""
    if terms.threshold.shape[1] <= ATTENTION:
        return 0.0
    z = y[active.at[1:] - (terms.threshold.shape[1] - ATTENTION)]
    entered = np.abs(z) > terms.threshold[active.who, ATTENTION]
    return float(share[active.who[entered]].sum())


@kernel(allocates=False)
def unit_rates(
    which: Ints,
    active: Active,
    inputs: Inputs,
    common: CommonPart,
    y: Floats,
    hessian: Floats,
    rates: Rates,
    degree: Floats,
) -> None:
    """Rates of some active annotators, by their numbers there; their part of the Hessian is added.

    A Hessian of no rows is left alone. `degree` is a buffer with a place for each item of anyone.
    """
    design, target, terms = inputs
    for number in range(len(which)):
        index = which[number]
        u, at = active.who[index], active.at[index]
        seen, size = design.seen[u], design.seen[u + 1] - design.seen[u]
        shrink = _shrink(terms, y, at, at + size, terms.threshold[u, DEVIATION])
        bias = common.position
        bias += terms.kappa * soft_threshold(y[at + size], terms.threshold[u, POSITION])
        attention = _attention(u, y, at + size + 1, terms)
        clear(degree, np.int64(0), size)
        for k in range(rates.scalar.shape[1]):
            rates.scalar[index, k] = 0.0
        for c in range(design.cells[u], design.cells[u + 1]):
            left, right, side = design.left_at[c], design.right_at[c], design.position[c]
            a, b = design.seen_item[seen + left], design.seen_item[seen + right]
            apart = common.theta[a] - common.theta[b]
            margin = attention * apart + side * bias
            margin += shrink * (y[at + left] - y[at + right])
            curvature = scalar_curvature(terms.loss, terms.parameter, margin, target.choice[c])
            weight = terms.kappa / terms.total * target.weight[c] * curvature
            degree[left] += weight
            degree[right] += weight
            rates.scalar[index, 0] += abs(side) * weight
            if rates.scalar.shape[1] > 1:
                apart *= terms.attention_unit
                rates.scalar[index, 1] += weight * apart * apart
            if len(hessian) > 0:
                own = terms.stands_for[u] * weight
                _add_pair(hessian, a, b, side, own, attention, len(common.theta))
        rates.block[index] = _OF_BOUND * _heaviest_pair(u, inputs, degree)


@inner_kernel(allocates=False)
def _shrink(terms: Terms, y: Floats, start: int, stop: int, threshold: float) -> float:
    """What a group's z is multiplied with to give the deviation."""
    norm = dual_norm(terms.penalty, y, start, stop)
    return terms.kappa * (1.0 - threshold / norm) if norm > threshold else 0.0


@inner_kernel(allocates=False)
def _attention(u: int, y: Floats, at: int, terms: Terms) -> float:
    """`1 + sigma` of an annotator whose z of it is at a place of y; 1 without attention."""
    if terms.threshold.shape[1] <= ATTENTION:
        return 1.0
    b = terms.kappa * soft_threshold(y[at], terms.threshold[u, ATTENTION])
    return 1.0 + terms.attention_unit * b


@inner_kernel(allocates=False)
def _heaviest_pair(u: int, inputs: Inputs, degree: Floats) -> float:
    """The weights of two items that an annotator compared, at most."""
    design, weight = inputs.design, inputs.target.weight
    heaviest = 0.0
    for c in range(design.cells[u], design.cells[u + 1]):
        if weight[c] > 0.0:
            pair = degree[design.left_at[c]] + degree[design.right_at[c]]
            heaviest = max(heaviest, pair)
    return heaviest


def to_modes(rows: Floats, vector: Floats) -> Floats:
    """`rows.T @ vector`, one row after another: a busy BLAS takes longer."""
    out = np.zeros(rows.shape[1])
    add_modes(rows, vector, out)
    return out


@kernel(allocates=False)
def add_modes(rows: Floats, vector: Floats, out: Floats) -> None:
    """`out += rows.T @ vector`."""
    for i in range(len(rows)):
        row, factor = rows[i], vector[i]
        for j in range(len(row)):
            out[j] += factor * row[j]


def room_for(rates: Rates, n_active: int) -> Rates:
    """The same with places for those who have joined."""
    n_new = n_active - len(rates.block)
    scalar = np.concatenate((rates.scalar, np.zeros((n_new, rates.scalar.shape[1]))))
    return Rates(scalar, np.concatenate((rates.block, np.zeros(n_new))))


def modes_of(hessian: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues, and eigenvectors as columns, of a matrix without negative ones."""
    with one_blas_thread():  # two that wait for each other take five times as long
        values, vectors = np.linalg.eigh(hessian)
    return np.maximum(values, 0.0), np.ascontiguousarray(vectors)
