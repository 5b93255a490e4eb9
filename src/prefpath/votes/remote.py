"""Everybody's votes without who cast them, for a machine that does not hold the votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from prefpath.errors import SettingError
from prefpath.votes.encode import (
    BoolArray,
    CodeArray,
    FloatArray,
    IntArray,
    KeyLayout,
    Labels,
)
from prefpath.votes.votes import Votes

_COLUMNS = ("left", "right", "choice", "position_known", "weight", "count")


class AnnotatorTotals(NamedTuple):
    """What is told of each annotator by adding up their votes.

    Attributes
    ----------
    weight, number : array (n_annotators,)
        What their votes weigh together, and how many they are.
    clicks : array (n_annotators, 3)
        Weight of left clicks, right clicks and ties, where sides are known.
    chosen : array of int (n_annotators, 2)
        How many votes chose left and right, where sides are known.
    one_order : array of bool (n_annotators,)
        Who saw every item on one side only.
    """

    weight: FloatArray
    number: IntArray
    clicks: FloatArray
    chosen: IntArray
    one_order: BoolArray


@dataclass(frozen=True, eq=False)
class Rows:
    """Distinct votes, whoever cast them: what they weigh and how many they are together."""

    left: CodeArray
    right: CodeArray
    choice: FloatArray
    position_known: BoolArray
    weight: FloatArray
    count: IntArray


@dataclass(frozen=True, eq=False, repr=False)
class RemoteVotes(Votes):
    """Votes whose rows are pooled over annotators, with what each annotator's add up to.

    What is asked of items and pairs is answered by the rows, what is asked of annotators by
    `totals`. Whose a row is cannot be asked, but how many voted on each item (`voices`).
    """

    totals: AnnotatorTotals | None = None
    voices: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def annotator(self) -> CodeArray:
        """Nobody's: these votes are pooled."""
        raise SettingError(
            "the votes of single annotators are on the cluster and not on this machine",
            remedy="fit with collect=True, if this machine can hold the votes",
        )

    @property
    def known(self) -> AnnotatorTotals:
        assert self.totals is not None
        return self.totals

    @property
    def annotator_weight(self) -> FloatArray:
        return self.known.weight

    @property
    def annotator_count(self) -> IntArray:
        return self.known.number

    def rows_where(self, chosen: BoolArray) -> RemoteVotes:
        """The same with some of the pooled rows; totals stay those of all."""
        kept = {name: getattr(self, name)[chosen] for name in _COLUMNS}
        return replace(self, **kept)


def pool_rows(parts: Sequence[Votes | Rows], n_items: int) -> Rows:
    """Distinct votes of all parts, whoever cast them, in order; sums in the order of the parts."""
    left, right, choice, known, weight, count = (
        np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS
    )
    levels, level = np.unique(choice, return_inverse=True)
    layout = KeyLayout(1, n_items, len(levels))
    nobody = np.zeros(len(left), dtype=np.int64)
    key = layout.pack((nobody, left, right, level, known))
    distinct, place = np.unique(key, return_inverse=True)
    n = len(distinct)
    total = np.bincount(place, weight, n).astype(np.float64)
    coded = layout.unpack(distinct, total, np.zeros(n, dtype=np.int32), levels)
    times = np.bincount(place, count, n).astype(np.int64)
    return Rows(coded.left, coded.right, coded.choice, coded.position_known, total, times)


def remote_votes(
    rows: Rows,
    totals: AnnotatorTotals,
    voices: IntArray,
    *,
    annotators: Labels,
    items: Labels,
    origin: Mapping[str, Any],
) -> RemoteVotes:
    """Votes of everybody from their pooled rows."""
    return RemoteVotes(
        annotators=annotators,
        items=items,
        offsets=np.zeros(1, dtype=np.int64),
        left=rows.left,
        right=rows.right,
        choice=rows.choice,
        weight=rows.weight,
        count=rows.count,  # type: ignore[arg-type]  # more votes than 32 bits count
        position_known=rows.position_known,
        origin=origin,
        totals=totals,
        voices=voices,
    )
