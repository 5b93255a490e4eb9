"""Personal rankings beside the common one, for the annotators the page shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prefpath.fitted import Fitted, rank_within
from prefpath.model.design import Ints
from prefpath.votes.encode import CodeArray
from prefpath.weak import WeakEffects

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


def gather_personal(
    fitted: Fitted, common_rank: Ints, annotator_codes: Ints, weak: WeakEffects | None = None
) -> Personal:
    """Ranks of each shown annotator who has a taste, or is contrary, beside those in common.

    With weak effects they are those of `PreferenceModel.ranking(annotator)`, which predict best.
    """
    deviates = (np.diff(fitted.deviation.indptr) > 0) | (fitted.attention < -1.0)
    who = annotator_codes[deviates[annotator_codes]]
    own_rank = {code: _own_ranks(fitted, code, weak) for code in who.tolist()}
    return Personal(fitted.component, common_rank, own_rank)


def _own_ranks(fitted: Fitted, code: int, weak: WeakEffects | None) -> Ints:
    if weak is None:
        return fitted.personal_ranks(code)
    return rank_within(weak.personal_scores(code), fitted.component)
