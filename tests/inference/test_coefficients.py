"""Coefficients of features: on the user's scale, those behind the scores, with intervals."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from prefpath import PreferenceModel, Votes
from prefpath.findings import find
from prefpath.inference import IntervalSettings
from prefpath.inference.coefficients import coefficient_bounds
from prefpath.model.features import ItemFeatures

pytestmark = pytest.mark.filterwarnings("ignore::prefpath.VoteWarning")
WORTH = np.array([0.05, 0.8])


def films(*extra: str) -> PreferenceModel:
    """Films whose worth is that of their year and whether they have action."""
    rng = np.random.default_rng(3)
    table = np.column_stack((rng.integers(1980, 2024, 20), np.arange(20) % 2)).astype(float)
    score = table @ WORTH
    left = rng.integers(20, size=2000)
    right = (left + rng.integers(1, 20, size=2000)) % 20
    won = rng.random(2000) < 1.0 / (1.0 + np.exp(score[right] - score[left]))
    votes = Votes.from_arrays(rng.integers(30, size=2000), left, right, np.where(won, 1, -1))
    known = np.column_stack([table, *(2.0 * table[:, 0] for _ in extra)])
    features = ItemFeatures(votes.items, ("year", "action", *extra), known)
    return PreferenceModel(features=features, cv=0, n_times=5, t_ratio=5.0).fit(votes)


def test_intervals_hold_what_made_the_votes_and_scores_are_their_sum() -> None:
    model = films()
    found = coefficient_bounds(model.fitted_, IntervalSettings())
    for truth, low, high in zip(WORTH, found["low"], found["high"], strict=True):
        assert low < truth < high
    given = model.fitted_.given_features.of(model.votes_.items)
    apart = given @ found["coefficient"] - model.common_scores().score
    assert_allclose(apart, apart[0], atol=1e-9)
    assert_allclose(found["over_range"], found["coefficient"] * np.ptp(given, axis=0))


def test_collinear_features_have_no_intervals_of_their_own_and_others_have() -> None:
    model = films("twice the year")
    found = find(model)
    columns = found.coefficients
    for known in (columns["low"], columns["high"]):
        assert [end is None for end in known] == [True, False, True]
    assert columns["low"][1] < WORTH[1] < columns["high"][1]
    given = model.fitted_.given_features.of(model.votes_.items)
    apart = given @ columns["coefficient"] - model.common_scores().score
    assert_allclose(apart, apart[0], atol=1e-6)
    assert "without an interval follow from others" in found.meaning_of_coefficients


def test_a_model_without_features_has_none() -> None:
    votes = Votes.from_arrays(list("uvw"), list("aba"), list("bac"), [1, 1, -1])
    found = find(PreferenceModel(cv=0, n_times=3, t_ratio=3.0).fit(votes))
    assert found.coefficients is None and found.as_json()["features"] is None
