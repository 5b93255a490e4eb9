"""How tastes that nobody has found flatten probabilities, from none to large ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from prefpath.inference.attenuation import _FollowerSlots, _typical_k
from prefpath.model.losses import as_loss


def k_of(name: str, typical: float, variance: float) -> float:
    """k where all margins are alike, and items are apart by two coefficients."""
    n = np.ones(3)
    slots = _FollowerSlots(margin=typical * n, size=2.0 * n, weight=n, choice=0.0 * n)
    return _typical_k(as_loss(name), slots, variance)


@pytest.mark.parametrize("variance", [0.05, 0.5, 4.0])
@pytest.mark.parametrize("typical", [0.1, 1.0, 4.0])
def test_stretched_margins_have_the_mean_probability_that_was_seen(typical, variance):
    stretched = typical * np.sqrt(1.0 + k_of("bradley-terry", typical, variance) * 2.0 * variance)

    def weighted(z: float) -> float:
        seen = 1.0 / (1.0 + np.exp(-stretched - np.sqrt(2.0 * variance) * z))
        return float(seen * np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi))

    mean = quad(weighted, -12.0, 12.0)[0]
    assert mean == pytest.approx(1.0 / (1.0 + np.exp(-typical)), abs=2e-5)  # of 31 nodes


def test_normal_choices_have_the_k_of_their_formula():
    for typical, variance in ((0.1, 1e-16), (0.1, 0.3), (2.0, 4.0), (6.0, 0.5), (12.0, 0.5)):
        assert k_of("thurstone-mosteller", typical, variance) == pytest.approx(1.0, rel=1e-3)


def test_a_variance_of_rounding_has_the_k_of_a_small_one():
    """Both ends of the search were 0 but for rounding: a fit of a dozen votes ended in an error."""
    for typical in (0.1, 1.0, 30.0, 300.0):
        limit = np.tanh(typical / 2.0) / typical
        for variance in (1e-300, 5e-15, 1e-9, 1e-4):
            assert k_of("bradley-terry", typical, variance) == pytest.approx(limit, rel=1e-2)
