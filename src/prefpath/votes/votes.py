"""`Votes`: who compared what with what, and what they chose; frozen arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from prefpath.errors import VoteError
from prefpath.text import counted, quoted, shortened, spelling
from prefpath.votes.check import (
    check_choices,
    check_lengths,
    check_self_comparisons,
    check_weights,
)
from prefpath.votes.encode import (
    BoolArray,
    CodeArray,
    CodedVotes,
    FloatArray,
    IntArray,
    Labels,
    as_labels,
    as_text,
    encode_labels,
    sort_and_merge,
)
from prefpath.votes.nouns import noun_of_group


@dataclass(frozen=True, eq=False)
class Votes:
    """Pairwise votes, sorted by annotator, identical ones merged.

    Row `r` says: the annotator whose rows are `offsets[u]:offsets[u + 1]` was shown item
    `left[r]` on the left and `right[r]` on the right, `count[r]` times, and chose
    `choice[r]`: 1 the left one, -1 the right one, 0 a tie, or any strength between (beyond,
    in the linear model). `weight[r]` is what these votes weigh together.

    Where `position_known[r]` is False nobody knows which item was on the left (chosen and
    rejected, ratings): such a vote says nothing about position bias.

    Attributes
    ----------
    annotators, items : array
        The user's own labels; codes are positions in these.
    origin : mapping
        Where the votes came from and what was left out on the way: kept for reports.
    frame_library : str or None
        The data frame library the votes came in, so that results can go back in it.

    Examples
    --------
    >>> votes = Votes.from_arrays(list("uuv"), list("aab"), list("bcc"), [1, 1, 0])
    >>> votes.n_votes, votes.n_rows, votes.n_annotators, votes.n_items, votes.total_weight
    (3, 3, 2, 3, 3.0)
    >>> votes.annotator.tolist(), votes.annotator_weight.tolist(), votes.annotator_count.tolist()
    ([0, 0, 1], [2.0, 1.0], [2, 1])
    >>> votes.item_code("c"), votes.annotator_code("v")
    (2, 1)
    >>> votes.voter, votes.anonymous  # not grouped, and it is known who voted
    ('annotator', False)
    >>> votes.without_ties().n_votes, votes.take(votes.left == 0).n_votes
    (2, 2)
    """

    annotators: Labels
    items: Labels
    offsets: IntArray
    left: CodeArray
    right: CodeArray
    choice: FloatArray
    weight: FloatArray
    count: CodeArray
    position_known: BoolArray
    origin: Mapping[str, Any] = field(default_factory=dict)
    frame_library: str | None = None

    @classmethod
    def from_arrays(
        cls,
        annotator: ArrayLike,
        left: ArrayLike,
        right: ArrayLike,
        choice: ArrayLike,
        weight: ArrayLike | None = None,
        *,
        position_known: ArrayLike = True,
        items: ArrayLike | None = None,
        annotators: ArrayLike | None = None,
        self_comparisons: Literal["error", "drop"] = "error",
    ) -> Votes:
        """Votes from parallel arrays.

        Parameters
        ----------
        annotator, left, right : array-like of labels
            Strings or numbers, one for each vote.
        choice : array-like
            1, -1, 0 or "left", "right", "tie"; or strengths as numbers.
        weight : array-like, optional
            At least 0; weight 2 is the row twice.
        position_known : bool or array-like of bool
            False where left and right carry no meaning.
        items, annotators : array-like, optional
            The labels to use, in this order (items nobody compared may be among them).
        self_comparisons : {"error", "drop"}
            What to do with votes that compare an item with itself.

        Raises
        ------
        VoteError
            With row numbers, counted from 1.

        Examples
        --------
        >>> votes = Votes.from_arrays(["ann", "ann", "bob"], ["x", "x", "y"], ["y", "y", "x"],
        ...                           ["left", "left", "tie"])
        >>> votes
        Votes(3 votes in 2 rows, 2 annotators, 2 items, 1 tie)
        """
        columns = {
            "annotator": as_labels(annotator, "annotator"),
            "left": as_labels(left, "left item"),
            "right": as_labels(right, "right item"),
            "choice": np.asarray(choice),
        }
        n_rows = check_lengths(columns)
        choices = check_choices(columns["choice"])
        weights = None if weight is None else check_weights(weight, n_rows)
        known = np.broadcast_to(np.asarray(position_known, dtype=bool), (n_rows,))
        who, annotator_code = encode_labels(
            columns["annotator"], _given(annotators, "annotator"), "annotator"
        )
        pair = np.concatenate(_common_type(columns["left"], columns["right"]))
        what, item_code = encode_labels(pair, _given(items, "item"), "item", n_votes=n_rows)
        left_code, right_code = item_code[:n_rows], item_code[n_rows:]
        keep = check_self_comparisons(left_code, right_code, what, self_comparisons)
        origin = {"rows": n_rows, "self_comparisons": int(n_rows - keep.sum())}
        if not keep.all():
            annotator_code, left_code = annotator_code[keep], left_code[keep]
            right_code, choices, known = right_code[keep], choices[keep], known[keep]
            weights = None if weights is None else weights[keep]
        return cls.from_codes(
            annotator_code,
            left_code,
            right_code,
            choices,
            weights,
            position_known=known,
            annotators=who,
            items=what,
            origin=origin,
        )

    @classmethod
    def from_codes(
        cls,
        annotator: CodeArray,
        left: CodeArray,
        right: CodeArray,
        choice: FloatArray,
        weight: FloatArray | None = None,
        *,
        annotators: Labels,
        items: Labels,
        position_known: BoolArray | bool = True,
        origin: Mapping[str, Any] | None = None,
        frame_library: str | None = None,
    ) -> Votes:
        """Votes from codes that are already valid: positions in `annotators` and `items`.

        >>> who, left, right = (np.array(codes, dtype=np.int32) for codes in ([0], [0], [1]))
        >>> Votes.from_codes(who, left, right, np.ones(1), annotators=np.array(["ann"]),
        ...                  items=np.array(["x", "y"]))
        Votes(1 vote in 1 row, 1 annotator, 2 items, 0 ties)
        """
        coded = sort_and_merge(
            annotator,
            left,
            right,
            choice,
            weight,
            np.broadcast_to(np.asarray(position_known, dtype=bool), (len(annotator),)),
            n_annotators=len(annotators),
            n_items=len(items),
        )
        return cls.from_coded(
            coded, annotators=annotators, items=items, origin=origin, frame_library=frame_library
        )

    @classmethod
    def from_coded(
        cls,
        coded: CodedVotes,
        *,
        annotators: Labels,
        items: Labels,
        origin: Mapping[str, Any] | None = None,
        frame_library: str | None = None,
    ) -> Votes:
        """Votes from rows that are already sorted and merged.

        >>> votes = Votes.from_arrays(["ann"], ["x"], ["y"], [1])
        >>> Votes.from_coded(votes, annotators=votes.annotators, items=votes.items)
        Votes(1 vote in 1 row, 1 annotator, 2 items, 0 ties)
        """
        return cls(
            annotators=annotators,
            items=items,
            offsets=coded.offsets,
            left=coded.left,
            right=coded.right,
            choice=coded.choice,
            weight=coded.weight,
            count=coded.count,
            position_known=coded.position_known,
            origin=dict(origin or {}),
            frame_library=frame_library,
        )

    def __post_init__(self) -> None:
        for name in ("offsets", "left", "right", "choice", "weight", "count", "position_known"):
            getattr(self, name).setflags(write=False)

    def __repr__(self) -> str:
        ties = int(self.count[self.choice == 0].sum())
        return (
            f"Votes({counted(self.n_votes, 'vote')} in {counted(self.n_rows, 'row')}, "
            f"{counted(self.n_annotators, self.voter)}, {counted(self.n_items, 'item')}, "
            f"{counted(ties, 'tie')})"
        )

    def __len__(self) -> int:
        return self.n_rows

    @property
    def voter(self) -> str:
        """What casts votes, for messages: an annotator, or what votes were grouped by."""
        column = self.origin.get("grouped_by")
        return "annotator" if column is None else noun_of_group(str(column), self.annotators)

    @property
    def anonymous(self) -> bool:
        """Whether nothing says who voted, so that all votes are read as one annotator's."""
        return bool(self.origin.get("anonymous"))

    @property
    def n_rows(self) -> int:
        """Distinct votes."""
        return len(self.left)

    @cached_property
    def n_votes(self) -> int:
        """Votes as they were cast, repeated ones counted each time."""
        return int(self.count.sum())

    @property
    def n_annotators(self) -> int:
        return len(self.annotators)

    @property
    def n_items(self) -> int:
        return len(self.items)

    @cached_property
    def total_weight(self) -> float:
        return float(self.weight.sum())

    @property
    def annotator(self) -> CodeArray:
        """Code of the annotator of each row."""
        return np.repeat(np.arange(self.n_annotators, dtype=np.int32), np.diff(self.offsets))

    @property
    def annotator_weight(self) -> FloatArray:
        """What each annotator's votes weigh together."""
        totals: FloatArray = np.bincount(
            self.annotator, weights=self.weight, minlength=self.n_annotators
        ).astype(np.float64)
        return totals

    @property
    def annotator_count(self) -> IntArray:
        """How many votes each annotator has cast; their rows lie side by side."""
        ends = np.concatenate(([0], np.cumsum(self.count, dtype=np.int64)))
        return np.diff(ends[self.offsets])

    def item_code(self, label: Any) -> int:
        """Position of an item's label in `items`."""
        return _position(self.items, label, "item")

    def annotator_code(self, label: Any) -> int:
        """Position of an annotator's label in `annotators`."""
        return _position(self.annotators, label, "annotator")

    def without_ties(self) -> Votes:
        """The same votes, ties left out; labels are kept."""
        return self.take(self.choice != 0)

    def take(self, rows: BoolArray | IntArray) -> Votes:
        """The votes of some rows (a mask, or positions in ascending order); labels are kept."""
        annotator = self.annotator[rows]
        return replace(
            self,
            offsets=np.searchsorted(annotator, np.arange(self.n_annotators + 1)).astype(np.int64),
            left=self.left[rows],
            right=self.right[rows],
            choice=self.choice[rows],
            weight=self.weight[rows],
            count=self.count[rows],
            position_known=self.position_known[rows],
        )


def _given(labels: ArrayLike | None, name: str) -> Labels | None:
    return None if labels is None else as_labels(labels, name)


def _common_type(left: Labels, right: Labels) -> tuple[Labels, Labels]:
    """Labels of both sides in one type, so that 1 on the left is 1 on the right."""
    if left.dtype.kind in "OUS" or right.dtype.kind in "OUS":
        if left.dtype.kind == right.dtype.kind:
            return left, right
        return as_text(left), as_text(right)
    return left, right


def _position(labels: Labels, label: Any, name: str) -> int:
    found = np.flatnonzero(labels == label)
    if not len(found):  # a number typed on a command line arrives as text
        found = np.flatnonzero(labels.astype(str) == str(label))
    if not len(found):
        shown = ", ".join(map(shortened, labels[:5]))
        raise VoteError(
            f"there is no {name} {quoted(label)} in the votes",
            expected=f"one of {len(labels):,} {name}s: {shown}{', ...' if len(labels) > 5 else ''}",
            remedy=spelling(str(label), labels.tolist()),
        )
    return int(found[0])
