"""What the intervals and the shared lean mean, in sentences that every face shows alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prefpath.fitted import Fitted
from prefpath.inference.common import common_scores, population
from prefpath.leaderboard import interval_meaning
from prefpath.population import About
from prefpath.text import agreeing, listed


def describe_intervals(fitted: Fitted, about: About | None = None) -> str:
    """Whom the intervals of the scores are about."""
    if fitted.votes.anonymous:
        return "Intervals take votes as independent: nothing says who cast them."
    common = common_scores(fitted, about=about)
    unseen = common is not None and common.unseen_tastes
    whom, n_deviating = population(fitted, about=about), fitted.active_count[0]
    return interval_meaning(
        fitted.n_present, n_deviating, whom, unseen=unseen, voter=fitted.votes.voter
    )


def describe_unbounded(ranking: Mapping[str, Any]) -> str | None:
    """Items that only won or only lost: what their scores say, and what not."""
    if "bounded" not in ranking or all(ranking["bounded"]):
        return None
    rows = [
        (item, rate)
        for item, rate, bounded in zip(
            ranking["item"], ranking["win_rate"], ranking["bounded"], strict=True
        )
        if not bounded
    ]
    parts = []
    for rate, what, one, many in ((1.0, "won", "it leads", "they lead"),
                                  (0.0, "lost", "it is behind", "they are behind")):  # fmt: skip
        if some := [item for item, share in rows if share == rate]:
            who = agreeing(len(some), one, many)
            parts.append(f"{listed(some, 3)} {what} every vote: how far {who} is not known.")
    rest = [item for item, share in rows if share not in (0.0, 1.0)]
    if rest:
        parts.append(
            f"The votes do not bound the {agreeing(len(rest), 'score', 'scores')} of "
            f"{listed(rest, 3)}."
        )
    return " ".join(parts)


def describe_shared_lean(
    effect: Mapping[str, float | None], voter: str | None = "annotator"
) -> str:
    """The lean everybody shares (as `shared_position_effect` gives it), its size and interval.

    `voter` is what casts votes; None where there is only one.
    """
    point, low, high = (effect[name] for name in ("first_probability", "first_low", "first_high"))
    within = "" if low is None or high is None else f" ({low:.1%} to {high:.1%})"
    if low is not None and high is not None and low <= 0.5 <= high:
        return (
            "Beside those who lean, no lean is left that all share: of two equal items the left is "
            f"chosen in {point:.1%}{within} of the votes."
        )
    if voter is None:
        return (
            f"Of two equal items the left is chosen in {point:.1%}{within} of the votes. Scores "
            "are freed of it."
        )
    return (
        f"All {voter}s share a lean: of two equal items they choose the left in {point:.1%}"
        f"{within} of the votes. Scores are freed of it."
    )


def describe_attention(fitted: Fitted) -> str | None:
    """That some see the common scores more or less sharply; None where nobody does.

    How many, and which way, is what predicts best and no verdict: the verdicts count that.
    """
    if not fitted.problem.attention or not fitted.attention.any():
        return None
    return (
        f"Not all {fitted.votes.voter}s see the ranking equally sharply: the scores allow for that."
    )
