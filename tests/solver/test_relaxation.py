"""A bias by its own equation: by hand, and against SciPy's integrator and quadrature."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from prefpath.solver.relaxation import bending, left_of_forces, phi1, phi2, relaxed


def decayed(x: float, power: int) -> float:
    """A force that grows as `t ** power` on something that relaxes at rate x, after a time of 1."""
    return float(quad(lambda t: math.exp(-x * (1.0 - t)) * t**power, 0.0, 1.0, epsabs=1e-13)[0])


@pytest.mark.parametrize("x", [0.0, 1e-6, 0.5e-3, 0.999e-3, 1.001e-3, 0.049, 0.3, 2.0, 30.0])
def test_what_is_left_of_a_force_is_its_integral(x):
    # Just beyond the series of phi2 a difference of near numbers has ten digits, and the series
    # of `bending` ends with a term of 4e-11.
    assert phi1(x) == pytest.approx(decayed(x, 0), rel=1e-12)
    assert phi2(x) == pytest.approx(decayed(x, 1), rel=1e-12 if x < 1e-3 else 1e-9)
    assert bending(x) == pytest.approx(decayed(x, 2) - decayed(x, 1), rel=1e-9)
    of_many = left_of_forces(np.array([x, 1.0]))
    assert [each[0] for each in of_many] == [phi1(x), phi2(x), bending(x)]


def test_relaxing_by_hand():
    inside = relaxed(0.1, 0.2, 0.1, 5.0, 1.0, 2.0)
    assert inside == pytest.approx(0.1 + 0.4 + 0.2)
    assert relaxed(0.2, 0.0, 0.0, 5.0, 1.0, 2.0) == 0.2  # nothing moves what nothing pushes
    assert relaxed(1.0, 0.0, 0.0, 5.0, 1.0, 2.0) == 1.0
    # Half beyond the threshold, pushed by 1 at rate 2: it stays half beyond.
    assert relaxed(1.5, 1.0, 0.0, 2.0, 1.0, 3.0) == pytest.approx(1.5)
    assert relaxed(1.5, 0.0, 0.0, 2.0, 1.0, 0.7) == pytest.approx(1.0 + 0.5 * math.exp(-1.4))
    # Reaches the threshold after 1, and relaxes for 2 more.
    out = 0.5 * (1.0 - math.exp(-4.0))
    assert relaxed(0.0, 1.0, 0.0, 2.0, 1.0, 3.0) == pytest.approx(1.0 + out)
    # Comes back after a half, and goes on inside without anything that holds it.
    assert relaxed(1.5, -1.0, 0.0, 0.0, 1.0, 2.0) == pytest.approx(-0.5)
    # On the threshold: outward it leaves, inward it does not.
    assert relaxed(1.0, 1.0, 0.0, 2.0, 1.0, 2.0) == pytest.approx(1.0 + out)
    assert relaxed(1.0, -0.5, 0.0, 2.0, 1.0, 2.0) == pytest.approx(0.0)
    # Turns back before the threshold: 0.4 t - 0.1 t^2 is 0.4 at most.
    assert relaxed(0.5, 0.4, -0.2, 2.0, 1.0, 4.0) == pytest.approx(0.5)
    # Inside it may also leave by the other side.
    assert relaxed(0.0, -1.0, 0.0, 2.0, 1.0, 3.0) == pytest.approx(-1.0 - out)


@pytest.mark.parametrize("z", [-1.7, -0.9, 0.2, 0.98, 1.1, 1.3, 2.5])
@pytest.mark.parametrize(
    ("force", "growth"),
    [(0.4, 0.0), (0.6, -0.5), (-2.0, 1.5), (1.0, -1.0), (-0.3, 0.4), (-2.5, 3.0), (-0.5, 0.5)],
)
@pytest.mark.parametrize("rate", [0.3, 2.0, 12.0])
def test_across_its_corners_it_is_what_scipy_integrates(z, force, growth, rate):
    def slope(t: float, now: np.ndarray) -> np.ndarray:
        return force + growth * t - rate * np.sign(now) * np.maximum(np.abs(now) - 1.0, 0.0)

    run = solve_ivp(slope, (0.0, 3.0), [z], "RK45", rtol=1e-9, atol=1e-10)
    assert relaxed(z, force, growth, rate, 1.0, 3.0) == pytest.approx(run.y[0, -1], abs=1e-6)
