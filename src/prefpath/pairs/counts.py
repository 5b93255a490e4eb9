"""Votes pooled by pair of items: what they weigh and what they chose on average."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefpath.pairs.keys import Places, by_table, items_of_keys, number_keys, pair_keys
from prefpath.pairs.tally import Tally, tally_by_sorting, tally_by_table, whole_sides
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray, CodeArray, FloatArray

# Or as many as there are pairs: fresh memory for all takes longer than sums.
_ROWS_AT_ONCE = 1 << 20


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

    @classmethod
    def of_tally(cls, n_items: int, tally: Tally) -> PairCounts:
        """Pairs of counted half-points."""
        total = (tally.for_first + tally.for_second).astype(np.float64)
        choice = (tally.for_first - tally.for_second) / total
        return cls(n_items, tally.first, tally.second, 0.5 * total, choice)

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

    def among(self, chosen: BoolArray) -> PairCounts:
        """The pairs of chosen items only; these are numbered anew, in their order."""
        kept = chosen[self.first] & chosen[self.second]
        code = (np.cumsum(chosen) - 1).astype(np.int32)
        first, second = code[self.first[kept]], code[self.second[kept]]
        n_items = int(chosen.sum())
        return PairCounts(n_items, first, second, self.weight[kept], self.choice[kept])

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
        key, swapped = pair_keys(left, right, n_items)
        distinct, place = number_keys(key, n_items * n_items)
        return cls(n_items, *items_of_keys(distinct, n_items), place, swapped)

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
    choice: NDArray[Any],
    weight: FloatArray | None = None,
    *,
    n_items: int,
) -> PairCounts:
    """Pool votes given as item codes, choices and weights (1 each if None).

    Few items: one table of all pairs. Many: the rows are sorted by pair, never by annotator.
    Votes that won, lost or tied and weigh 1 are counted, which is several times faster.
    """
    sides = whole_sides(choice) if weight is None else None
    table = by_table(len(left), n_items * n_items)
    if sides is not None:
        tally = (tally_by_table if table else tally_by_sorting)(left, right, sides, n_items)
        return PairCounts.of_tally(n_items, tally)
    every = np.ones(len(left)) if weight is None else weight
    if not table:
        return PairIndex.of(left, right, n_items).pool(choice.astype(np.float64), every)
    total, pull = _sums_by_table(left, right, choice, every, n_items)
    pair = np.flatnonzero(total)
    weighed = total[pair]
    return PairCounts(n_items, *items_of_keys(pair, n_items), weighed, pull[pair] / weighed)


def _sums_by_table(
    left: CodeArray, right: CodeArray, choice: NDArray[Any], weight: FloatArray, n_items: int
) -> tuple[FloatArray, FloatArray]:
    """Weight of each of all pairs, and weight times choice."""
    size = n_items * n_items
    total, pull = np.zeros(size), np.zeros(size)
    for start in range(0, len(left), max(size, _ROWS_AT_ONCE)):
        rows = slice(start, start + max(size, _ROWS_AT_ONCE))
        key, swapped = pair_keys(left[rows], right[rows], n_items)
        toward = np.where(swapped, -choice[rows], choice[rows])
        total += np.bincount(key, weight[rows], size)
        pull += np.bincount(key, weight[rows] * toward, size)
    return total, pull
