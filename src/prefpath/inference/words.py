"""What the intervals and the shared lean mean, in sentences that every face shows alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prefpath.fitted import Fitted
from prefpath.inference.common import common_scores, population
from prefpath.inference.evidence import sees_otherwise
from prefpath.leaderboard import interval_meaning, shown_items
from prefpath.population import About
from prefpath.text import agreeing, counted, listed, shortened

_FEW_VOTES = 10  # nobody should take the place of such an item for a finding


def describe_intervals(fitted: Fitted, about: About | None = None) -> str:
    """Whom the intervals of the scores are about."""
    if fitted.votes.anonymous:
        return "Intervals take votes as independent: nothing says who cast them."
    whom, n_deviating = population(fitted, about=about), fitted.active_count[0]
    otherwise = sees_otherwise(fitted.votes.annotator_weight, fitted.attention)
    return interval_meaning(
        fitted.n_present,
        n_deviating,
        whom,
        unseen=_is_mean_preference(fitted, about),
        n_left_out=int(otherwise.sum()),
        voter=fitted.votes.voter,
    )


def _is_mean_preference(fitted: Fitted, about: About | None) -> bool:
    common = common_scores(fitted, about=about)
    return common is not None and common.unseen_tastes


def describe_unbounded(ranking: Mapping[str, Any]) -> str | None:
    """Items that only won or only lost: on how many votes, and how they are placed.

    Examples
    --------
    >>> ranking = {"item": ["a", "b"], "votes": [9, 1], "win_rate": [0.5, 1.0]}
    >>> describe_unbounded({**ranking, "bounded": [True, False]})[:32]
    'b (1 vote) won every vote. No vo'
    """
    if "bounded" not in ranking or all(ranking["bounded"]):
        return None
    columns = (shown_items(ranking), *(ranking[name] for name in ("votes", "win_rate", "bounded")))
    rows = [
        (f"{shortened(item)} ({counted(n, 'vote')})", rate)
        for item, n, rate, bounded in zip(*columns, strict=True)
        if not bounded
    ]
    some = {rate: [who for who, share in rows if share == rate] for rate in (1.0, 0.0)}
    rest = [who for who, share in rows if share not in some]
    parts = [f"{listed(some[1.0], 3)} won every vote."] if some[1.0] else []
    parts += [f"{listed(some[0.0], 3)} lost every vote."] if some[0.0] else []
    parts += [f"The votes do not bound the score of {listed(rest, 3)}."] if rest else []
    return " ".join([*parts, placed_words(len(rows))])


def missing_end(win_rate: float | None, votes: float) -> str:
    """What stands for the interval of a score the votes do not bound.

    >>> missing_end(1.0, 1), missing_end(0.0, 55), missing_end(None, 0)
    ('no upper end, 1 vote', 'no lower end', 'not bounded, 0 votes')
    """
    rate = -1.0 if win_rate is None else win_rate
    missing = {1.0: "no upper end", 0.0: "no lower end"}.get(rate, "not bounded")
    return f"{missing}, {counted(int(votes), 'vote')}" if votes < _FEW_VOTES else missing


def placed_words(n: int) -> str:
    """How items are placed whose score the votes do not bound."""
    whom, they = agreeing(n, "it is", "they are"), agreeing(n, "It is", "They are")
    return (
        f"No vote says how far from the others {whom} at most. {they} placed by an estimate "
        "drawn to the average item, the more so the fewer the votes."
    )


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


def describe_attention(fitted: Fitted, about: About | None = None) -> str | None:
    """That some see the common scores more or less sharply; None where nobody does.

    How many, and which way, is what predicts best and no verdict: the verdicts count that. A mean
    preference has in it who sees less sharply and was not found: it is nobody's who sees as most.
    """
    if not fitted.problem.attention or not fitted.attention.any() or fitted.knows_nothing:
        return None
    said = f"Not all {fitted.votes.voter}s see the ranking equally sharply: the scores "
    if population(fitted, about=about) == "these" or _is_mean_preference(fitted, about):
        return f"{said}allow for that."
    return f"{said}and intervals are of those who see it as most do."


def describe_coefficients(fitted: Fitted, *, some_alike: bool = False) -> str:
    """How to read the coefficients of features, `some_alike` being told by others."""
    odds = " (0.69 doubles the odds)" if fitted.loss.name == "bradley-terry" else ""
    said = (
        f"A coefficient is what one unit of the feature adds to an item's score{odds}, the other "
        "features being equal; lowest to highest is what the feature's whole range among these "
        "items adds."
    )
    alike = (
        " Features without an interval follow from others, as one kind does from all other kinds: "
        "only their differences tell something."
    )
    return said + alike if some_alike else said
