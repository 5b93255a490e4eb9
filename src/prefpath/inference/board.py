"""The leaderboard of a fit, win probabilities and the shared position effect, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

import numpy as np

from prefpath.errors import SettingError
from prefpath.fitted import Fitted
from prefpath.inference.columns import (
    Anchor,
    find_anchor,
    interval_columns,
    position_effect,
    shown_scores,
)
from prefpath.inference.common import common_scores
from prefpath.inference.intervals import CommonScores, Method, check_level
from prefpath.inference.loose import Loose, loose_items, voices_of
from prefpath.inference.scales import Scale
from prefpath.leaderboard import ranking_columns
from prefpath.model.design import Floats
from prefpath.pairs import average_score, pool_votes
from prefpath.population import About
from prefpath.votes.remote import RemoteVotes


@dataclass(frozen=True)
class IntervalSettings:
    """How intervals are made.

    Attributes
    ----------
    method : {"sandwich", "bootstrap"} or None
        Clustered by annotator either way: by formula, or by drawing whole annotators again.
    level : float
        How often an interval is to hold the true score, and the rank interval the rank.
    n_resamples : int
        Of the bootstrap.
    about : {"these", "annotators"} or None
        Whom they are about; by default these annotators where there are fewer than ten.
    """

    method: Method | None = "sandwich"
    level: float = 0.95
    n_resamples: int = 1_000
    about: About | None = None

    def __post_init__(self) -> None:
        check_level(self.level)

    def of(self, fitted: Fitted) -> CommonScores | None:
        """The common scores made so; None if no intervals are wanted, or none can be."""
        if self.method is None:
            return None
        return common_scores(fitted, self.method, n_resamples=self.n_resamples, about=self.about)


def leaderboard_columns(
    fitted: Fitted,
    intervals: IntervalSettings | None = None,
    *,
    annotator: Any = None,
    scale: Scale = "natural",
    anchor: Anchor = None,
    scores: Floats | None = None,
) -> dict[str, Any]:
    """The leaderboard as columns; of one annotator, or of other `scores`, without intervals.

    Scores are what the intervals are for; without intervals they are the path's own. Those the
    votes do not bound are drawn to the average item, which the bounded ones tell.
    """
    settings = IntervalSettings() if intervals is None else intervals
    code, value = find_anchor(fitted.votes, anchor, scale)
    bounds: dict[str, Any] = {}
    bounded = fitted.bounded
    common = settings.of(fitted) if annotator is None and scores is None else None
    if common is not None:
        scores, bounded, loose = common.score, common.bounded, _loose(fitted, common)
        bounds = interval_columns(common, settings.level, scale, code, value, loose)
    elif scores is None:
        scores = fitted.placed_scores
        if annotator is not None:
            scores = scores + fitted.own_scores(fitted.votes.annotator_code(annotator))
    average = average_score(scores, fitted.component, bounded)
    shown = shown_scores(scores, average, scale, fitted.loss, code, value)
    return ranking_columns(fitted.votes, scores, fitted.component, shown=shown, intervals=bounds)


def _loose(fitted: Fitted, common: CommonScores) -> Loose:
    """What is known of items that only won or only lost."""
    votes = fitted.votes
    if common.bounded.all() or not common.loss.binary or fitted.problem.features is not None:
        return {}
    if common.about == "these":
        return loose_items(pool_votes(votes), common, None)
    if isinstance(votes, RemoteVotes):
        return loose_items(pool_votes(votes), common, lambda item: int(votes.voices[item]))
    voices = voices_of(votes.left, votes.right, votes.annotator)
    return loose_items(pool_votes(votes), common, voices)


class BoardOptions(TypedDict, total=False):
    """What a leaderboard may be asked for by keyword."""

    interval: Method | None
    level: float
    scale: Scale
    anchor: Anchor
    n_resamples: int
    about: About | None


def board_columns(
    fitted: Fitted,
    annotator: Any = None,
    *,
    scores: Floats | None = None,
    **how: Unpack[BoardOptions],
) -> dict[str, Any]:
    """`leaderboard_columns` by the keywords of `PreferenceModel.ranking`."""
    settings, scale, anchor = _by_keyword(**how)
    return leaderboard_columns(
        fitted, settings, annotator=annotator, scale=scale, anchor=anchor, scores=scores
    )


def _by_keyword(
    *,
    interval: Method | None = "sandwich",
    level: float = 0.95,
    scale: Scale = "natural",
    anchor: Anchor = None,
    n_resamples: int = 1_000,
    about: About | None = None,
) -> tuple[IntervalSettings, Scale, Anchor]:
    """`BoardOptions` with their defaults; any other keyword is an error."""
    return IntervalSettings(interval, level, n_resamples, about), scale, anchor


def win_probability(
    fitted: Fitted, item: Any, other: Any, intervals: IntervalSettings
) -> dict[str, float | None]:
    """Probability that an average annotator prefers `item` to `other`, with its interval."""
    a, b = fitted.votes.item_code(item), fitted.votes.item_code(other)
    common = intervals.of(fitted)
    if common is None:
        margin = np.subtract(*fitted.placed_scores[[a, b]])
        point = float(fitted.loss.probability(margin))
        return {"probability": point, "low": None, "high": None}
    return common.win_probability(a, b, intervals.level)


def shared_position_effect(
    fitted: Fitted, level: float = 0.95, about: About | None = None
) -> dict[str, float | None]:
    """The position effect everybody shares: as logit, and as a chance at equal quality."""
    check_level(level)
    if not fitted.problem.common_position:
        raise SettingError(
            "the model has no common position effect",
            expected='a model fitted with common_position=True, or "auto" and votes that show one',
        )
    common = common_scores(fitted, about=about)
    return position_effect(common, fitted.common_position, level, fitted.loss)
