"""Sums of the outer squares of sparse rows: triangles only, by whichever way is shorter."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import blas

from prefpath.compiling import kernel
from prefpath.pairs.triangles import mirror_lower
from prefpath.votes.encode import FloatArray, IntArray

_CHUNK = 1_000  # rows that are dense at a time
# Up to here a sparse matrix times a dense one takes less time than two dense ones.
_SPARSE_UP_TO = 0.03
# So many multiplications of a dense product take the time of one of a sparse product: rows with
# an entry in more than an eighth of the columns are multiplied as dense ones.
_SPARSE_COST = 60
# Up to so many multiplications the dense product is done before anything else is loaded.
_FEW = 1e9


def squared(gradient: sparse.csr_array) -> FloatArray:
    """`gradient.T @ gradient`, dense."""
    n_annotators, n_items = gradient.shape
    entries = np.diff(gradient.indptr).astype(np.float64)
    if n_annotators * float(n_items) ** 2 < _FEW:
        return sum_of_squares(gradient)
    light = _SPARSE_COST * entries**2 < float(n_items) ** 2
    found = np.zeros((n_items, n_items))
    _add_squares(np.flatnonzero(light), gradient.indptr, gradient.indices, gradient.data, found)
    busy = gradient if not light.any() else gradient[~light]
    return mirror_lower(found) + (sum_of_squares(busy) if busy.shape[0] else 0.0)


@kernel()
def _add_squares(
    who: IntArray, starts: IntArray, items: IntArray, pull: FloatArray, found: FloatArray
) -> None:
    """The lower triangle of the squares of some rows."""
    for u in who:
        own, item = pull[starts[u] : starts[u + 1]], items[starts[u] : starts[u + 1]]
        for k in range(len(own)):
            for other in range(k + 1):
                i, j = np.uint32(item[k]), np.uint32(item[other])
                found[max(i, j), min(i, j)] += own[k] * own[other]


def sum_of_squares(gradient: sparse.csr_array, times: FloatArray | None = None) -> FloatArray:
    """The sum of the outer squares of the rows, each multiplied by a matrix if there is one."""
    n_annotators, n_items = gradient.shape
    # In columns, as BLAS keeps it: the upper triangle there is the lower one in rows.
    found = np.zeros((n_items, n_items), order="F")
    for start in range(0, n_annotators, _CHUNK):
        part = gradient[start : start + _CHUNK]
        rows = part.toarray() if times is None else _times(part, times)
        found = blas.dsyrk(1.0, rows.T, beta=1.0, c=found, overwrite_c=1)
    return mirror_lower(found.T)


def _times(part: sparse.csr_array, matrix: FloatArray) -> FloatArray:
    if part.nnz < _SPARSE_UP_TO * part.shape[0] * part.shape[1]:
        return np.ascontiguousarray(part @ matrix)
    return np.asarray(part.toarray() @ matrix)
