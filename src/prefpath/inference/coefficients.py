"""What features are worth: the coefficients behind the leaderboard's scores, with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from prefpath.distributions import student_quantile
from prefpath.fitted import Fitted
from prefpath.inference.board import IntervalSettings
from prefpath.inference.columns import or_none
from prefpath.inference.intervals import CommonScores
from prefpath.model.design import Floats
from prefpath.model.standardised import StandardisedFeatures
from prefpath.votes.encode import BoolArray


def coefficient_bounds(fitted: Fitted, intervals: IntervalSettings) -> dict[str, Any]:
    """Features as given, what a unit of each adds to a score, and what its whole range does.

    The coefficients are those whose scores the leaderboard shows; low and high are None where
    other features say the same (as the indicators of a category do), or nothing bounds them.
    """
    columns = fitted.coefficient_columns()
    common = intervals.of(fitted)
    n = len(columns["feature"])
    low = high = np.full(n, np.nan)
    if common is not None and common.bounded.all():
        columns["coefficient"], error = _with_errors(fitted, common)
        reach = float(student_quantile((1.0 - intervals.level) / 2.0, common.degrees_of_freedom))
        low, high = (columns["coefficient"] + side * reach * error for side in (-1.0, 1.0))
        low, high = (np.where(error > 0.0, end, np.nan) for end in (low, high))
    return {
        **columns,
        "low": or_none(low),
        "high": or_none(high),
        "over_range": columns["coefficient"] * _ranges(fitted),
    }


def _with_errors(fitted: Fitted, common: CommonScores) -> tuple[Floats, Floats]:
    """Coefficients of the scores and their standard errors: scores are linear in them.

    Of all coefficients with these scores they are the smallest; the error is 0 where others would
    do as well.
    """
    features = np.asarray(fitted.features)
    inverse = np.linalg.pinv(features)
    variance = np.maximum(
        *(np.diag(inverse @ each @ inverse.T) for each in (common.covariance, common.unclustered))
    )
    error = np.where(_told_apart(features), np.sqrt(np.maximum(variance, 0.0)), 0.0)
    found = inverse @ common.score, error
    known = fitted.item_features
    if not isinstance(known, StandardisedFeatures):
        return found
    return known.as_given(found[0]), known.as_given(found[1])


def _told_apart(features: Floats) -> BoolArray:
    """Which features the compared items tell from all others together."""
    centred = features - features.mean(axis=0)
    told: BoolArray = np.isclose(np.diag(np.linalg.pinv(centred) @ centred), 1.0)
    return told


def _ranges(fitted: Fitted) -> Floats:
    """Of each feature, largest value less smallest among the compared items."""
    given = fitted.given_features
    assert given is not None
    width: Floats = np.ptp(given.of(fitted.votes.items), axis=0)
    return width
