"""Chebyshev steps: their order, how far they are stable, and the published coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from prefpath.solver.rkc import (
    MOST_STAGES,
    Stage,
    chebyshev,
    longest_step,
    next_stage,
    stages_needed,
)


def rkc(f: Any, y: np.ndarray, h: float, n_stages: int) -> np.ndarray:
    """One step, by the coefficients of the package."""
    coefficients, f0 = chebyshev(n_stages), f(y)
    older, newer = y.copy(), y + coefficients.first * h * f0
    for j in range(2, n_stages + 1):
        out = np.empty_like(y)
        next_stage(out, Stage(y, f0, newer, f(newer), older), coefficients, j, h)
        older, newer = newer, out
    return newer


@pytest.mark.parametrize("n_stages", [2, 3, 5, 12])
def test_a_chebyshev_step_is_of_second_order(n_stages):
    def f(y: np.ndarray) -> np.ndarray:
        return np.array([-y[0] + 0.3 * y[1] ** 2, -0.5 * np.sin(y[1])])

    def end(n_steps: int) -> np.ndarray:
        y = np.array([1.0, 0.8])
        for _ in range(n_steps):
            y = rkc(f, y, 1.0 / n_steps, n_stages)
        return y

    exact = end(2_000)
    errors = [np.abs(end(n) - exact).max() for n in (10, 20, 40)]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert np.all(orders > 1.85), errors


@pytest.mark.parametrize("n_stages", [2, 3, 7, 30, 200, MOST_STAGES])
def test_steps_are_stable_as_far_as_claimed(n_stages):
    reach = (n_stages**2 - 1.0) / 1.54
    assert stages_needed(reach * (1 - 1e-9), 1.0) <= n_stages
    z = np.linspace(0.01, reach, 400)
    growth = rkc(lambda y: -z * y, np.ones_like(z), 1.0, n_stages)
    assert np.abs(growth).max() <= 1.0
    assert np.abs(growth[z > 4.0]).max(initial=0.0) < 0.97  # damped
    too_far = rkc(lambda y: -1.1 * (reach + 3.0) * y, np.ones(1), 1.0, n_stages)
    assert abs(too_far[0]) > 1.0
    assert longest_step(2.0) == pytest.approx((MOST_STAGES**2 - 1.0) / 3.08)


def test_stages_by_hand():
    """Sommeijer, Shampine and Verwer: 1 + [sqrt(1 + 1.54 h rho)]; two at least."""
    assert stages_needed(1e-9, 1.0) == 2
    assert stages_needed(10.0, 3.0) == 7  # sqrt(47.2) = 6.87
    assert stages_needed(0.5, 200.0) == 13  # sqrt(155) = 12.4
