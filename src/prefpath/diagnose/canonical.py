"""An order of every annotator's votes that depends on the votes, not on labels or rows.

Draws are handed out in this order. Items are told apart by what happened to them: a word made of
their wins and comparisons, then of their opponents' words, twice over (as graphs are told apart
by Weisfeiler and Lehman). Sums of words do not depend on the order they are added in.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from prefpath.compiling import inner_kernel, kernel
from prefpath.diagnose.streams import GOLDEN, mixed
from prefpath.machine import for_rows
from prefpath.model.design import Codes, Design, Floats, Ints
from prefpath.model.loops import longest_run

Words = NDArray[np.uint64]

N_ROUNDS = 3  # of words: an item alone, its opponents, and theirs
_ONE, _NONE = np.uint64(1), np.uint64(0)


class DrawOrder(NamedTuple):
    """In which order draws are handed to an annotator's cells.

    `cell` are cells in order, annotator by annotator; `turned` is 1 where the right item comes
    first in this order; `word` seeds the stream of an annotator.
    """

    cell: Ints
    turned: NDArray[np.int8]
    word: Words


class Compared(NamedTuple):
    """The two items of each cell, how often they met and how often the left one won."""

    left: Codes
    right: Codes
    trials: Floats
    wins: Floats


def draw_order(design: Design, compared: Compared) -> DrawOrder:
    """The order of all cells.

    Swapping the sides of all votes turns nothing around: a cell is seen from the item whose word
    is larger, and a side counts as the one this annotator clicks more often or not. Who clicks
    both equally often has them told apart by what was compared there; where that is the same, too,
    the votes are their own mirror image, and left may stay left.
    """
    left, right = compared.left, compared.right
    word = np.zeros(int(max(left.max(), right.max())) + 1, dtype=np.uint64)
    for _ in range(N_ROUNDS):
        word = word + said_by_opponents(compared, word)
    return order_by_words(design, compared, word)


def order_by_words(design: Design, compared: Compared, word: Words) -> DrawOrder:
    """The same where the items' words are known."""
    n_cells, n_annotators = len(compared.left), len(design.cells) - 1
    order = DrawOrder(
        np.empty(n_cells, dtype=np.int64),
        np.zeros(n_cells, dtype=np.int8),
        np.zeros(n_annotators, dtype=np.uint64),
    )
    for_rows(n_cells, _order_cells, _order_few_cells)(design, compared, word, order)
    return order


# Numbers or arrays: compiled as part of what calls it, and plain NumPy where there are few votes.
@register_jitable
def _meeting(mine: Any, other: Any, wins: Any, trials: Any) -> Any:
    """A word for one comparison as seen from one of its items."""
    counts = mixed(np.uint64(wins) * GOLDEN + np.uint64(trials))
    return mixed(mixed(mine + GOLDEN) ^ (mixed(other) + counts))


@register_jitable
def _leftward(to_the_left: Any, seen_left: Any, seen_right: Any) -> Any:
    """Whether left is the side an annotator clicks more often, or else has the larger word."""
    return (to_the_left > 0.0) | ((to_the_left == 0.0) & (seen_left >= seen_right))


def said_by_opponents(compared: Compared, word: Words) -> Words:
    """What is added to the word of each item: of all votes it is the sum over their parts."""
    said: Words = for_rows(len(compared.left), _said, _few_said)(compared, word)
    return said


def _few_said(compared: Compared, word: Words) -> Words:
    """`_said` in NumPy."""
    described, (i, j, n, won) = np.zeros_like(word), compared
    with np.errstate(over="ignore"):
        np.add.at(described, i, _meeting(word[i], word[j], won, n))
        np.add.at(described, j, _meeting(word[j], word[i], n - won, n))
    return described


def _order_few_cells(design: Design, compared: Compared, word: Words, order: DrawOrder) -> None:
    """`_order_cells` in NumPy."""
    i, j, n, won = compared
    owner = np.repeat(np.arange(len(order.word)), np.diff(design.cells))
    both, placed = design.position * (2.0 * won - n), design.position != 0
    to_the_left = np.bincount(owner, weights=both, minlength=len(order.word))
    turned = word[j] > word[i]
    order.turned[:] = turned
    first, second = np.where(turned, j, i), np.where(turned, i, j)
    with np.errstate(over="ignore"):
        meeting = _meeting(word[first], word[second], np.where(turned, n - won, won), n)
        seen_left, seen_right = np.zeros((2, len(order.word)), dtype=np.uint64)
        np.add.at(seen_left, owner, np.where(placed & ~turned, meeting, 0))
        np.add.at(seen_right, owner, np.where(placed & turned, meeting, 0))
        leftward = _leftward(to_the_left, seen_left, seen_right)[owner]
        key = mixed(meeting + (placed & (turned == leftward)).astype(np.uint64))
        np.add.at(order.word, owner, key)
    order.cell[:] = np.lexsort((key, owner))


@kernel()
def _said(compared: Compared, word: Words) -> Words:
    described = np.zeros_like(word)
    for c in range(len(compared.left)):
        i, j = compared.left[c], compared.right[c]
        n, won = compared.trials[c], compared.wins[c]
        described[i] += _meeting(word[i], word[j], won, n)
        described[j] += _meeting(word[j], word[i], n - won, n)
    return described


@kernel()
def _order_cells(design: Design, compared: Compared, word: Words, order: DrawOrder) -> None:
    most = longest_run(design.cells)
    keys, begins = np.empty(most, dtype=np.uint64), np.empty(2 * most + 3, dtype=np.int64)
    for u in range(len(design.cells) - 1):
        first, last = design.cells[u], design.cells[u + 1]
        to_the_left, seen_left, seen_right = 0.0, _NONE, _NONE
        key = keys[: last - first]
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
            key[c - first] = meeting
            to_the_left += design.position[c] * (2.0 * won - n)
            if design.position[c] != 0:
                seen_left += _NONE if turned else meeting
                seen_right += meeting if turned else _NONE
        leftward = _leftward(to_the_left, seen_left, seen_right)
        for c in range(first, last):
            side = design.position[c] != 0 and (order.turned[c] != 0) == leftward
            key[c - first] = mixed(key[c - first] + (_ONE if side else _NONE))
            order.word[u] += key[c - first]
        _order_of_words(key, begins, order.cell[first:last])
        for k in range(last - first):
            order.cell[first + k] += first


@inner_kernel(allocates=False)
def _order_of_words(key: Words, begins: Ints, place: Ints) -> None:
    """Places of words in their order, equal ones in the order given.

    Words are as good as random: as many drawers as words hold one or two each, and which one it is
    the first bits say.
    """
    n, shift = len(key), np.uint64(63)
    while shift > 0 and (np.uint64(1) << (np.uint64(64) - shift)) < n:
        shift -= _ONE
    n_drawers = np.int64(np.uint64(1) << (np.uint64(64) - shift))
    for k in range(n_drawers + 1):
        begins[k] = 0
    for k in range(n):
        begins[np.int64(key[k] >> shift) + 1] += 1
    for k in range(n_drawers):
        begins[k + 1] += begins[k]
    for k in range(n):
        drawer = np.int64(key[k] >> shift)
        place[begins[drawer]] = k
        begins[drawer] += 1
    for k in range(1, n):
        moved, at = place[k], k
        while at > 0 and key[place[at - 1]] > key[moved]:
            place[at] = place[at - 1]
            at -= 1
        place[at] = moved
