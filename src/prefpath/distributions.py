"""Tails and quantiles of the normal, of Student's t and of coins, without importing `scipy.stats`.

That takes most of a second, and these are all that a fit needs of it; numbers are the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, ndtr, ndtri, stdtr, stdtrit

_Floats = NDArray[np.float64]


def normal_tail(z: ArrayLike) -> _Floats:
    """Probability that a standard normal exceeds z."""
    return np.asarray(ndtr(-np.asarray(z, dtype=np.float64)))


def normal_quantile(tail: ArrayLike) -> _Floats:
    """What a standard normal exceeds with probability `tail`."""
    return np.asarray(-ndtri(tail))


def student_tail(t: ArrayLike, freedom: ArrayLike) -> _Floats:
    """Probability that Student's t of so many degrees of freedom exceeds t.

    >>> float(student_tail(0.0, 3.0)), bool(student_tail(1.0, np.inf) == normal_tail(1.0))
    (0.5, True)
    """
    finite = np.isfinite(freedom)
    of_student = stdtr(np.where(finite, freedom, 1.0), -np.asarray(t, dtype=np.float64))
    return np.where(finite, of_student, normal_tail(t))


def student_quantile(tail: ArrayLike, freedom: ArrayLike) -> _Floats:
    """What Student's t of so many degrees of freedom exceeds with probability `tail`.

    >>> round(float(student_quantile(0.025, 9.0)), 4)
    2.2622
    """
    finite = np.isfinite(freedom)
    of_student = -stdtrit(np.where(finite, freedom, 1.0), tail)
    return np.where(finite, of_student, normal_quantile(tail))


def heads_at_most(heads: ArrayLike, tosses: ArrayLike) -> _Floats:
    """Probability that a fair coin shows heads so often or less; heads are fewer than tosses.

    Not a number where tosses are not whole.

    >>> float(heads_at_most(1, 3))
    0.5
    """
    k, n = np.floor(np.asarray(heads, dtype=np.float64)), np.asarray(tosses, dtype=np.float64)
    whole = (n == np.floor(n)) & (n > k)
    return np.where(whole, betainc(np.where(whole, n - k, 1.0), k + 1.0, 0.5), np.nan)
