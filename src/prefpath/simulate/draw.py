"""Votes drawn from a truth, in pieces, without ever holding more than one piece unmerged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from prefpath.errors import VoteError
from prefpath.votes import Votes
from prefpath.votes.encode import (
    CodeArray,
    CodedVotes,
    FloatArray,
    IntArray,
    Labels,
    sort_and_merge,
)

Model = Literal["bradley-terry", "thurstone-mosteller"]
Seed = int | np.random.Generator | None

_CHUNK = 1_000_000  # votes drawn at a time: bounds what is held beyond the result
_WIN_PROBABILITY: dict[str, Callable[[FloatArray], FloatArray]] = {
    "bradley-terry": expit,
    "thurstone-mosteller": ndtr,
}
_COLUMN_TYPES = {
    "left": np.int32,
    "right": np.int32,
    "choice": np.float64,
    "weight": np.float64,
    "count": np.int32,
    "position_known": np.bool_,
}


@dataclass(frozen=True)
class Truth:
    """What a vote's margin is made of, and how it becomes a choice.

    `tastes[taste_of[u]]` are the deviations of annotator `u` on every item; `taste_of[u]` is
    -1 for those who have none. `attention[u]` multiplies the difference of the common scores: 1
    for everybody, unless it is given.
    """

    scores: FloatArray
    tastes: FloatArray
    taste_of: IntArray
    position_bias: FloatArray
    attention: FloatArray | None = None
    model: Model = "bradley-terry"
    ties: float = 0.0

    def __post_init__(self) -> None:
        if self.model not in _WIN_PROBABILITY:
            raise VoteError(f"model is {self.model!r}", expected=" or ".join(_WIN_PROBABILITY))
        if not 0 <= self.ties <= 1:
            raise VoteError(f"ties is {self.ties}", expected="a share from 0 to 1")

    def margin(self, annotator: CodeArray, left: CodeArray, right: CodeArray) -> FloatArray:
        margin = self.scores[left]
        margin -= self.scores[right]
        if self.attention is not None:
            margin *= self.attention[annotator]
        margin += self.position_bias[annotator]
        taste = self.taste_of[annotator]
        own = np.flatnonzero(taste >= 0)
        taste = taste[own]
        margin[own] += self.tastes[taste, left[own]] - self.tastes[taste, right[own]]
        return margin


def draw_votes(
    truth: Truth, n_votes: IntArray, annotators: Labels, items: Labels, rng: np.random.Generator
) -> Votes:
    """Draw `n_votes[u]` votes of each annotator, merged and stored as they are made."""
    total = int(n_votes.sum())
    # Pages of these that are never written cost nothing, so the bound on rows is free.
    columns: dict[str, NDArray[Any]] = {
        name: np.empty(total, dtype) for name, dtype in _COLUMN_TYPES.items()
    }
    offsets = np.zeros(len(annotators) + 1, np.int64)
    filled = 0
    for first, last in _chunks(n_votes):
        drawn = _draw_chunk(truth, n_votes[first:last], first, rng)
        end = filled + len(drawn.left)
        for name, column in columns.items():
            column[filled:end] = getattr(drawn, name)
        offsets[first : last + 1] = drawn.offsets + filled
        filled = end
    for column in columns.values():
        column.resize(filled, refcheck=False)  # in place: a slice would keep the whole
    return Votes(
        annotators=annotators,
        items=items,
        offsets=offsets,
        left=columns["left"],
        right=columns["right"],
        choice=columns["choice"],
        weight=columns["weight"],
        count=columns["count"],
        position_known=columns["position_known"],
        origin={"rows": total, "self_comparisons": 0, "simulated": truth.model},
    )


def _draw_chunk(
    truth: Truth, n_votes: IntArray, first: int, rng: np.random.Generator
) -> CodedVotes:
    """Votes of the annotators from `first` on, with codes counted from there."""
    annotator = np.repeat(np.arange(len(n_votes), dtype=np.int32), n_votes)
    left, right = _draw_pairs(len(annotator), len(truth.scores), rng)
    win = _WIN_PROBABILITY[truth.model](truth.margin(annotator + np.int32(first), left, right))
    choice = np.where(rng.random(len(win)) < win, 1.0, -1.0)
    if truth.ties:
        choice[rng.random(len(choice)) < truth.ties] = 0.0
    return sort_and_merge(
        annotator,
        left,
        right,
        choice,
        None,
        np.broadcast_to(np.True_, annotator.shape),
        n_annotators=len(n_votes),
        n_items=len(truth.scores),
    )


def _chunks(n_votes: IntArray) -> Iterator[tuple[int, int]]:
    """Ranges of whole annotators with about `_CHUNK` votes, at least one annotator each."""
    ends = np.cumsum(n_votes)
    first = 0
    while first < len(n_votes):
        before = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + _CHUNK, side="right")))
        yield first, last
        first = last


def _draw_pairs(n: int, n_items: int, rng: np.random.Generator) -> tuple[CodeArray, CodeArray]:
    """Ordered pairs of two different items, each pair equally likely."""
    left = rng.integers(0, n_items, n, dtype=np.int32)
    right = rng.integers(0, n_items - 1, n, dtype=np.int32)
    right += right >= left
    return left, right


def check_sizes(n_items: int, n_annotators: int) -> None:
    if n_items < 2:
        raise VoteError(f"n_items is {n_items}", expected="at least two items to compare")
    if n_annotators < 1:
        raise VoteError(f"n_annotators is {n_annotators}", expected="at least one annotator")
