"""Second-order Runge-Kutta-Chebyshev: an explicit method for stiff but mild equations.

With s stages the method is stable along the negative real axis up to about 0.65 s^2, where
Euler's (one stage) is stable up to 2: the cost of stiffness is its square root.

References
----------
Sommeijer, Shampine, Verwer: RKC, an explicit solver for parabolic PDEs (1998).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from prefpath.compiling import by_reference, kernel
from prefpath.model.design import Floats

# The damping of Sommeijer, Shampine and Verwer: 5 % at every stage count.
_DAMPING = 2.0 / 13.0
# Rounding errors of the recursion grow with the square of the stages: 400 cost 1e-11.
MOST_STAGES = 400


@by_reference
class Chebyshev(NamedTuple):
    """Coefficients of an s-stage step; entry j belongs to stage j."""

    first: float
    mu: Floats
    nu: Floats
    mu_tilde: Floats
    gamma_tilde: Floats


@cache
def chebyshev(n_stages: int) -> Chebyshev:
    """Coefficients of the damped second-order method with `n_stages` stages."""
    s = n_stages
    w0 = 1.0 + _DAMPING / s**2
    value, slope, curvature = np.zeros(s + 1), np.zeros(s + 1), np.zeros(s + 1)
    value[0], value[1], slope[1] = 1.0, w0, 1.0
    for j in range(2, s + 1):  # Chebyshev polynomials and their first two derivatives at w0
        value[j] = 2.0 * w0 * value[j - 1] - value[j - 2]
        slope[j] = 2.0 * value[j - 1] + 2.0 * w0 * slope[j - 1] - slope[j - 2]
        curvature[j] = 4.0 * slope[j - 1] + 2.0 * w0 * curvature[j - 1] - curvature[j - 2]
    w1 = slope[s] / curvature[s]
    b = np.empty(s + 1)
    b[2:] = curvature[2:] / slope[2:] ** 2
    b[0] = b[1] = b[2]
    a = 1.0 - b * value
    mu, nu = np.zeros(s + 1), np.zeros(s + 1)
    mu_tilde, gamma_tilde = np.zeros(s + 1), np.zeros(s + 1)
    for j in range(2, s + 1):
        mu[j] = 2.0 * b[j] * w0 / b[j - 1]
        nu[j] = -b[j] / b[j - 2]
        mu_tilde[j] = 2.0 * b[j] * w1 / b[j - 1]
        gamma_tilde[j] = -a[j - 1] * mu_tilde[j]
    return Chebyshev(float(b[1] * w1), mu, nu, mu_tilde, gamma_tilde)


def stages_needed(step: float, spectral_radius: float) -> int:
    """Stages with which a step is stable."""
    return max(2, int(np.ceil(np.sqrt(1.0 + 1.54 * step * spectral_radius))))


def longest_step(spectral_radius: float) -> float:
    """Longest step that the most stages we allow can take."""
    return (MOST_STAGES**2 - 1.0) / (1.54 * spectral_radius)


class Stage(NamedTuple):
    """What a stage is made of: the step's beginning, and the two stages before (1 the last)."""

    y0: Floats
    f0: Floats
    y1: Floats
    f1: Floats
    y2: Floats


@kernel(allocates=False)
def next_stage(out: Floats, stage: Stage, coefficients: Chebyshev, j: int, step: float) -> None:
    """Stage j of a step; `out` may be `stage.y2`."""
    y0, f0, y1, f1, y2 = stage
    mu, nu = coefficients.mu[j], coefficients.nu[j]
    rest = 1.0 - mu - nu
    mu_tilde, gamma_tilde = step * coefficients.mu_tilde[j], step * coefficients.gamma_tilde[j]
    for k in range(len(out)):
        out[k] = rest * y0[k] + mu * y1[k] + nu * y2[k] + mu_tilde * f1[k] + gamma_tilde * f0[k]
