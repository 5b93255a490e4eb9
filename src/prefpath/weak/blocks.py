"""Each annotator's own coefficients, the common part given: what they took, and leverages.

Rows R of an annotator's block are scaled by the prior, W is the votes' curvature. Whoever has
more votes than coefficients is solved through `I + R' W R`, the others through
`I + W^1/2 R R' W^1/2`; beyond `LARGEST` both are taken for diagonal.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefpath.compiling import inner_kernel, kernel
from prefpath.model.design import Design, Floats, Ints
from prefpath.weak.kernels import Slope

LARGEST = 600  # rows of a block that is solved exactly: 0.1 s

_LEAST_ROOT = 1e-6
_SWALLOWING = 1e12

TASTE, OWN, LEAN, ATTENTION = range(4)
KINDS = 4


class Scales(NamedTuple):
    """Prior standard deviations of annotators' coefficients, as in `Coefficients`."""

    taste: Floats
    own: Floats
    lean: Floats
    attention: Floats


class Rows(NamedTuple):
    """Where an annotator's cells touch their own coefficients, how, and of which kind."""

    where: Ints
    value: Floats
    kind: Ints
    size: int


@inner_kernel()
def rows_of(design: Design, scales: Scales, gap: Floats, u: int) -> Rows:
    """The rows of annotator u: tastes by features, two own tastes, lean and attention."""
    first, last, start = design.cells[u], design.cells[u + 1], design.seen[u]
    width, n_seen = design.features.shape[1], design.seen[u + 1] - design.seen[u]
    where = np.empty((last - first, width + 4), dtype=np.int64)
    value = np.empty((last - first, width + 4))
    for c in range(first, last):
        r, a, b = c - first, design.left_at[c], design.right_at[c]
        i, j = design.seen_item[start + a], design.seen_item[start + b]
        for d in range(width):
            where[r, d] = d
            moved = design.features[i, d] - design.features[j, d]
            value[r, d] = moved * scales.taste[u * width + d]
        where[r, width], where[r, width + 1] = width + a, width + b
        value[r, width], value[r, width + 1] = scales.own[start + a], -scales.own[start + b]
        where[r, width + 2], where[r, width + 3] = width + n_seen, width + n_seen + 1
        value[r, width + 2] = design.position[c] * scales.lean[u]
        value[r, width + 3] = gap[c] * scales.attention[u]
    kind = np.zeros(width + 4, dtype=np.int64)
    kind[width:] = np.array([OWN, OWN, LEAN, ATTENTION])
    return Rows(where, value, kind, width + n_seen + 2)


@inner_kernel()
def _inverse(matrix: Floats) -> NDArray[np.floating[Any]]:
    """Of `I + A`, where A has no negative eigenvalue; `matrix` is written over.

    Votes of large weight make A so large that rounding swallows I, and singular what is not:
    there the twelfth digit of the diagonal is given up.
    """
    for k in range(len(matrix)):
        if matrix[k, k] > _SWALLOWING:
            matrix[k, k] *= 1.0 + 1e-12
    return np.linalg.inv(matrix)


@inner_kernel()
def by_coefficients(rows: Rows, curvature: Floats, leverage: Floats, degrees: Floats) -> None:
    """Through `I + R' W R`."""
    where, value = rows.where, rows.value
    n, width = where.shape
    hessian = np.eye(rows.size)
    kind_of = np.zeros(rows.size, dtype=np.int64)
    for r in range(n):
        for p in range(width):
            kind_of[where[r, p]] = rows.kind[p]
            pushed = curvature[r] * value[r, p]
            for q in range(width):
                hessian[where[r, p], where[r, q]] += pushed * value[r, q]
    inverse = _inverse(hessian)
    for r in range(n):
        total = 0.0
        for p in range(width):
            for q in range(width):
                total += value[r, p] * value[r, q] * inverse[where[r, p], where[r, q]]
        leverage[r] = total
    for k in range(rows.size):
        degrees[kind_of[k]] += 1.0 - inverse[k, k]


@inner_kernel()
def _add_gram(rows: Rows, kind: int, gram: Floats) -> None:
    """Add the part of `R R'` that coefficients of one kind make."""
    n, width = rows.where.shape
    line = np.zeros(rows.size)
    for r in range(n):
        for p in range(width):
            if rows.kind[p] == kind:
                line[rows.where[r, p]] += rows.value[r, p]
        for s in range(n):
            total = 0.0
            for p in range(width):
                if rows.kind[p] == kind:
                    total += line[rows.where[s, p]] * rows.value[s, p]
            gram[r, s] += total
        for p in range(width):
            line[rows.where[r, p]] = 0.0


@inner_kernel()
def by_votes(rows: Rows, curvature: Floats, leverage: Floats, degrees: Floats) -> None:
    """Through `I + W^1/2 R R' W^1/2`."""
    n = len(curvature)
    gram = np.zeros((4, n, n))
    for kind in range(4):
        _add_gram(rows, kind, gram[kind])
    whole = gram[0] + gram[1] + gram[2] + gram[3]
    root = np.sqrt(curvature)
    inner = np.eye(n)
    for r in range(n):
        for s in range(n):
            inner[r, s] += root[r] * root[s] * whole[r, s]
    inverse = _inverse(inner)
    for r in range(n):
        total = 0.0
        for s in range(n):
            part = root[s] * inverse[r, s]
            total += part * whole[s, r]
            for kind in range(4):
                degrees[kind] += root[r] * part * gram[kind, r, s]
        # a vote without curvature says nothing: its margin varies as before it
        leverage[r] = total / root[r] if root[r] > _LEAST_ROOT else whole[r, r]


@inner_kernel()
def by_diagonal(rows: Rows, curvature: Floats, leverage: Floats, degrees: Floats) -> None:
    """As if every coefficient stood alone."""
    where, value = rows.where, rows.value
    n, width = where.shape
    diagonal = np.ones(rows.size)
    kind_of = np.zeros(rows.size, dtype=np.int64)
    for r in range(n):
        for p in range(width):
            kind_of[where[r, p]] = rows.kind[p]
            diagonal[where[r, p]] += curvature[r] * value[r, p] ** 2
    for r in range(n):
        total = 0.0
        for p in range(width):
            total += value[r, p] ** 2 / diagonal[where[r, p]]
        leverage[r] = total
    for k in range(rows.size):
        degrees[kind_of[k]] += 1.0 - 1.0 / diagonal[k]


@kernel()
def fill_blocks(
    design: Design, scales: Scales, slope: Slope, leverage: Floats, degrees: Floats
) -> None:
    """Leverage of every cell, and every annotator's effective degrees of freedom by kind.

    The leverage is the variance of the cell's margin that the annotator's own coefficients
    make, the common part given.
    """
    for u in range(len(design.cells) - 1):
        first, last = design.cells[u], design.cells[u + 1]
        if first == last:
            continue
        rows = rows_of(design, scales, slope.gap, u)
        curvature, own = slope.curvature[first:last], leverage[first:last]
        if min(rows.size, last - first) > LARGEST:
            by_diagonal(rows, curvature, own, degrees[u])
        elif rows.size <= last - first:
            by_coefficients(rows, curvature, own, degrees[u])
        else:
            by_votes(rows, curvature, own, degrees[u])
