"""Arrays of labels as item codes, without sorting or grouping the votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefpath.errors import VoteError
from prefpath.pairs import PairCounts, pool_pairs
from prefpath.votes import Votes
from prefpath.votes.check import check_choices, check_lengths, check_self_comparisons, check_weights
from prefpath.votes.encode import BoolArray, CodeArray, FloatArray, Labels, as_labels, as_text

_ENTRIES_PER_LABEL = 8  # a table of all whole numbers in a range may be so much longer than them


@dataclass(frozen=True, eq=False)
class CodedComparisons:
    """Votes as codes in the order they came: what a plain ranking reads.

    Attributes
    ----------
    items : array of labels
    left, right : array of int
        Item codes.
    choice, weight : array
        A weight of None is 1 for every vote.
    annotator : array of int or None
        Codes; None where nobody knows who voted.
    """

    items: Labels
    left: NDArray[Any]
    right: NDArray[Any]
    choice: NDArray[Any]
    weight: FloatArray | None
    annotator: CodeArray | None
    n_annotators: int
    library: str | None = None
    voter: str = "annotator"

    @property
    def counts(self) -> PairCounts:
        return pool_pairs(self.left, self.right, self.choice, self.weight, n_items=len(self.items))

    @classmethod
    def of_votes(cls, votes: Votes) -> CodedComparisons:
        """The same of `Votes`, whose rows may stand for several votes."""
        return cls(
            items=votes.items,
            left=votes.left,
            right=votes.right,
            choice=votes.choice,
            weight=votes.weight,
            annotator=None if votes.anonymous else votes.annotator,
            n_annotators=votes.n_annotators,
            library=votes.frame_library,
            voter=votes.voter,
        )

    @classmethod
    def of_arrays(
        cls, arrays: Sequence[ArrayLike | None], weight: ArrayLike | None
    ) -> CodedComparisons:
        """Codes of `(annotator or None, left, right, choice)`."""
        if len(arrays) != 4:
            raise VoteError(
                f"a tuple of {len(arrays)} arrays",
                expected="four: annotators (or None), left items, right items, choices",
            )
        annotator, *rest = arrays
        left, right = as_labels(rest[0], "left item"), as_labels(rest[1], "right item")  # type: ignore[arg-type]
        choice = np.asarray(rest[2])
        n_rows = check_lengths({"left": left, "right": right, "choice": choice})
        choice = _numbers(choice)
        items, left_code, right_code = encode_items(left, right)
        check_self_comparisons(left_code, right_code, items, "error")
        who = None if annotator is None else as_labels(annotator, "annotator")
        if who is not None:
            check_lengths({"annotator": who, "choice": choice})
        people, code = (np.empty(0), None) if who is None else encode(who)
        return cls(
            items=items,
            left=left_code,
            right=right_code,
            choice=choice,
            weight=None if weight is None else check_weights(weight, n_rows),
            annotator=code,
            n_annotators=len(people),
        )


def _numbers(choice: NDArray[Any]) -> NDArray[Any]:
    """Choices as numbers; small ones stay small."""
    return choice if choice.dtype.kind in "iu" else check_choices(choice)


def encode_items(left: Labels, right: Labels) -> tuple[Labels, NDArray[Any], NDArray[Any]]:
    """Sorted labels of both columns, and the codes of each.

    >>> encode_items(np.array(["b", "a"]), np.array(["c", "b"]))[0].tolist()
    ['a', 'b', 'c']
    """
    if left.dtype.kind in "iu" and right.dtype.kind in "iu":
        low, high = int(min(left.min(), right.min())), int(max(left.max(), right.max()))
        if high - low < max(_ENTRIES_PER_LABEL * len(left), 2**16):
            return _encode_range(left, right, low, high)
    labels, code = encode(np.concatenate(_one_type(left, right)))
    return labels, code[: len(left)], code[len(left) :]


def encode(labels: Labels) -> tuple[Labels, CodeArray]:
    """Sorted distinct labels, and the code of each entry."""
    if labels.dtype.kind not in "OU":
        distinct, code = np.unique(labels, return_inverse=True)
        return distinct, code.astype(np.int32)
    values = labels.tolist()
    known = sorted(set(values))  # a dictionary is several times faster than sorting text
    place = {label: number for number, label in enumerate(known)}
    code = np.fromiter(map(place.__getitem__, values), dtype=np.int32, count=len(values))
    return np.array(known, dtype=labels.dtype), code.astype(np.int32, copy=False)


def _encode_range(
    left: Labels, right: Labels, low: int, high: int
) -> tuple[Labels, NDArray[Any], NDArray[Any]]:
    """Whole numbers from a narrow range: a table of the range says which are there."""
    seen = _seen_in_range(left, right, low, high)
    labels = np.flatnonzero(seen) + low
    if low == 0 and seen.all():
        return labels, left, right
    code = (np.cumsum(seen) - 1).astype(np.int32)
    return labels, code[left - low], code[right - low]


def _seen_in_range(left: Labels, right: Labels, low: int, high: int) -> BoolArray:
    """Which numbers occur; the first few thousand votes often have all of them."""
    seen = np.zeros(high - low + 1, dtype=bool)
    few = 16 * len(seen)
    for part in (left[:few], left[few:], right):
        seen[part - low if low else part] = True
        if seen.all():
            break
    return seen


def _one_type(left: Labels, right: Labels) -> tuple[Labels, Labels]:
    """Both columns in one type, so that 1 on the left is 1 on the right."""
    kinds = {left.dtype.kind, right.dtype.kind}
    if kinds & set("OUS") and len(kinds) > 1:
        return as_text(left), as_text(right)
    return left, right
