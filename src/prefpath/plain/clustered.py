"""The sandwich `inverse G'G inverse` of many items: triangles only, by whichever way is shorter."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from prefpath.pairs.squares import squared, sum_of_squares
from prefpath.pairs.triangles import mirror_lower
from prefpath.votes.encode import FloatArray

_CHUNK = 1_000  # items that are dense at a time


def sandwich(inverse: FloatArray, gradient: sparse.csr_array) -> FloatArray:
    """`inverse @ gradient.T @ gradient @ inverse`, symmetric to the last bit.

    Where annotators are few, their influence on the scores is squared (3 n^2 a operations for n
    items and a annotators), else the sum of their squared gradients is multiplied twice (3 n^3).
    """
    n_annotators, n_items = gradient.shape
    if n_items == 0:
        return np.zeros((0, 0))
    if n_annotators <= n_items:
        return sum_of_squares(gradient, inverse)
    product = np.asarray(inverse @ squared(gradient))
    found = np.empty((n_items, n_items))
    for start in range(0, n_items, _CHUNK):
        rows = slice(start, min(start + _CHUNK, n_items))
        found[rows, : rows.stop] = product[rows] @ inverse[:, : rows.stop]
    return mirror_lower(found)
