"""Scores, intervals and ranks as columns, on the scale and from the anchor a reader wants."""

from __future__ import annotations

from typing import Any

import numpy as np

from prefpath.distributions import student_quantile
from prefpath.errors import SettingError
from prefpath.inference.intervals import CommonScores
from prefpath.inference.loose import Loose
from prefpath.inference.ranks import rank_intervals
from prefpath.inference.scales import ELO_START, Scale, check_scale, rescale
from prefpath.model.design import Floats
from prefpath.model.losses import Loss
from prefpath.votes import Votes

Anchor = Any  # an item's label, or (label, the value it is shown at)


def interval_columns(
    common: CommonScores,
    level: float,
    scale: Scale,
    anchor: int | None,
    value: float | None,
    loose: Loose | None = None,
) -> dict[str, Any]:
    """Bounds of scores and ranks in the order of the items; None where nothing bounds them."""
    shown = common.about_average() if scale == "probability" and anchor is None else common
    low, high = shown.interval(level, anchor)
    first, last = rank_intervals(common, level, loose)
    return {
        "score_low": or_none(_show(low, scale, common.loss, value)),
        "score_high": or_none(_show(high, scale, common.loss, value)),
        "rank_low": first,
        "rank_high": last,
        "bounded": ~np.isnan(low),
    }


def shown_scores(
    score: Floats,
    average: Floats,
    scale: Scale,
    loss: Loss,
    anchor: int | None,
    value: float | None,
) -> Floats:
    """Scores on a scale: as they are, from the anchor's, or from the average item's."""
    if anchor is not None:
        score = score - score[anchor]
    elif scale == "probability":
        score = score - average
    return _show(score, scale, loss, value)


def find_anchor(votes: Votes, anchor: Anchor, scale: Scale) -> tuple[int | None, float | None]:
    """Code of the anchor item, and the value it is shown at if it is not the scale's own."""
    check_scale(scale)
    if anchor is None:
        return None, None
    label, value = anchor if isinstance(anchor, tuple) else (anchor, None)
    if value is not None and scale == "probability":
        raise SettingError(
            f"an anchor at {value} on the probability scale",
            expected="an item alone: scores are then probabilities of beating it",
        )
    return votes.item_code(label), None if value is None else float(value)


def position_effect(
    common: CommonScores | None, point: float, level: float, loss: Loss
) -> dict[str, float | None]:
    """The common position effect and its interval, as logit and as probability of the first."""
    low = high = np.nan
    if common is not None and common.common_position is not None:
        reach = float(student_quantile((1.0 - level) / 2.0, common.degrees_of_freedom))
        point, error = common.common_position, common.position_error or 0.0
        low, high = point - reach * error, point + reach * error
    logit = or_none(np.array([point, low, high]))
    chance = or_none(loss.probability(np.array([point, low, high])))
    names = ("position_effect", "low", "high")
    chances = ("first_probability", "first_low", "first_high")
    return dict(zip(names + chances, logit + chance, strict=True))


def or_none(values: Floats) -> list[float | None]:
    """Values as a list with None for NaN: a null in every library of frames."""
    return [None if np.isnan(value) else float(value) for value in values]


def _show(score: Floats, scale: Scale, loss: Loss, value: float | None) -> Floats:
    shown = rescale(score, scale, loss)
    if value is None:
        return shown
    return shown + (value - (ELO_START if scale == "elo" else 0.0))
