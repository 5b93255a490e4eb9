"""Labels to small integer codes, and identical votes to one row with a count."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefpath.errors import VoteError
from prefpath.text import agreeing, counted, quoted

Labels = NDArray[Any]
IntArray = NDArray[np.int64]
CodeArray = NDArray[np.int32]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Digits = tuple[NDArray[Any], ...]

_CHUNK = 2**22


@dataclass(frozen=True)
class CodedVotes:
    """Votes as integer codes: distinct rows, sorted by annotator, then left, then right."""

    offsets: IntArray
    left: CodeArray
    right: CodeArray
    choice: FloatArray
    weight: FloatArray
    count: CodeArray
    position_known: BoolArray

    def take(self, rows: BoolArray | IntArray) -> CodedVotes:
        """The votes of some rows (a mask, or positions in ascending order)."""
        ends = np.concatenate([[0], np.cumsum(rows)]) if rows.dtype == bool else None
        offsets = np.searchsorted(rows, self.offsets) if ends is None else ends[self.offsets]
        return CodedVotes(
            offsets=offsets.astype(np.int64),
            left=self.left[rows],
            right=self.right[rows],
            choice=self.choice[rows],
            weight=self.weight[rows],
            count=self.count[rows],
            position_known=self.position_known[rows],
        )


@dataclass(frozen=True)
class KeyLayout:
    """How a vote is packed into one integer, so that sorting it is sorting the votes.

    The digits are annotator, left, right, level of choice, and whether the position is known.
    """

    n_annotators: int
    n_items: int
    n_levels: int

    @property
    def radices(self) -> tuple[int, ...]:
        return (
            max(self.n_annotators, 1),
            max(self.n_items, 1),
            max(self.n_items, 1),
            max(self.n_levels, 1),
            2,
        )

    @property
    def fits(self) -> bool:
        """Whether every vote has a key of 62 bits."""
        return math.prod(self.radices) < 2**62

    def pack(self, digits: Digits) -> IntArray:
        key = digits[0].astype(np.int64)
        for digit, radix in zip(digits[1:], self.radices[1:], strict=True):
            key *= radix
            key += digit
        return key

    def pack_sql(self, digits: Sequence[str]) -> str:
        """The same key as an SQL expression of BIGINT digits."""
        key = digits[0]
        for digit, radix in zip(digits[1:], self.radices[1:], strict=True):
            key = f"({key}) * {radix} + ({digit})"
        return key

    def unpack(
        self, key: IntArray, weight: FloatArray, count: CodeArray, levels: FloatArray
    ) -> CodedVotes:
        """Votes of sorted, distinct keys; `levels` are the choices their level digits mean."""
        stride = math.prod(self.radices[1:])
        coded = CodedVotes(
            offsets=np.searchsorted(key, np.arange(self.n_annotators + 1) * stride),
            left=np.empty(len(key), np.int32),
            right=np.empty(len(key), np.int32),
            choice=np.empty(len(key)),
            weight=weight,
            count=count,
            position_known=np.empty(len(key), bool),
        )
        for start in range(0, len(key), _CHUNK):  # in pieces: five digits are five arrays
            part = slice(start, start + _CHUNK)
            rest, coded.position_known[part] = np.divmod(key[part], 2)
            rest, level = np.divmod(rest, self.radices[3])
            coded.choice[part] = levels[level]
            rest, coded.right[part] = np.divmod(rest, self.radices[2])
            coded.left[part] = rest % self.radices[1]
        return coded


def as_labels(values: ArrayLike, name: str) -> Labels:
    """A column of labels as a one-dimensional array without missing values."""
    labels = _as_array(values)
    if labels.ndim != 1:
        raise VoteError(f"{name} has {labels.ndim} dimensions", expected="one label for each vote")
    missing = _missing(labels)
    if missing.any():
        raise VoteError(
            f"{counted(missing.sum(), 'vote')} {agreeing(missing.sum(), 'has', 'have')} no {name}",
            rows=np.flatnonzero(missing) + 1,
            expected="a label in every row",
            remedy="fill in or drop these rows",
        )
    if labels.dtype == object and len({type(label) for label in labels[:1000]}) > 1:
        labels = as_text(labels)  # mixed types have no order; text is what the user sees
    return labels


def as_text(labels: Labels) -> Labels:
    """Labels as text."""
    if labels.dtype == object:
        return text_array(list(map(str, labels.tolist())))
    return labels.astype(str)


def text_array(texts: Sequence[str]) -> Labels:
    r"""Texts in NumPy's own type; as objects if one ends in NUL, which that type cuts off.

    >>> text_array(["a", "b"]).dtype.kind, text_array(["a", "a\0"]).tolist()
    ('U', ['a', 'a\x00'])
    """
    return np.array(texts, dtype=object if _ends_in_nul(texts) else str)


def _ends_in_nul(values: Sequence[Any]) -> bool:
    return any(isinstance(value, str) and value.endswith("\0") for value in values)


def _as_array(values: Any) -> Labels:
    """Labels as an array; what is masked is None."""
    if not np.ma.is_masked(values):
        labels = np.asarray(values)
        made_here = labels.dtype.kind == "U" and labels.ndim == 1 and labels is not values
        return text_array(list(map(str, values))) if made_here and _ends_in_nul(values) else labels
    labels = np.array(values, dtype=object)
    labels[np.ma.getmaskarray(values)] = None
    return labels


def _missing(labels: Labels) -> BoolArray:
    if labels.dtype.kind == "f":
        return ~np.isfinite(labels)
    if labels.dtype.kind in "mM":
        return np.isnat(labels)
    if labels.dtype == object:
        return np.array([_is_missing(label) for label in labels], dtype=bool)
    return np.zeros(len(labels), dtype=bool)


def _is_missing(label: Any) -> bool:
    """Whether a label is None, not a number, or pandas' NA, which says neither yes nor no."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True


def encode_labels(
    labels: Labels, known: Labels | None, name: str, *, n_votes: int | None = None
) -> tuple[Labels, CodeArray]:
    """Sorted distinct labels, and the code of each entry.

    `known` fixes the dictionary (its order is kept); a label outside it is an error. `n_votes`
    is the number of votes where `labels` holds the left and then the right items.
    """
    distinct, place_of = np.unique(labels, return_inverse=True)
    check_text(distinct)
    if known is None:
        return distinct, place_of.astype(np.int32)
    place = {label: code for code, label in enumerate(known.tolist())}
    if len(place) != len(known):
        raise VoteError(f"the list of {name}s repeats a label", expected="each label once")
    translation = np.array([place.get(label, -1) for label in distinct.tolist()], dtype=np.int32)
    codes = translation[place_of] if len(distinct) else np.zeros(0, np.int32)
    unknown = codes < 0
    if unknown.any():
        raise VoteError(
            f"{name} {quoted(labels[unknown][0])} is not among the {len(known)} known {name}s",
            rows=np.unique(np.flatnonzero(unknown) % (n_votes or len(labels))) + 1,
            expected=f"one of the {name}s given",
            remedy=f"add it to the {name}s or drop these rows",
        )
    return known, codes


def check_text(labels: Labels) -> None:
    """Labels that cannot be written down (halves of surrogate pairs) are an error."""
    if labels.dtype.kind not in "UO":
        return
    try:
        "".join(map(str, labels.tolist())).encode()
    except UnicodeError as error:
        raise VoteError(
            f"a label cannot be read: {error.reason if hasattr(error, 'reason') else error}",
            expected="text that can be written in UTF-8",
            remedy='look for halves of surrogate pairs: text.encode("utf-8") fails on them',
        ) from error


def plain_label(label: Any) -> Any:
    """A label as Python has it, so that it is shown as the user wrote it."""
    return label.item() if isinstance(label, np.generic) else label


def sort_and_merge(
    annotator: CodeArray,
    left: CodeArray,
    right: CodeArray,
    choice: FloatArray,
    weight: FloatArray | None,
    position_known: BoolArray,
    *,
    n_annotators: int,
    n_items: int,
) -> CodedVotes:
    """Sort votes by annotator and merge identical ones into one row with a count and a weight.

    A vote whose position is unknown has no left and right: it is stored with the smaller
    code on the left, so that `a over b` and `b under a` are one row.
    """
    swap = ~position_known & (left > right)
    if swap.any():
        left, right = np.where(swap, right, left), np.where(swap, left, right)
        choice = np.where(swap, -choice, choice)
    levels, level = np.unique(choice + 0.0, return_inverse=True)  # -0.0 is 0.0
    layout = KeyLayout(n_annotators, n_items, len(levels))
    digits: Digits = (annotator, left, right, level, position_known)
    if layout.fits:
        return layout.unpack(*merge_keys(layout.pack(digits), weight), levels)
    return _merge_lexicographically(digits, weight, levels, n_annotators)


def merge_keys(
    key: IntArray, weight: FloatArray | None, count: IntArray | None = None
) -> tuple[IntArray, FloatArray, CodeArray]:
    """Distinct keys in order, their summed weights and their counts; `key` may be overwritten."""
    if weight is None and count is None:  # sorting the keys themselves is far faster
        key.sort()
        starts = _run_starts(key)
        distinct = key if len(starts) == len(key) else key[starts]
        times = np.diff(starts, append=len(key)).astype(np.int32)
        return distinct, times.astype(float), times
    order = np.argsort(key, kind="stable")
    key = key[order]
    starts = _run_starts(key)
    if count is None:
        times = np.diff(starts, append=len(key)).astype(np.int32)
    else:
        times = np.add.reduceat(count[order], starts).astype(np.int32)
    total = times.astype(float) if weight is None else np.add.reduceat(weight[order], starts)
    return key[starts], total, times


def _run_starts(key: IntArray) -> IntArray:
    first = np.empty(len(key), dtype=bool)
    first[:1] = True
    np.not_equal(key[1:], key[:-1], out=first[1:])
    return np.flatnonzero(first)


def _merge_lexicographically(
    digits: Digits, weight: FloatArray | None, levels: FloatArray, n_annotators: int
) -> CodedVotes:
    """The same where a packed key would not fit 62 bits."""
    order = np.lexsort(digits[::-1])
    changed = np.zeros(len(order), dtype=bool)
    changed[:1] = True
    for digit in digits:
        ordered = digit[order]
        changed[1:] |= ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(changed)
    annotator, left, right, level, known = (digit[order][starts] for digit in digits)
    count = np.diff(starts, append=len(order)).astype(np.int32)
    return CodedVotes(
        offsets=np.searchsorted(annotator, np.arange(n_annotators + 1)),
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        choice=levels[level],
        weight=count.astype(float) if weight is None else np.add.reduceat(weight[order], starts),
        count=count,
        position_known=known.astype(bool),
    )
