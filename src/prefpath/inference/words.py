"""What the intervals and the shared lean mean, in sentences that every face shows alike."""

from __future__ import annotations

from collections.abc import Mapping

from prefpath.fitted import Fitted
from prefpath.inference.common import common_scores, population
from prefpath.leaderboard import interval_meaning
from prefpath.population import About


def describe_intervals(fitted: Fitted, about: About | None = None) -> str:
    """Whom the intervals of the scores are about."""
    common = common_scores(fitted, about=about)
    unseen = common is not None and common.unseen_tastes
    whom, n_deviating = population(fitted, about=about), fitted.active_count[0]
    return interval_meaning(fitted.n_present, n_deviating, whom, unseen=unseen)


def describe_shared_lean(effect: Mapping[str, float | None]) -> str:
    """The lean everybody shares (as `shared_position_effect` gives it), its size and interval."""
    point, low, high = (effect[name] for name in ("first_probability", "first_low", "first_high"))
    within = "" if low is None or high is None else f" ({low:.1%} to {high:.1%})"
    if low is not None and high is not None and low <= 0.5 <= high:
        return (
            f"A lean that all might share is allowed for, and none is left beside those who lean: "
            f"of two equal items the left is chosen in {point:.1%}{within} of the votes."
        )
    return (
        f"All annotators share a lean: of two equal items they choose the left in {point:.1%}"
        f"{within} of the votes. Scores are freed of it, and an annotator who leans does so "
        "beyond it."
    )
