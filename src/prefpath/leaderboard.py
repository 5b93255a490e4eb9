"""Rankings as columns of plain values, labels first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from prefpath.fitted.ranks import order_within, rank_within
from prefpath.model.design import Floats, Ints
from prefpath.population import About
from prefpath.votes import Votes
from prefpath.votes.encode import CodeArray
from prefpath.votes.totals import side_clicks as side_clicks

_ROWS_AT_ONCE = 1 << 16  # what is computed of them stays in the cache


def ranking_columns(
    votes: Votes,
    scores: Floats,
    component: CodeArray,
    *,
    shown: Floats | None = None,
    intervals: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Items from best to worst, within each group of items that were compared.

    `shown` are the scores as they are to be read (on another scale); `intervals` are columns
    in the order of the items, put beside the score.
    """
    order = order_within(scores, component)
    rank = rank_within(scores, component)
    wins, seen = item_wins(votes)
    rate = [float(w / s) if s > 0 else None for w, s in zip(wins[order], seen[order], strict=True)]
    columns = {
        "rank": rank[order],
        "item": votes.items[order],
        "score": (scores if shown is None else shown)[order],
        **{name: _reorder(column, order) for name, column in (intervals or {}).items()},
        "votes": seen[order],
        "win_rate": rate,
    }
    if component.max() > 0:
        columns["component"] = component[order] + 1
    return columns


def _reorder(column: Any, order: Ints) -> Any:
    return column[order] if isinstance(column, np.ndarray) else [column[k] for k in order]


def with_names(columns: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The columns with what to call each item beside its label; as they are without names.

    Examples
    --------
    >>> with_names({"rank": [1, 2], "item": ["a7", "b3"]}, {"a7": "Apple"})
    {'rank': [1, 2], 'item': ['a7', 'b3'], 'name': ['Apple', 'b3']}
    """
    if not names or "item" not in columns:
        return dict(columns)
    called = [names.get(str(item), str(item)) for item in columns["item"]]
    found: dict[str, Any] = {}
    for heading, values in columns.items():
        found[heading] = values
        if heading == "item":
            found["name"] = called
    return found


def shown_items(columns: Mapping[str, Any]) -> Any:
    """What to call the items of a table: their names, or else their labels."""
    return columns["name"] if "name" in columns else columns["item"]


def interval_meaning(
    n_annotators: int,
    n_deviating: int,
    about: About = "annotators",
    *,
    unseen: bool = False,
    n_left_out: int = 0,
    voter: str = "annotator",
) -> str:
    """What intervals of the common score are about, in plain words.

    Of these annotators it is their mean taste. Of all like them: where most follow one ranking it
    is theirs, where most have a taste of their own it is the middle; and where annotators differ
    by more than was found in any of them, or may for all their votes say, or by so much that
    nothing holds the middle (`unseen`), it is what the votes of the crowd come to, without those
    left out because they see the scores more or less sharply.

    Examples
    --------
    >>> interval_meaning(100, 4)
    'Intervals are for the ranking most annotators follow, others like these included.'
    """
    if n_annotators == 1:
        return f"Intervals are about one {voter}'s votes: nothing tells how others would differ."
    if about == "these":
        return (
            f"Intervals are for the mean taste of these {n_annotators:,} {voter}s, each counting "
            "alike, and say nothing about others."
        )
    if unseen:
        whose = _like_these(n_annotators, n_left_out, voter)
        return (
            f"Intervals are for the mean preference of {whose}, which need not be a ranking most "
            "of them follow."
        )
    if 2 * n_deviating < n_annotators:
        return f"Intervals are for the ranking most {voter}s follow, others like these included."
    who = f"all {n_annotators:,}" if n_deviating == n_annotators else f"{n_deviating:,} of them"
    return (
        f"Intervals are for the middle taste of {voter}s like these, no ranking they follow: what "
        f"predicts best gives {who} a taste of their own."
    )


def _like_these(n: int, n_left_out: int, voter: str) -> str:
    if not n_left_out:
        return f"{voter}s like these"
    others = f"other {voter} sees" if n_left_out == 1 else f"other {voter}s see"
    return (
        f"{voter}s like {n - n_left_out:,} of these (the {n_left_out:,} {others} the ranking more "
        "or less sharply, or against it)"
    )


def ties_meaning(share: float) -> str | None:
    """What scores and win rates are where a share of the votes are ties; None where none are.

    Examples
    --------
    >>> ties_meaning(0.3)[:25], ties_meaning(0.001)[:27], ties_meaning(0.0)
    ('30% of the votes are ties', 'Under 1% of the votes are t', None)
    """
    if share in (0.0, 1.0):  # if all are, that is said before any number
        return None
    shown = "Under 1%" if share < 0.005 else "Over 99%" if share >= 0.995 else f"{share:.0%}"
    return (
        f"{shown} of the votes are ties, and a tie counts half a win: scores and win rates are "
        "shares of points, flatter than those of decided votes."
    )


def item_wins(votes: Votes) -> tuple[Floats, Floats]:
    """Votes each item won (a tie is half a win), and votes it was shown in."""
    n = votes.n_items
    wins: Floats = np.zeros(n)
    shown: Floats = np.zeros(n)
    for start in range(0, votes.n_rows, _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        left, right, weight = votes.left[rows], votes.right[rows], votes.weight[rows]
        share = (1.0 + np.clip(votes.choice[rows], -1.0, 1.0)) / 2.0
        wins += np.bincount(left, weight * share, n)
        wins += np.bincount(right, weight * (1.0 - share), n)
        shown += np.bincount(left, weight, n) + np.bincount(right, weight, n)
    return wins, shown
