"""`PlainRanking`: the frozen result of `rank`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from prefpath.fitted.ranks import order_within, rank_within
from prefpath.frames import build_frame
from prefpath.votes.encode import BoolArray, CodeArray, FloatArray, IntArray, Labels

_ROWS_SHOWN = 10


@dataclass(frozen=True, eq=False)
class Bounds:
    """Intervals of scores and ranks, in the order of the items."""

    score_low: FloatArray
    score_high: FloatArray
    rank_low: IntArray
    rank_high: IntArray


@dataclass(frozen=True, eq=False)
class PlainRanking:
    """Items by one score each.

    Attributes
    ----------
    items : array
        Labels; all other arrays are in their order.
    scores : array
        Those of bounded items sum to zero in each component.
    component : array of int
        Scores are comparable only within one; 0 is the largest.
    bounded : array of bool
        False where the votes do not bound the score: the item never lost, or never won, against
        those whose scores they do bound. Its score is then drawn to the average item's.
    votes, wins : array
        What the votes on each item weigh, and those it won (a tie is half a win).
    bounds : Bounds or None
        95 % intervals, or of the level asked for.
    method : str
    level : float or None
    notes : tuple of str
        What a reader should know, in plain words.

    Examples
    --------
    >>> from prefpath import rank, simulate_crowd
    >>> found = rank(simulate_crowd(400, 8, 3, seed=0).votes)
    >>> sorted(found.ranks.tolist()), list(found.columns())[:3], len(found.frame())
    ([1, 2, 3], ['rank', 'item', 'score'], 3)
    """

    items: Labels
    scores: FloatArray
    component: CodeArray
    bounded: BoolArray
    votes: FloatArray
    wins: FloatArray
    bounds: Bounds | None
    method: str
    level: float | None
    notes: tuple[str, ...]
    library: str | None = None

    @property
    def ranks(self) -> IntArray:
        """Rank of each item among those of its component, 1 for the best."""
        return rank_within(self.scores, self.component)

    def columns(self) -> dict[str, Any]:
        """Items from best to worst as columns of plain values; None where there is no value."""
        order = order_within(self.scores, self.component)
        rate = np.divide(
            self.wins, self.votes, out=np.full(len(order), np.nan), where=self.votes > 0
        )
        columns: dict[str, Any] = {
            "rank": self.ranks[order],
            "item": self.items[order],
            "score": self.scores[order],
        }
        if self.bounds is not None:
            columns["score_low"] = _or_none(self.bounds.score_low[order])
            columns["score_high"] = _or_none(self.bounds.score_high[order])
            columns["rank_low"] = self.bounds.rank_low[order]
            columns["rank_high"] = self.bounds.rank_high[order]
        columns["bounded"] = self.bounded[order]
        columns["votes"] = self.votes[order]
        columns["win_rate"] = _or_none(rate[order])
        if self.component.max() > 0:
            columns["component"] = self.component[order] + 1
        return columns

    def frame(self) -> Any:
        """The same as a data frame, in the library the votes came in."""
        return build_frame(self.columns(), self.library)

    def __repr__(self) -> str:
        columns = self.columns()
        shown = zip(columns["rank"], columns["item"], columns["score"], strict=True)
        lines = [f"{rank:>5}  {score:>7.3f}  {item}" for rank, item, score in shown]
        more = len(lines) - _ROWS_SHOWN
        lines = lines[:_ROWS_SHOWN] + ([f"  ... and {more:,} more"] if more > 0 else [])
        return "\n".join([f"PlainRanking by {self.method}", *lines, *self.notes])


def _or_none(values: FloatArray) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]
