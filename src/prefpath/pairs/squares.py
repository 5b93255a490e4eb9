"""Sums of the outer squares of sparse rows: triangles only, by whichever way is shorter."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import blas

from prefpath.compiling import kernel
from prefpath.pairs.triangles import mirror_lower
from prefpath.votes.encode import FloatArray, IntArray

_Arrays = tuple[IntArray, IntArray, FloatArray]

_CHUNK = 1_000  # rows that are dense at a time
# Up to here a sparse matrix times a dense one takes less time than two dense ones.
_SPARSE_UP_TO = 0.03
# So many multiplications of a dense product take the time of one of a sparse product: rows with
# an entry in more than a tenth of the columns are multiplied as dense ones.
_SPARSE_COST = 100
# Up to so many multiplications the dense product is done before anything else is loaded.
_FEW = 1e9


def squared(gradient: sparse.csr_array) -> FloatArray:
    """`gradient.T @ gradient`, dense."""
    n_annotators, n_items = gradient.shape
    entries = np.diff(gradient.indptr).astype(np.float64)
    if n_annotators * float(n_items) ** 2 < _FEW:
        return sum_of_squares(gradient)
    light = _SPARSE_COST * entries**2 < float(n_items) ** 2
    if not light.any():
        return sum_of_squares(gradient)
    found = np.zeros((n_items, n_items))
    by_item = gradient[light].tocsc()
    by_annotator = by_item.tocsr()  # and the items of each in their order
    _add_squares(_arrays(by_item), _arrays(by_annotator), found)
    busy = gradient[~light]
    return mirror_lower(found) + (sum_of_squares(busy) if busy.shape[0] else 0.0)


def _arrays(matrix: sparse.csr_array | sparse.csc_array) -> _Arrays:
    return matrix.indptr, matrix.indices, matrix.data


@kernel()
def _add_squares(by_item: _Arrays, by_annotator: _Arrays, found: FloatArray) -> None:
    """The lower triangle, row by row, so that what is added to stays in the cache."""
    starts, who, pull = by_item
    own_starts, other, own = by_annotator
    for item in range(len(found)):
        row = found[item]
        for k in range(starts[item], starts[item + 1]):
            e = own_starts[who[k]]
            while other[e] < item:
                row[other[e]] += pull[k] * own[e]
                e += 1
            row[item] += pull[k] * pull[k]


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
