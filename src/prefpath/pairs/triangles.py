"""Symmetric matrices of which LAPACK gives one triangle."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from prefpath.votes.encode import FloatArray

_BLOCK = 256  # rows that are copied at a time: their columns stay in the cache


def mirror_lower(matrix: FloatArray) -> FloatArray:
    """Copy the part below the diagonal above it, in place."""
    for start in range(0, len(matrix), _BLOCK):
        stop = start + _BLOCK
        corner = matrix[start:stop, start:stop]
        corner[:] = np.tril(corner) + np.tril(corner, -1).T
        matrix[start:stop, stop:] = matrix[stop:, start:stop].T
    return matrix


def invert_factor(factor: FloatArray) -> FloatArray:
    """The inverse of a matrix by its Cholesky factor, a lower triangle in columns.

    A third of the operations of solving for each column of the identity. The factor is overwritten.
    """
    lower, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    return mirror_lower(lower).T
