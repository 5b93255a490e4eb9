"""What a column of votes must satisfy, and what is said when it does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefpath.errors import VoteError
from prefpath.text import agreeing, counted, quoted
from prefpath.votes.encode import BoolArray, CodeArray, FloatArray, Labels, plain_label

USABLE_WEIGHTS = (1e-100, 1e15)
"""Beyond these single votes can no longer be counted, or vanish in squares."""

WEIGHTS_EXPECTED = "weights of 0, or between {:g} and {:g}".format(*USABLE_WEIGHTS)

LARGEST_STRENGTH = 1e6
"""Beyond it a number is an id or a time stamp, and its square swamps every other vote."""

CHOICE_WORDS = {"left": 1.0, "right": -1.0, "tie": 0.0, "1": 1.0, "-1": -1.0, "0": 0.0}


def check_lengths(columns: Mapping[str, NDArray[Any]]) -> int:
    """All columns have one length, and it is not zero."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise VoteError(
            f"the columns differ in length: {found}", expected="one entry for each vote"
        )
    n_rows = lengths["choice"]
    if n_rows == 0:
        raise VoteError("there are no votes", expected="at least one vote")
    return n_rows


def check_choices(choice: NDArray[Any]) -> FloatArray:
    """Choices as finite numbers; words are left, right and tie."""
    if choice.dtype.kind in "iufb":
        values = choice.astype(np.float64)
        bad = ~(np.abs(values) <= LARGEST_STRENGTH)
    else:
        words, code = np.unique(choice.astype(str), return_inverse=True)
        meaning = np.array([_choice_word(word) for word in words.tolist()])
        values = meaning[code]
        bad = ~(np.abs(values) <= LARGEST_STRENGTH)
    if bad.any():
        odd = sorted({str(x) for x in choice[bad][:1000]})
        raise VoteError(
            f"{_have(bad)} an unknown choice: {', '.join(map(quoted, odd[:5]))}",
            rows=np.flatnonzero(bad) + 1,
            expected=f"1, -1, 0, a strength up to {LARGEST_STRENGTH:,.0f}, or left, right, tie",
            remedy="correct these labels or drop the rows",
        )
    return values


def _choice_word(word: str) -> float:
    known = CHOICE_WORDS.get(word.strip().lower())
    if known is not None:
        return known
    try:
        value = float(word)
    except ValueError:
        return np.nan
    return value if np.isfinite(value) else np.nan


def check_weights(weight: ArrayLike, n_rows: int) -> FloatArray:
    """Weights as finite numbers of at least 0, not all 0."""
    weights = np.asarray(weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise VoteError(
            f"weight has shape {weights.shape}", expected=f"one weight for each of {n_rows:,} votes"
        )
    least, most = USABLE_WEIGHTS
    bad = ~((weights == 0) | ((weights >= least) & (weights <= most)))
    if bad.any():
        raise VoteError(
            f"{_have(bad)} a weight that is negative, not a finite number, or out of all "
            f"proportion (the first is {weights[bad][0]})",
            rows=np.flatnonzero(bad) + 1,
            expected=WEIGHTS_EXPECTED,
            remedy="correct these weights or drop the rows",
        )
    if not weights.any():
        raise VoteError("every vote has weight 0", expected="at least one positive weight")
    return weights


def _have(bad: BoolArray) -> str:
    return f"{counted(bad.sum(), 'vote')} {agreeing(bad.sum(), 'has', 'have')}"


def check_self_comparisons(
    left: CodeArray, right: CodeArray, items: Labels, action: Literal["error", "drop"]
) -> BoolArray:
    """Mask of the votes to keep; votes between an item and itself are an error or dropped."""
    itself: BoolArray = left == right
    if itself.any() and action != "drop":
        first = plain_label(items[left[itself][0]])
        raise VoteError(
            f"{counted(itself.sum(), 'vote')} {agreeing(itself.sum(), 'compares', 'compare')} an "
            f"item with itself (the first is {quoted(first)})",
            rows=np.flatnonzero(itself) + 1,
            expected="two different items",
            remedy='drop these rows, or pass self_comparisons="drop"',
        )
    if itself.all():
        raise VoteError("every vote compares an item with itself", expected="two different items")
    return ~itself


def check_features(features: ArrayLike, n_items: int) -> FloatArray:
    """Features as a finite matrix with a row for every item."""
    phi = np.asarray(features, dtype=np.float64)
    if phi.ndim != 2 or phi.shape[0] != n_items:
        raise VoteError(
            f"features have shape {phi.shape}",
            expected=f"one row for each of {n_items:,} items, in the order of votes.items",
        )
    bad = ~np.isfinite(phi).all(axis=1)
    if bad.any():
        raise VoteError(
            f"{counted(bad.sum(), 'item')} {agreeing(bad.sum(), 'has', 'have')} a feature that is "
            "infinite or not a number",
            rows=np.flatnonzero(bad) + 1,
            expected="finite features",
            remedy="fill in these features",
        )
    return phi
