"""The votes as compiled kernels read them: every annotator on the items they have seen."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefpath.compiling import by_reference, kernel
from prefpath.machine import for_rows
from prefpath.votes import Votes

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Places = NDArray[np.uint32]  # unsigned: the compiler need not think of negative indices


# Merging rows makes a copy of choices and weights; it must save at least a tenth of the rows.
_WORTH_MERGING = 0.9


@by_reference
class Design(NamedTuple):
    """Who compared what, without what they chose.

    Annotator u owns the cells `cells[u]:cells[u + 1]` (distinct comparisons), the seen items
    `seen_item[seen[u]:seen[u + 1]]` and the coefficients `blocks[u]:blocks[u + 1]` of their
    deviation. A cell compares the seen items number `left_at` and `right_at` of its
    annotator; `position` is 1 where left and right are known and matter, else 0.
    """

    cells: Ints
    seen: Ints
    seen_item: Codes
    left_at: Places
    right_at: Places
    position: NDArray[np.int8]
    blocks: Ints
    features: Floats


@by_reference
class Target(NamedTuple):
    """What was chosen in each cell, and with what weight; a fold or a resample has its own."""

    choice: Floats
    weight: Floats


def build_design(
    votes: Votes, cell_starts: Ints, features: Floats | None, *, use_position: bool
) -> Design:
    """Find each annotator's seen items and give every cell its two places among them."""
    left, right = votes.left[cell_starts], votes.right[cell_starts]
    cells = np.searchsorted(cell_starts, votes.offsets).astype(np.int64)
    find_seen = for_rows(len(left), _find_seen, _find_few_seen)
    seen, seen_item, left_at, right_at = find_seen(cells, left, right, votes.n_items)
    position = (votes.position_known[cell_starts] & use_position).astype(np.int8)
    if features is None:
        blocks, phi = seen, np.zeros((0, 0))
    else:
        phi = np.array(features, dtype=np.float64, order="C")
        blocks = np.arange(votes.n_annotators + 1, dtype=np.int64) * phi.shape[1]
    return Design(cells, seen, seen_item, left_at, right_at, position, blocks, phi)


def cell_starts_of(votes: Votes, *, merge_choices: bool, always: bool = False) -> Ints:
    """First row of each cell: rows that differ in nothing but the choice can share one.

    They do where that is worth it, or `always`.
    """
    if not merge_choices or votes.n_rows == 0:
        return np.arange(votes.n_rows, dtype=np.int64)
    new = np.ones(votes.n_rows, dtype=bool)
    columns: tuple[NDArray[Any], ...] = (votes.left, votes.right, votes.position_known)
    new[1:] = False
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    starts = votes.offsets[:-1]
    new[starts[starts < votes.n_rows]] = True
    if not (always or is_worth_merging(int(np.count_nonzero(new)), votes.n_rows)):
        return np.arange(votes.n_rows, dtype=np.int64)
    return np.flatnonzero(new)


def is_worth_merging(n_cells: int, n_rows: int) -> bool:
    """Whether votes of so many rows are to be so many cells instead."""
    return n_cells <= _WORTH_MERGING * n_rows


def build_target(votes: Votes, cell_starts: Ints, weight: Floats) -> Target:
    """Total weight and mean choice of each cell."""
    if len(cell_starts) == votes.n_rows:
        return Target(votes.choice, _frozen(weight))
    total = np.add.reduceat(weight, cell_starts)
    pull = np.add.reduceat(weight * votes.choice, cell_starts)
    mean = np.divide(pull, total, out=np.zeros_like(total), where=total > 0)
    return Target(_frozen(mean), _frozen(total))


def weighted_target(target: Target, times: Floats) -> Target:
    """The same where each cell weighs so many times as much."""
    return Target(target.choice, _frozen(times * target.weight))


def _frozen(values: Floats) -> Floats:
    """A read-only view: to the compiler, writable arrays would be another type of kernel."""
    view = values.view()
    view.setflags(write=False)
    return view


def _find_seen(
    cells: Ints, left: Codes, right: Codes, n_items: int
) -> tuple[Ints, Codes, Places, Places]:
    """Where the seen items of each annotator begin, these, and the two places of each cell."""
    seen = _count_seen(cells, left, right, n_items)
    return seen, *_place_seen(cells, left, right, seen, n_items)


def _find_few_seen(
    cells: Ints, left: Codes, right: Codes, n_items: int
) -> tuple[Ints, Codes, Places, Places]:
    """The same in NumPy."""
    n_annotators = len(cells) - 1
    owner = np.repeat(np.arange(n_annotators), np.diff(cells))
    keys = np.concatenate((owner * n_items + left, owner * n_items + right))
    distinct, place = np.unique(keys, return_inverse=True)
    seen = np.searchsorted(distinct, np.arange(n_annotators + 1) * n_items).astype(np.int64)
    left_at, right_at = (place.reshape(2, -1) - seen[owner]).astype(np.uint32)
    return seen, (distinct % max(n_items, 1)).astype(np.int32), left_at, right_at


@kernel()
def _count_seen(cells: Ints, left: Codes, right: Codes, n_items: int) -> Ints:
    n_annotators = len(cells) - 1
    last_seen_by = np.full(n_items, -1, dtype=np.int64)
    seen = np.zeros(n_annotators + 1, dtype=np.int64)
    for u in range(n_annotators):
        distinct = 0
        for c in range(cells[u], cells[u + 1]):
            for item in (left[c], right[c]):
                if last_seen_by[item] != u:
                    last_seen_by[item] = u
                    distinct += 1
        seen[u + 1] = seen[u] + distinct
    return seen


@kernel()
def _place_seen(
    cells: Ints, left: Codes, right: Codes, seen: Ints, n_items: int
) -> tuple[Codes, Places, Places]:
    n_annotators = len(cells) - 1
    last_seen_by = np.full(n_items, -1, dtype=np.int64)
    place = np.empty(n_items, dtype=np.int32)
    seen_item = np.empty(seen[-1], dtype=np.int32)
    left_at = np.empty(len(left), dtype=np.uint32)
    right_at = np.empty(len(left), dtype=np.uint32)
    for u in range(n_annotators):
        at = seen[u]
        for c in range(cells[u], cells[u + 1]):
            for item in (left[c], right[c]):
                if last_seen_by[item] != u:
                    last_seen_by[item] = u
                    seen_item[at] = item
                    at += 1
        own = seen_item[seen[u] : seen[u + 1]]
        own.sort()  # ascending items: the common scores are then read in order
        for k in range(len(own)):
            place[own[k]] = k
        for c in range(cells[u], cells[u + 1]):
            left_at[c] = place[left[c]]
            right_at[c] = place[right[c]]
    return seen_item, left_at, right_at
