"""Personal rankings beside the common one, for the annotators the page shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prefpath.model.design import Floats, Ints
from prefpath.votes.encode import CodeArray

if TYPE_CHECKING:
    from prefpath.estimators import PreferenceModel

N_TOP = 10
N_MOVED = 5


@dataclass(frozen=True, eq=False)
class Move:
    """An item, its rank in the common ranking and its rank for one annotator."""

    item: int
    common_rank: int
    own_rank: int


@dataclass(frozen=True, eq=False)
class Personal:
    """Rankings at the chosen time.

    Attributes
    ----------
    component : array (n_items,)
        Group of items that can be compared; 0 is the largest.
    common_rank : array (n_items,)
    own_rank : mapping from an annotator's code to an array (n_items,)
        Of the shown annotators whose ranking has a part of its own.
    """

    component: CodeArray
    common_rank: Ints
    own_rank: dict[int, Ints]

    def common_top(self) -> Ints:
        """The top items of the largest group in common, best first."""
        return self._order(self.common_rank)

    def top(self, annotator: int) -> Ints:
        """The same for one annotator."""
        return self._order(self.own_rank[annotator])

    def _order(self, rank: Ints) -> Ints:
        members = np.flatnonzero(self.component == 0)
        return members[np.argsort(rank[members], kind="stable")][:N_TOP]

    def moved_up(self, annotator: int) -> list[Move]:
        """Items this annotator places further up than the crowd does, the furthest first."""
        return self._furthest(annotator, 1)

    def moved_down(self, annotator: int) -> list[Move]:
        """Items this annotator places further down than the crowd does, the furthest first."""
        return self._furthest(annotator, -1)

    def _furthest(self, annotator: int, direction: int) -> list[Move]:
        rise = direction * (self.common_rank - self.own_rank[annotator])
        order = np.argsort(-rise, kind="stable")[:N_MOVED]
        return self._moves(annotator, order[rise[order] > 0])

    def _moves(self, annotator: int, items: Ints) -> list[Move]:
        own = self.own_rank[annotator]
        return [Move(int(i), int(self.common_rank[i]), int(own[i])) for i in items]


def gather_personal(model: PreferenceModel, annotator_codes: Ints) -> Personal:
    """Rank the items for each shown annotator whose deviation is not zero at the chosen time."""
    path, component = model.path_, model.component_
    common = path.scores(model.t_)
    deviation = path.deviation(model.t_)[annotator_codes]
    own_rank = {}
    for row, code in enumerate(annotator_codes.tolist()):
        own = np.asarray(deviation[row].todense()).ravel()
        if own.any():
            shift = own if path.features is None else path.features @ own
            own_rank[code] = rank_within(common + shift, component)
    return Personal(component, rank_within(common, component), own_rank)


def rank_within(scores: Floats, component: CodeArray) -> Ints:
    """Rank of each item, from 1, among the items it can be compared with.

    >>> rank_within(np.array([0.5, 2.0, 9.0]), np.array([0, 0, 1]))
    array([2, 1, 1])
    """
    order = np.lexsort((-scores, component))
    sizes = np.bincount(component)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    rank = np.empty(len(scores), dtype=np.int64)
    rank[order] = 1 + np.arange(len(scores)) - starts
    return rank
