"""Who met whom on which side, and who won: each such event once, however often it happened."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from prefpath.pairs.keys import distinct_keys
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray, CodeArray, IntArray
from prefpath.votes.graph import components_of_pairs


@dataclass(frozen=True, eq=False)
class Meetings:
    """Distinct votes without who cast them.

    Most checks of the items only ask what happened at all. Millions of votes are pooled once,
    and every such check reads the few that differ.

    Attributes
    ----------
    left, right : array of int
    side : array of int
        1 where the left item was preferred, -1 the right one, 0 neither.
    known : array of bool
        Whether left and right were known.
    """

    n_items: int
    left: CodeArray
    right: CodeArray
    side: IntArray
    known: BoolArray

    @classmethod
    def of(cls, votes: Votes) -> Meetings:
        """The meetings of votes.

        >>> votes = Votes.from_arrays(list("aab"), list("xxx"), list("yyy"), [1, -1, 1])
        >>> Meetings.of(votes).side
        array([-1,  1])
        """
        n = votes.n_items
        key = votes.left.astype(np.int64)
        key *= n
        key += votes.right
        key *= 3
        key += 1 + (votes.choice > 0)
        key -= votes.choice < 0
        key *= 2
        key += votes.position_known
        distinct = distinct_keys(key, 6 * n * n)
        pair = distinct // 6
        return cls(
            n_items=n,
            left=(pair // n).astype(np.int32),
            right=(pair % n).astype(np.int32),
            side=distinct // 2 % 3 - 1,
            known=distinct % 2 == 1,
        )

    @cached_property
    def component(self) -> CodeArray:
        """Component of each item; 0 is the largest."""
        return components_of_pairs(self.left, self.right, self.n_items)

    @cached_property
    def n_components(self) -> int:
        return int(self.component.max()) + 1
