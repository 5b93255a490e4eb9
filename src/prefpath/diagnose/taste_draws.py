"""Draws of the test of a taste: an annotator's comparisons decided again, four times at once.

How often an item won in each of four draws is one word of 64 bits, 16 for each draw: whatever is
added to an item is read and written once for all four. The random numbers are those that one draw
after another would take.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefpath.compiling import inner_kernel
from prefpath.diagnose.canonical import DrawOrder
from prefpath.diagnose.null_model import NullModel
from prefpath.diagnose.streams import GOLDEN, State, draw_binomial, draw_normal, mixed
from prefpath.model.design import Design, Floats, Places
from prefpath.model.loops import negate

Words = NDArray[np.uint64]

AT_ONCE = 4  # draws
_BITS = 16  # of the wins of an item in one draw
_MOST_ADDED = 30_000  # votes until these, or left wins with their sign, are full
_ALL_WON = np.uint64(0x0001_0001_0001_0001)
_ONE_COUNT = np.uint64(0xFFFF)
_LOW_BITS, _S16, _S32, _S48 = np.uint64(0xFFFFFFFF), np.uint64(16), np.uint64(32), np.uint64(48)
_FEW = 512  # words: so few of all four draws are mixed in one loop, which is long enough then


class Drawing(NamedTuple):
    """One annotator's comparisons in the order of draws, and room for four draws of them.

    Comparisons are seen from the item that comes first there: `side` is 1 or -1 where that is on
    the left or right and sides matter, else 0; `p` is the probability that it wins, and that of
    single votes in units of 2^-32 is `low` or `high`, by which half of a random word decides:
    two votes share a word. All of the low halves come first, then all of the high ones (of an odd
    number the last is nobody's), then comparisons of several votes.

    `won` are single votes won, draw by draw those of low halves, then so those of high ones;
    `each` those of a comparison in all draws, `wins` those of an item. `score`, a row for each
    draw, is what else is drawn, and `left` the left wins where sides matter.
    """

    first_at: Places
    second_at: Places
    side: NDArray[np.int8]
    trials: Floats
    p: Floats
    low: Words
    high: Words
    won: Words
    each: Words
    wins: Words
    score: Floats
    left: Floats
    shift: Floats


class Drawn(NamedTuple):
    """What is drawn for one annotator: how many single votes, of how many comparisons in all.

    `moved` says whether errors of the common scores are drawn, too; `base` are the left wins if
    every first item lost.
    """

    n_single: int
    n_cells: int
    moved: bool
    base: float


@inner_kernel()
def make_drawing(most_items: int, most_cells: int) -> Drawing:
    """Room for annotators with so many items and cells."""
    n, few = most_cells + 1, AT_ONCE * _FEW
    return Drawing(
        np.zeros(n, dtype=np.uint32),
        np.zeros(n, dtype=np.uint32),
        np.zeros(n, dtype=np.int8),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n // 2 + few, dtype=np.uint64),
        np.zeros(n // 2 + few, dtype=np.uint64),
        np.zeros(AT_ONCE * n, dtype=np.uint64),
        np.zeros(n, dtype=np.uint64),
        np.zeros(most_items, dtype=np.uint64),
        np.zeros((AT_ONCE, most_items)),
        np.zeros(AT_ONCE),
        np.zeros(most_items),
    )


@inner_kernel(allocates=False)
def put_in_order(
    u: int, design: Design, null: NullModel, order: DrawOrder, moved: bool, of: Drawing
) -> Drawn:
    """Copy u's cells in the order of draws."""
    start, end = design.cells[u], design.cells[u + 1]
    n_single = 0
    for c in range(start, end):
        n_single += null.trials[c] == 1.0
    half, base = (n_single + 1) // 2, 0.0
    single, several = 0, 2 * half
    for at in range(start, end):
        c = order.cell[at]
        turned, trials = order.turned[c], null.trials[c]
        p = 1.0 - null.p[c] if turned else null.p[c]
        if trials == 1.0:
            k = single // 2 + (half if single % 2 else 0)
            (of.high if single % 2 else of.low)[single // 2] = np.uint64(p * 4294967296.0)
            single += 1
        else:
            k = several
            several += 1
        left, right = design.left_at[c], design.right_at[c]
        of.first_at[k] = right if turned else left
        of.second_at[k] = left if turned else right
        of.side[k] = -design.position[c] if turned else design.position[c]
        of.trials[k], of.p[k] = trials, p
        base += turned * design.position[c] * trials
    if n_single % 2:
        of.high[half - 1] = 0
    for k in range(half if half <= _FEW else 0):
        for draw in range(1, AT_ONCE):
            of.low[draw * half + k], of.high[draw * half + k] = of.low[k], of.high[k]
    return Drawn(n_single, end - start, moved, base)


@inner_kernel(allocates=False)
def draw_votes(
    u: int,
    design: Design,
    null: NullModel,
    expected: Floats,
    drawn: Drawn,
    state: State,
    of: Drawing,
) -> None:
    """Four draws: `left`, and `score` less what is `expected` of each item seen."""
    k, half = len(expected), (drawn.n_single + 1) // 2
    only_singles = drawn.n_cells == drawn.n_single and not drawn.moved
    together = AT_ONCE if only_singles and half <= _FEW else 1
    n = together * half
    low, high, at = of.low[:n], of.high[:n], AT_ONCE * half
    for draw in range(AT_ONCE):
        of.left[draw] = drawn.base
        negate(expected, of.score[draw, :k])
        if drawn.moved:
            _draw_shift(u, design, null, drawn, state, of)
            of.left[draw] += _apply_shift(u, design, null, of.shift, of.score[draw])
        if draw % together == 0:
            a = draw * half
            _decide(state, low, high, of.won[a : a + n], of.won[at + a : at + a + n])
        of.left[draw] += _draw_repeated_votes(drawn, of, state, of.score[draw])
    _put_together(of.won[:at], of.each[:half])
    _put_together(of.won[at : 2 * at], of.each[half : 2 * half])
    for first in range(0, drawn.n_single, _MOST_ADDED):
        last = min(first + _MOST_ADDED, drawn.n_single)
        first_at, second_at = of.first_at[first:last], of.second_at[first:last]
        left = _add_up(first_at, second_at, of.side[first:last], of.each[first:last], of.wins[:k])
        _unpack(left, of.left)
        for draw in range(AT_ONCE):
            _add_wins(of.wins[:k], np.uint64(_BITS * draw), of.score[draw, :k])


@inner_kernel(allocates=False)
def _decide(state: State, low: Words, high: Words, won: Words, also_won: Words) -> None:
    """Decide single votes, those of low and those of high halves of the next words.

    Without a branch, as nobody can predict one, and several at once. Plain arrays, not tuples of
    them: the compiler would count references to a tuple's arrays at every cell.
    """
    place = state[0]
    for c in range(len(low)):
        word = mixed(place + GOLDEN * np.uint64(c + 1))
        won[c] = (word & _LOW_BITS) < low[c]
        also_won[c] = (word >> _S32) < high[c]
    state[0] = place + GOLDEN * np.uint64(len(low))


@inner_kernel(allocates=False)
def _put_together(won: Words, each: Words) -> None:
    """Wins of comparisons in four draws, one draw after another, as one word for each."""
    n = len(each)
    one, two, three, four = won[:n], won[n : 2 * n], won[2 * n : 3 * n], won[3 * n : 4 * n]
    for c in range(n):
        each[c] = one[c] | two[c] << _S16 | three[c] << _S32 | four[c] << _S48


@inner_kernel(allocates=False)
def _add_up(
    first_at: Places, second_at: Places, side: NDArray[np.int8], each: Words, wins: Words
) -> int | np.int64:
    """Wins of each item, and left wins, in single votes; four draws in a word."""
    left = 0
    for j in range(len(wins)):
        wins[j] = 0
    for c in range(len(each)):
        wins[first_at[c]] += each[c]
        wins[second_at[c]] += _ALL_WON - each[c]
    for c in range(len(each)):
        left += side[c] * np.int64(each[c])
    return left


@inner_kernel(allocates=False)
def _unpack(packed: int | np.int64, out: Floats) -> None:
    """Add four numbers of either sign, the first in the lowest bits of a word."""
    for draw in range(AT_ONCE):
        number = (packed + 32_768) % 65_536 - 32_768
        out[draw] += number
        packed = (packed - number) >> _BITS


@inner_kernel(allocates=False)
def _add_wins(wins: Words, shift: np.uint64, score: Floats) -> None:
    for j in range(len(wins)):
        score[j] += np.int64((wins[j] >> shift) & _ONE_COUNT)


@inner_kernel(allocates=False)
def _draw_repeated_votes(drawn: Drawn, of: Drawing, state: State, score: Floats) -> float:
    """Comparisons of several votes in one draw; returns left wins beyond the base."""
    odd, left_wins = drawn.n_single % 2, 0.0
    for c in range(drawn.n_single + odd, drawn.n_cells + odd):
        wins = draw_binomial(state, of.trials[c], of.p[c])
        score[of.first_at[c]] += wins
        score[of.second_at[c]] += of.trials[c] - wins
        left_wins += of.side[c] * wins
    return left_wins


@inner_kernel(allocates=False)
def _draw_shift(
    u: int, design: Design, null: NullModel, drawn: Drawn, state: State, of: Drawing
) -> None:
    """An error for the common score of each item seen, in the order in which cells are drawn."""
    start, k = design.seen[u], design.seen[u + 1] - design.seen[u]
    n_single, half = drawn.n_single, (drawn.n_single + 1) // 2
    of.shift[:k] = np.inf
    for turn in range(drawn.n_cells):
        c = turn + n_single % 2
        if turn < n_single:
            c = turn // 2 + (half if turn % 2 else 0)
        for j in (of.first_at[c], of.second_at[c]):
            if of.shift[j] == np.inf:
                error = null.score_error[design.seen_item[start + j]]
                of.shift[j] = error * draw_normal(state)


@inner_kernel(allocates=False)
def _apply_shift(u: int, design: Design, null: NullModel, shift: Floats, score: Floats) -> float:
    """Add what errors of the common scores do to the score; returns it for the left wins."""
    left_wins = 0.0
    for c in range(design.cells[u], design.cells[u + 1]):
        left, right = design.left_at[c], design.right_at[c]
        r = null.trials[c] * null.slope[c] * (shift[right] - shift[left])
        score[left] += r
        score[right] -= r
        left_wins += design.position[c] * r
    return left_wins
