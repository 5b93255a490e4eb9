"""Labels to small integer codes, and identical votes to one row with a count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefpath.errors import VoteError

Labels = NDArray[Any]
IntArray = NDArray[np.int64]
CodeArray = NDArray[np.int32]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Digits = tuple[NDArray[Any], ...]


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


def as_labels(values: ArrayLike, name: str) -> Labels:
    """A column of labels as a one-dimensional array without missing values."""
    labels = np.asarray(values)
    if labels.ndim != 1:
        raise VoteError(f"{name} has {labels.ndim} dimensions", expected="one label for each vote")
    missing = _missing(labels)
    if missing.any():
        raise VoteError(
            f"{int(missing.sum())} votes have no {name}",
            rows=np.flatnonzero(missing) + 1,
            expected="a label in every row",
            remedy="fill in or drop these rows",
        )
    if labels.dtype == object and len({type(label) for label in labels[:1000]}) > 1:
        labels = labels.astype(str)  # mixed types have no order; text is what the user sees
    return labels


def _missing(labels: Labels) -> BoolArray:
    if labels.dtype.kind == "f":
        return ~np.isfinite(labels)
    if labels.dtype == object:
        return np.array([x is None or x != x for x in labels], dtype=bool)
    return np.zeros(len(labels), dtype=bool)


def encode_labels(labels: Labels, known: Labels | None, name: str) -> tuple[Labels, CodeArray]:
    """Sorted distinct labels, and the code of each entry.

    `known` fixes the dictionary (its order is kept); a label outside it is an error.
    """
    distinct, codes = np.unique(labels, return_inverse=True)
    if known is None:
        return distinct, codes.astype(np.int32)
    place = {label: code for code, label in enumerate(known.tolist())}
    if len(place) != len(known):
        raise VoteError(f"the list of {name}s repeats a label", expected="each label once")
    translation = np.array([place.get(label, -1) for label in distinct.tolist()], dtype=np.int32)
    codes = translation[codes] if len(distinct) else np.zeros(0, np.int32)
    unknown = codes < 0
    if unknown.any():
        raise VoteError(
            f"{name} {labels[unknown][0]!r} is not among the {len(known)} known {name}s",
            rows=np.flatnonzero(unknown) + 1,
            expected=f"one of the {name}s given",
            remedy=f"add it to the {name}s or drop these rows",
        )
    return known, codes


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
    levels, level = np.unique(choice, return_inverse=True)
    radices = (max(n_annotators, 1), max(n_items, 1), max(n_items, 1), max(len(levels), 1), 2)
    digits: Digits = (annotator, left, right, level, position_known)
    if np.prod(np.array(radices, dtype=float)) < 2.0**62:
        key = _pack(digits, radices)
        distinct, total, count = _merge_packed(key, weight)
        digits = _unpack(distinct, radices)
    else:
        order, starts = _lexicographic(digits)
        digits = tuple(digit[order][starts] for digit in digits)
        count = np.diff(np.append(starts, len(order)))
        total = count.astype(float) if weight is None else np.add.reduceat(weight[order], starts)
    return CodedVotes(
        offsets=np.searchsorted(digits[0], np.arange(n_annotators + 1)).astype(np.int64),
        left=digits[1].astype(np.int32),
        right=digits[2].astype(np.int32),
        choice=levels[digits[3]],
        weight=total,
        count=count.astype(np.int32),
        position_known=digits[4].astype(bool),
    )


def _pack(digits: Digits, radices: tuple[int, ...]) -> IntArray:
    key = digits[0].astype(np.int64)
    for digit, radix in zip(digits[1:], radices[1:], strict=True):
        key *= radix
        key += digit
    return key


def _unpack(key: IntArray, radices: tuple[int, ...]) -> Digits:
    digits: list[NDArray[Any]] = []
    for radix in reversed(radices[1:]):
        key, digit = np.divmod(key, radix)
        digits.append(digit)
    return (key, *reversed(digits))


def _merge_packed(
    key: IntArray, weight: FloatArray | None
) -> tuple[IntArray, FloatArray, IntArray]:
    """Distinct keys in order, their summed weights and their counts."""
    if weight is None:  # sorting the keys themselves is several times faster than an argsort
        key.sort()
        starts = _run_starts(key)
        count = np.diff(np.append(starts, len(key)))
        return key[starts], count.astype(float), count
    order = np.argsort(key, kind="stable")
    key = key[order]
    starts = _run_starts(key)
    count = np.diff(np.append(starts, len(key)))
    return key[starts], np.add.reduceat(weight[order], starts), count


def _run_starts(key: IntArray) -> IntArray:
    first = np.empty(len(key), dtype=bool)
    first[:1] = True
    np.not_equal(key[1:], key[:-1], out=first[1:])
    return np.flatnonzero(first)


def _lexicographic(digits: Digits) -> tuple[IntArray, IntArray]:
    """Order and run starts where the packed key would not fit 62 bits."""
    order = np.lexsort(digits[::-1])
    changed = np.zeros(len(order), dtype=bool)
    changed[:1] = True
    for digit in digits:
        ordered = digit[order]
        changed[1:] |= ordered[1:] != ordered[:-1]
    return order, np.flatnonzero(changed)
