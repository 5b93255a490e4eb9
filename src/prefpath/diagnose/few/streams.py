"""The streams of `diagnose.streams`, many places of many of them at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefpath.diagnose.few.rows import Rows
from prefpath.diagnose.streams import GOLDEN, MIX_2, mixed
from prefpath.model.design import Floats, Ints

Words = NDArray[np.uint64]

_TO_UNIT = 1.1102230246251565e-16


def begin_streams(seed: np.uint64, word: Words) -> Words:
    """`start_stream` of each word."""
    with np.errstate(over="ignore"):
        first = mixed(np.full(len(word), seed, dtype=np.uint64) + GOLDEN)
        return mixed((first ^ ((word + np.uint64(1)) * MIX_2)) + GOLDEN)


@dataclass(frozen=True, eq=False)
class StreamRows(Rows):
    """Words that each draw takes of its owner's stream: which, counted from 0 in every draw."""

    at: Ints


def draw_words(rows: StreamRows, start: Words, taken: Ints, first: int, n_draws: int) -> Words:
    """The words (rows) of the draws (columns) from `first` on.

    `start` is where each stream begins, `taken` how many words one draw takes of it.
    """
    draw = np.arange(first, first + n_draws, dtype=np.uint64)
    with np.errstate(over="ignore"):
        begin = start[rows.owner] + GOLDEN * (rows.at + 1).astype(np.uint64)
        each = GOLDEN * taken.astype(np.uint64)[rows.owner]
        return np.asarray(mixed(begin[:, None] + each[:, None] * draw))


def as_uniforms(word: Words) -> Floats:
    """`draw_uniform` of words."""
    return np.asarray((word >> np.uint64(11)) * _TO_UNIT, dtype=np.float64)


def as_normals(first: Words, second: Words) -> Floats:
    """`draw_normal` of two words each."""
    radius = np.sqrt(-2.0 * np.log(1.0 - as_uniforms(first)))
    return np.asarray(radius * np.cos(2.0 * np.pi * as_uniforms(second)))
