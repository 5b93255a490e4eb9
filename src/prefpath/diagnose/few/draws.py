"""What draws of many annotators share: where in a stream a draw's numbers are, and their sums."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from prefpath.diagnose.canonical import DrawOrder
from prefpath.diagnose.few.rows import CellRows, SeenRows
from prefpath.diagnose.few.streams import StreamRows, Words, as_normals, draw_words
from prefpath.model.design import Floats, Ints
from prefpath.votes.encode import BoolArray

_FIRST_DRAWS = 16  # of everybody at once: most annotators need no more
_NUMBERS_AT_ONCE = 1 << 17  # a megabyte of them


def how_many(n_rows: int, drawn: int, left: int) -> int:
    """Draws of the next round: as many as before, as long as they fit into a cache."""
    fit = max(_NUMBERS_AT_ONCE // max(n_rows, 1), _FIRST_DRAWS)
    return min(left, fit, max(drawn, _FIRST_DRAWS))


def summing(into: Ints, values: Floats, n: int) -> sparse.csr_array:
    """A matrix that adds `values[k]` times row k to row `into[k]` of n."""
    rows = np.arange(len(into))
    return sparse.csr_array((values, (into, rows)), shape=(n, len(into)))


def item_sums(first: Ints, second: Ints, n_places: int) -> sparse.csr_array:
    """A matrix that adds row k to one item and takes it from another."""
    ones = np.ones(len(first))
    return sparse.csr_array(summing(first, ones, n_places) - summing(second, ones, n_places))


def turn_of_items(first: Ints, second: Ints, seen: SeenRows) -> Ints:
    """In which order an owner's items come first among cells: a number for each place.

    Cells are given person by person, in the order of their draws.
    """
    n, met = len(seen.seen), np.column_stack((first, second)).ravel()
    earliest = np.full(n, len(met))
    np.minimum.at(earliest, met, np.arange(len(met)))
    # An item that is nowhere among the cells comes last of its owner's.
    order = np.lexsort((earliest, seen.owner))
    widths = np.bincount(seen.owner, minlength=seen.n)
    turn = np.empty(n, dtype=np.int64)
    turn[order] = np.arange(n) - (np.cumsum(widths) - widths)[seen.owner[order]]
    return turn


def draw_normals(rows: StreamRows, start: Words, taken: Ints, first: int, n_draws: int) -> Floats:
    """A normal of each row in each draw; `at` is the first of its two words."""
    second = StreamRows(rows.n, rows.owner, rows.at + 1)
    words = (draw_words(each, start, taken, first, n_draws) for each in (rows, second))
    return as_normals(*words)


def rank_within(owner: Ints, n: int) -> Ints:
    """How many rows of the same owner come before each; rows are in the order of owners."""
    sizes = np.bincount(owner, minlength=n)
    return np.asarray(np.arange(len(owner)) - (np.cumsum(sizes) - sizes)[owner])


def one_by_one(owner: Ints, trials: Ints, begin: Ints, n: int) -> StreamRows:
    """A word for each of some trials, one after another from where an owner's begin."""
    each = np.repeat(owner, trials)
    return StreamRows(n, each, begin[each] + rank_within(each, n))


def as_drawn(cells: CellRows, order: DrawOrder, later: BoolArray | None = None) -> CellRows:
    """Cells in the order of draws, the item that comes first on the left; `later` ones last."""
    cell = order.cell[cells.cell]
    if later is not None:
        cell = cell[np.lexsort((later[cell], cells.owner))]
    place = np.zeros(int(cell.max(initial=-1)) + 1, dtype=np.int64)
    place[cells.cell] = np.arange(len(cell))
    left, right = cells.left[place[cell]], cells.right[place[cell]]
    turned = order.turned[cell] != 0
    first, second = np.where(turned, right, left), np.where(turned, left, right)
    return CellRows(cells.n, cells.owner, cell, first, second)
