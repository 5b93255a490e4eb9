"""What a baseline learns from: votes, their weights, and the same votes pooled by pair."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from prefpath.errors import VoteError
from prefpath.pairs import PairCounts, PairIndex
from prefpath.pairs.keys import number_keys
from prefpath.text import counted
from prefpath.votes import Votes
from prefpath.votes.check import check_weights
from prefpath.votes.encode import FloatArray, IntArray

Design = Any  # an (n_rows, n_columns) ndarray, or a scipy CSR array for one-hot items


@dataclass(frozen=True, eq=False)
class VoteGroups:
    """Distinct (pair, choice) among the votes; the annotator is forgotten.

    Group `g` says: item `first[g]` was compared with `second[g]` (its code is the larger one)
    and the choice was `choice[g]`, > 0 for the first. Groups are sorted by pair; group `g`
    belongs to pair `pair[g]`, and row `r` of the votes to group `of_row[r]`.
    """

    first: IntArray
    second: IntArray
    choice: FloatArray
    pair: IntArray
    of_row: IntArray

    @classmethod
    def from_votes(cls, votes: Votes) -> VoteGroups:
        index = PairIndex.of(votes.left, votes.right, votes.n_items)
        toward = np.where(index.swapped, -votes.choice, votes.choice)
        levels, level = np.unique(toward, return_inverse=True)
        key = index.place.astype(np.int64) * len(levels) + level
        distinct, of_row = number_keys(key, len(index.first) * len(levels))
        pair, level = np.divmod(distinct, len(levels))
        return cls(
            first=index.first[pair].astype(np.int64),
            second=index.second[pair].astype(np.int64),
            choice=levels[level],
            pair=pair,
            of_row=of_row.astype(np.int64),
        )

    @cached_property
    def pair_start(self) -> IntArray:
        """First group of each pair."""
        return np.flatnonzero(np.diff(self.pair, prepend=-1))


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What the votes on each pair weigh: those for the first item, for the second, ties.

    The pairs of all votes, those a fold leaves without weight too: folds share the pairs.
    """

    n_items: int
    first: IntArray
    second: IntArray
    wins: FloatArray
    losses: FloatArray
    ties: FloatArray

    @property
    def total(self) -> FloatArray:
        return self.wins + self.losses + self.ties

    @property
    def half_tied(self) -> tuple[FloatArray, FloatArray]:
        """Wins and losses of the first item where a tie is half of each."""
        return self.wins + self.ties / 2, self.losses + self.ties / 2

    @property
    def pooled(self) -> PairCounts:
        """The pairs with votes; a tie is half a win and half a loss."""
        total = self.total
        kept = total > 0
        choice = (self.wins - self.losses)[kept] / total[kept]
        first, second = (code[kept].astype(np.int32) for code in (self.first, self.second))
        return PairCounts(self.n_items, first, second, total[kept], choice)


@dataclass(frozen=True, eq=False)
class Training:
    """Votes with the weights to learn from; a fold differs from its parent in `weight` only."""

    votes: Votes
    weight: FloatArray
    features: FloatArray | None
    groups: VoteGroups

    @classmethod
    def from_votes(
        cls, votes: Votes, features: ArrayLike | None = None, weight: ArrayLike | None = None
    ) -> Training:
        weights = votes.weight if weight is None else check_weights(weight, votes.n_rows)
        checked = None if features is None else check_features(features, votes)
        return cls(votes, weights, checked, VoteGroups.from_votes(votes))

    def reweighted(self, weight: FloatArray) -> Training:
        return replace(self, weight=weight)

    def without_features(self) -> Training:
        return replace(self, features=None)

    @property
    def n_items(self) -> int:
        return self.votes.n_items

    @cached_property
    def group_weight(self) -> FloatArray:
        return _totals(self.groups.of_row, self.weight, len(self.groups.choice))

    @cached_property
    def counts(self) -> Outcomes:
        groups, n_pairs = self.groups, len(self.groups.pair_start)

        def weigh(chosen: NDArray[np.bool_]) -> FloatArray:
            return _totals(groups.pair[chosen], self.group_weight[chosen], n_pairs)

        return Outcomes(
            n_items=self.n_items,
            first=groups.first[groups.pair_start],
            second=groups.second[groups.pair_start],
            wins=weigh(groups.choice > 0),
            losses=weigh(groups.choice < 0),
            ties=weigh(groups.choice == 0),
        )

    @cached_property
    def item_weight(self) -> FloatArray:
        """What the votes on each item weigh; 0 for an item nobody compared."""
        votes = self.votes
        return _totals(votes.left, self.weight, self.n_items) + _totals(
            votes.right, self.weight, self.n_items
        )

    @cached_property
    def item_design(self) -> Design:
        """One row for each item: its features, or its one-hot vector."""
        if self.features is not None:
            return self.features
        return sparse.eye_array(self.n_items, format="csr")

    def differences(self, first: IntArray, second: IntArray) -> Design:
        """Rows of `item_design` for the first items minus those for the second."""
        return self.item_design[first] - self.item_design[second]


def check_features(features: ArrayLike, votes: Votes) -> FloatArray:
    """Features as finite numbers, one row for each item of the votes, in their order."""
    matrix = np.asarray(features, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != votes.n_items or matrix.shape[1] == 0:
        raise VoteError(
            f"features has shape {matrix.shape}",
            expected=f"one row for each of {votes.n_items:,} items, in the order of votes.items",
        )
    bad = ~np.isfinite(matrix).all(axis=1)
    if bad.any():
        first = votes.items[bad][0]
        raise VoteError(
            f"{counted(bad.sum(), 'item')} with a feature that is infinite or not a number "
            f"(the first is {first!r})",
            rows=np.flatnonzero(bad) + 1,
            expected="finite features",
            remedy="fill in or drop these features",
        )
    return matrix


def _totals(code: NDArray[Any], weight: FloatArray, n: int) -> FloatArray:
    return np.bincount(code, weights=weight, minlength=n).astype(np.float64)
