"""One leaderboard for each group of items that were compared: who leads, and how surely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from prefpath.model.design import Ints

Columns = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Board:
    """The items of one group, best first.

    Attributes
    ----------
    number : int
        1 is the largest group.
    rows : array of int
        Rows of the ranking.
    leader : label
    rivals : tuple of labels, or None
        Who else may be first; None if no intervals tell.
    last_rank : int or None
        The worst rank the leader may have.
    """

    number: int
    rows: Ints
    leader: Any
    rivals: tuple[Any, ...] | None
    last_rank: int | None

    @property
    def certain(self) -> bool:
        """Whether no other item of the group can be first.

        Each item's ranks are told by itself: one may be first for sure, another perhaps first.
        """
        return self.last_rank == 1 and not self.rivals


def boards_of(ranking: Columns) -> tuple[Board, ...]:
    """The boards of a ranking, the largest group's first.

    Examples
    --------
    >>> ranking = {"item": ["a", "b", "c"], "rank_low": [1, 1, 3], "rank_high": [2, 2, 3]}
    >>> boards_of(ranking)[0].rivals
    ('b',)
    """
    n = len(ranking["item"])
    group = np.asarray(ranking["component"]) if "component" in ranking else np.ones(n, dtype=int)
    return tuple(
        _board(ranking, int(number), np.flatnonzero(group == number)) for number in np.unique(group)
    )


def _board(ranking: Columns, number: int, rows: Ints) -> Board:
    low, high = ranking.get("rank_low"), ranking.get("rank_high")
    leader = ranking["item"][rows[0]]
    if low is None or high is None or high[rows[0]] is None:
        return Board(number, rows, leader, None, None)
    rivals = tuple(ranking["item"][row] for row in rows[1:] if int(low[row]) == 1)
    return Board(number, rows, leader, rivals, int(high[rows[0]]))
