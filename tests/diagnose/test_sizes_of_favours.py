"""Does a judge favour its own? Planted favours are found, tastes and leans are none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from prefpath import Votes
from prefpath.diagnose.favours import FavourFit, FavourRows, fit_favours, usual_taste
from prefpath.model.losses import LOSSES
from prefpath.votes.families import own_items

LOSS = LOSSES["bradley-terry"]()
N_JUDGES, N_ITEMS, N_FAMILIES, TIMES = 8, 12, 4, 4
FAMILY = np.arange(N_ITEMS) % N_FAMILIES
FAMILIES = {f"item{i:02d}": str(FAMILY[i]) for i in range(N_ITEMS)}
FAMILIES |= {f"judge{u}": str(u % N_FAMILIES) for u in range(N_JUDGES)}


def judged(seed: int, *, taste: float = 0.0, favour: float = 0.0) -> FavourFit:
    """Every judge sees every pair in both orders, with a lean and a sharpness of its own."""
    rng = np.random.default_rng(seed)
    left, right = np.nonzero(~np.eye(N_ITEMS, dtype=bool))
    left, right = np.tile(left, TIMES), np.tile(right, TIMES)
    scores, choices = rng.normal(size=N_ITEMS), []
    for u in range(N_JUDGES):
        own = scores * np.exp(rng.normal(0.0, 0.3)) + rng.normal(0.0, taste, N_ITEMS)
        own += favour * (u % N_FAMILIES == FAMILY)
        chance = expit(own[left] - own[right] + rng.normal(0.0, 0.4))
        choices.append(np.where(rng.random(len(left)) < chance, 1, -1))
    names = np.array([f"item{i:02d}" for i in range(N_ITEMS)])
    who = np.repeat([f"judge{u}" for u in range(N_JUDGES)], len(left))
    sides = np.tile(names[left], N_JUDGES), np.tile(names[right], N_JUDGES)
    votes = Votes.from_arrays(who, *sides, np.concatenate(choices))
    return fit_favours(FavourRows.of(votes, own_items(votes, FAMILIES)), LOSS)


def test_a_favour_is_measured_and_its_interval_holds_it():
    fits = [judged(seed, favour=1.0) for seed in range(6)]
    favour = np.concatenate([fit.favour for fit in fits])
    error = np.concatenate([fit.error for fit in fits])
    assert favour.mean() == pytest.approx(1.0, abs=0.08)
    assert np.mean(np.abs(favour - 1.0) < 1.96 * error) > 0.85


@pytest.mark.parametrize("taste", [0.3, 0.6])
def test_tastes_for_other_items_have_the_size_they_were_given(taste):
    """Large ones flatten each other: a tenth of the second was missing, and too many were named."""
    found = [usual_taste(judged(seed, taste=taste), LOSS) for seed in range(14)]
    assert np.sqrt(np.mean(np.square(found))) == pytest.approx(taste, rel=0.09)
