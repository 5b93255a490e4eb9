"""The hazard of the normal distribution, `phi(x) / Phi(x)`: Thurstone-Mosteller's gradient.

Kernels evaluate it by polynomials on short intervals, three times as fast as by `exp` and
`erfc` and as good (1e-13).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from prefpath.compiling import inner_kernel

Array = NDArray[np.float64]

_LOWEST, _HIGHEST, _PIECES_PER_UNIT, _DEGREE = -6.0, 8.0, 8, 9


def normal_hazard(margin: Array) -> Array:
    """`phi(x) / Phi(x)`, finite for any finite x."""
    margin = np.asarray(margin, dtype=float)
    log_density = -0.5 * margin**2 - 0.5 * math.log(2.0 * math.pi)
    near: Array = np.exp(log_density - log_ndtr(margin))
    with np.errstate(divide="ignore", invalid="ignore"):
        a = np.maximum(-margin, 1.0)
        far = a + 1.0 / (a + 2.0 / (a + 3.0 / (a + 4.0 / a)))
    return np.where(margin < -50.0, far, near)


def hazard_excess(margin: Array, hazard: Array) -> Array:
    """`hazard(x) + x` without cancellation: 1/a - 2/a^3 + ... far in the lower tail."""
    a = np.maximum(-np.asarray(margin, dtype=float), 1.0)
    far = 1.0 / (a + 2.0 / (a + 3.0 / (a + 4.0 / (a + 5.0 / a))))
    return np.where(margin < -50.0, far, hazard + margin)


def _fit_pieces() -> Array:
    """Coefficients of each interval's polynomial in [-1, 1], interpolating at Chebyshev nodes."""
    nodes = np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))
    n_pieces = int((_HIGHEST - _LOWEST) * _PIECES_PER_UNIT)
    middle = _LOWEST + (np.arange(n_pieces) + 0.5) / _PIECES_PER_UNIT
    values = normal_hazard(middle + 0.5 / _PIECES_PER_UNIT * nodes[:, None])
    powers = nodes[:, None] ** np.arange(_DEGREE + 1)
    return np.ascontiguousarray(np.linalg.solve(powers, values).T)


_PIECES = _fit_pieces()


@inner_kernel(allocates=False)
def scalar_hazard(x: float) -> float:
    """`phi(x) / Phi(x)`: its polynomials, and a continued fraction where the tail would vanish."""
    if _LOWEST < x < _HIGHEST:
        at = (x - _LOWEST) * _PIECES_PER_UNIT
        piece = np.int64(at)  # for `int` Numba compiles a function
        s = 2.0 * (at - piece) - 1.0
        value = _PIECES[piece, _DEGREE]
        for j in range(_DEGREE - 1, -1, -1):
            value = value * s + _PIECES[piece, j]
        return value
    if x >= _HIGHEST:
        return 0.7978845608028654 * math.exp(-0.5 * x * x) / math.erfc(-0.7071067811865476 * x)
    a = -x
    tail = a
    for k in range(40, 0, -1):
        tail = a + k / tail
    return tail


@inner_kernel(allocates=False)
def scalar_hazard_excess(x: float) -> float:
    """`hazard(x) + x`, without the cancellation far in the lower tail."""
    if x > _LOWEST:
        return scalar_hazard(x) + x
    tail = -x
    for k in range(40, 1, -1):
        tail = k / tail - x
    return 1.0 / tail
