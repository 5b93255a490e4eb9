"""An order of every annotator's votes that depends on the votes, not on labels or rows.

Draws are handed out in this order. Items are told apart by what happened to them: a word made of
their wins and comparisons, then of their opponents' words, twice over (as graphs are told apart
by Weisfeiler and Lehman). Sums of words do not depend on the order they are added in.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from prefpath.diagnose.streams import GOLDEN, mixed
from prefpath.model.design import Codes, Design, Floats, Ints

Words = NDArray[np.uint64]

_ROUNDS = 2
_ONE = np.uint64(1)


class DrawOrder(NamedTuple):
    """In which order draws are handed to an annotator's cells.

    `cell` are cells in order, annotator by annotator; `turned` is 1 where the right item comes
    first in this order; `word` seeds the stream of an annotator.
    """

    cell: Ints
    turned: NDArray[np.int8]
    word: Words


class _Compared(NamedTuple):
    """The two items of each cell, how often they met and how often the left one won."""

    left: Codes
    right: Codes
    trials: Floats
    wins: Floats


def draw_order(
    design: Design, left: Codes, right: Codes, trials: Floats, wins: Floats
) -> DrawOrder:
    """The order of all cells.

    Swapping the sides of all votes turns nothing around: a cell is seen from the item whose word
    is larger, and a side counts as the one this annotator clicks more often or not.
    """
    compared = _Compared(left, right, trials, wins)
    word = np.zeros(int(max(left.max(), right.max())) + 1, dtype=np.uint64)
    for _ in range(_ROUNDS + 1):
        word = _described_by_opponents(compared, word)
    n_annotators = len(design.cells) - 1
    order = DrawOrder(
        np.arange(len(left)),
        np.zeros(len(left), dtype=np.int8),
        np.zeros(n_annotators, dtype=np.uint64),
    )
    _order_cells(design, compared, word, order)
    return order


@njit(cache=True, nogil=True)
def _meeting(mine: np.uint64, other: np.uint64, wins: float, trials: float) -> np.uint64:
    """A word for one comparison as seen from one of its items."""
    counts = mixed(np.uint64(wins) * GOLDEN + np.uint64(trials))
    return mixed(mixed(mine + GOLDEN) ^ (mixed(other) + counts))


@njit(cache=True, nogil=True)
def _described_by_opponents(compared: _Compared, word: Words) -> Words:
    described = word.copy()
    for c in range(len(compared.left)):
        i, j = compared.left[c], compared.right[c]
        n, won = compared.trials[c], compared.wins[c]
        described[i] += _meeting(word[i], word[j], won, n)
        described[j] += _meeting(word[j], word[i], n - won, n)
    return described


@njit(cache=True, nogil=True)
def _order_cells(design: Design, compared: _Compared, word: Words, order: DrawOrder) -> None:
    for u in range(len(design.cells) - 1):
        first, last = design.cells[u], design.cells[u + 1]
        to_the_left = 0.0
        for c in range(first, last):
            both = 2.0 * compared.wins[c] - compared.trials[c]
            to_the_left += design.position[c] * both
        key = np.empty(last - first, dtype=np.uint64)
        for c in range(first, last):
            i, j = compared.left[c], compared.right[c]
            n, won = compared.trials[c], compared.wins[c]
            turned = word[j] > word[i]
            order.turned[c] = turned
            meeting = (
                _meeting(word[j], word[i], n - won, n)
                if turned
                else _meeting(word[i], word[j], won, n)
            )
            side = design.position[c] != 0 and to_the_left != 0.0 and turned == (to_the_left > 0.0)
            key[c - first] = mixed(meeting + (_ONE if side else np.uint64(0)))
            order.word[u] += key[c - first]
        order.cell[first:last] = first + np.argsort(key, kind="mergesort")
