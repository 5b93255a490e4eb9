"""What the intervals and the shared lean mean, in sentences that every face shows alike."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

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


def describe_attention(fitted: Fitted) -> str | None:
    """That some see the common scores more or less sharply; None where the model has no such."""
    if not fitted.problem.attention:
        return None
    sigma = fitted.attention[fitted.attention != 0.0]
    if not len(sigma):
        return (
            "Annotators may see the common scores more or less sharply; nobody does at the "
            "chosen time."
        )
    kinds = {
        "less sharply": np.count_nonzero((sigma < 0.0) & (sigma >= -1.0)),
        "the wrong way round": np.count_nonzero(sigma < -1.0),
        "more sharply": np.count_nonzero(sigma > 0.0),
    }
    parts = ", ".join(f"{n:,} {how}" for how, n in kinds.items() if n)
    return (
        f"Annotators do not all see the common scores alike: the model lets {len(sigma):,} of "
        f"{fitted.n_present:,} see them otherwise ({parts}), so that they move the ranking less."
    )
