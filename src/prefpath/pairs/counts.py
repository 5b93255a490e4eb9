"""Votes pooled by pair of items: what they weigh and what they chose on average."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from prefpath.pairs.keys import Places, by_table, number_keys
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray, CodeArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Each compared pair once, `first < second` (item codes), in order of both.

    A loss whose slope is affine in the choice sees no more of the votes than this.

    Attributes
    ----------
    n_items : int
    first, second : array of int (n_pairs,)
    weight : array (n_pairs,)
        What the votes on the pair weigh together; above 0.
    choice : array (n_pairs,)
        Their weighted mean choice: 1 if all preferred the first item, -1 the second; a tie
        counts 0.
    """

    n_items: int
    first: CodeArray
    second: CodeArray
    weight: FloatArray
    choice: FloatArray

    @property
    def wins(self) -> FloatArray:
        """Weight of the votes for the first item; a tie is half a win and half a loss."""
        return 0.5 * self.weight * (1.0 + self.choice)

    @property
    def losses(self) -> FloatArray:
        """Weight of the votes for the second item, ties half."""
        return 0.5 * self.weight * (1.0 - self.choice)

    @cached_property
    def item_weight(self) -> FloatArray:
        """What the votes on each item weigh; 0 for an item nobody compared."""
        return self.at_items(self.weight, self.weight)

    @cached_property
    def item_wins(self) -> FloatArray:
        """What each item's wins weigh, ties half."""
        return self.at_items(self.wins, self.losses)

    def at_items(self, to_first: FloatArray, to_second: FloatArray) -> FloatArray:
        """Sum a quantity of the pairs over the items: one part to the first, one to the second."""
        total: FloatArray = np.zeros(self.n_items)
        total += np.bincount(self.first, to_first, self.n_items)
        total += np.bincount(self.second, to_second, self.n_items)
        return total


@dataclass(frozen=True, eq=False)
class PairIndex:
    """Which pair each row of votes is on, so that pooling with other weights is one pass.

    Attributes
    ----------
    place : array of int (n_rows,)
        Pair of each row.
    swapped : array of bool (n_rows,)
        Rows whose left item is the pair's second.
    """

    n_items: int
    first: CodeArray
    second: CodeArray
    place: Places
    swapped: BoolArray

    @classmethod
    def of(cls, left: CodeArray, right: CodeArray, n_items: int) -> PairIndex:
        key, swapped = _pair_keys(left, right, n_items)
        distinct, place = number_keys(key, n_items * n_items)
        return cls(n_items, *_items_of(distinct, n_items), place, swapped)

    def pool(self, choice: FloatArray, weight: FloatArray) -> PairCounts:
        """The rows with these choices and weights, pooled; pairs that weigh nothing left out."""
        toward = np.where(self.swapped, -choice, choice)
        n_pairs = len(self.first)
        total = np.bincount(self.place, weight, n_pairs).astype(np.float64)
        pull = np.bincount(self.place, weight * toward, n_pairs)
        kept = total > 0
        first, second = self.first[kept], self.second[kept]
        return PairCounts(self.n_items, first, second, total[kept], pull[kept] / total[kept])


def pool_votes(votes: Votes) -> PairCounts:
    """Votes pooled by pair; who cast them is forgotten.

    Examples
    --------
    >>> votes = Votes.from_arrays(list("aab"), list("xxy"), list("yyx"), [1, 1, 1])
    >>> pooled = pool_votes(votes)
    >>> pooled.weight, pooled.choice.round(3), pooled.wins
    (array([3.]), array([0.333]), array([2.]))
    """
    return pool_pairs(votes.left, votes.right, votes.choice, votes.weight, n_items=votes.n_items)


def pool_pairs(
    left: CodeArray,
    right: CodeArray,
    choice: FloatArray,
    weight: FloatArray | None = None,
    *,
    n_items: int,
) -> PairCounts:
    """Pool votes given as item codes, choices and weights (1 each if None).

    Few items: one table of all pairs. Many: the rows are sorted by pair, never by annotator.
    """
    if not by_table(len(left), n_items * n_items):
        every = np.ones(len(left)) if weight is None else weight
        return PairIndex.of(left, right, n_items).pool(choice, every)
    key, swapped = _pair_keys(left, right, n_items)
    pull = np.where(swapped, -choice, choice)
    if weight is not None:
        pull *= weight
    size = n_items * n_items
    total = np.bincount(key, weight, size)
    pair = np.flatnonzero(total)
    pulled = np.bincount(key, pull, size)[pair]
    weighed = total[pair].astype(np.float64)
    return PairCounts(n_items, *_items_of(pair, n_items), weighed, pulled / weighed)


def _pair_keys(left: CodeArray, right: CodeArray, n_items: int) -> tuple[IntArray, BoolArray]:
    """One number for each pair, `first * n_items + second`, and where the sides are swapped."""
    key = np.minimum(left, right).astype(np.int64)
    key *= n_items
    key += np.maximum(left, right)
    return key, left > right


def _items_of(key: IntArray, n_items: int) -> tuple[CodeArray, CodeArray]:
    first, second = np.divmod(key, n_items)
    return first.astype(np.int32), second.astype(np.int32)
