"""Slots: the distinct comparisons of those who vote like everybody, and every one of the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prefpath.compiling import inner_kernel, kernel
from prefpath.machine import for_rows
from prefpath.model.design import Codes, Design, Floats, Ints, Places, Target
from prefpath.votes.encode import BoolArray


class Slots(NamedTuple):
    """Distinct comparisons: `theta[left] - theta[right] + position * common bias + offset`."""

    left: Codes
    right: Codes
    position: Floats
    offset: Floats


def number_slots(
    design: Design,
    n_items: int,
    alone: BoolArray,
    with_position: bool,
    key_slot: Codes,
    slot_of_cell: Codes,
) -> int:
    """Fill in `2 * slot` of every cell, one more where its sides are swapped; how many slots."""
    number = for_rows(len(slot_of_cell), _number_slots, _number_few_slots)
    n_slots: int = number(design, n_items, alone, with_position, key_slot, slot_of_cell)
    return n_slots


def fill_slots(
    design: Design,
    alone: BoolArray,
    with_position: bool,
    slot_of_cell: Codes,
    own: Floats,
    own_bias: Floats,
    slots: Slots,
) -> None:
    """Fill in what slots compare, and the offsets of those `alone`."""
    fill = for_rows(len(slot_of_cell), _fill_slots, _fill_few_slots)
    fill(design, alone, with_position, slot_of_cell, own, own_bias, slots)


def add_weights(
    design: Design,
    slot_of_cell: Codes,
    target: Target,
    times: Floats,
    total: Floats,
    pull: Floats,
) -> None:
    """Add the weight and the pull (weight times choice) of annotators to their slots.

    `times[u, r]` is how often annotator u is in resample r; `total` and `pull` have a row for
    each slot and a column for each resample.
    """
    add = for_rows(len(slot_of_cell), _add_weights, _add_few_weights)
    add(design, slot_of_cell, target, times, total, pull)


def quadratic_form(
    a: Places | Ints | Codes, b: Places | Ints | Codes, weight: Floats, position: Floats, n: int
) -> Floats:
    """`sum of weight x x^T` over comparisons of n items, a against b, and of the position.

    By counting: a row for each comparison would take gigabytes for a busy annotator.
    """
    pair = a.astype(np.int64) * n + b
    pairs = np.bincount(pair, weights=weight, minlength=n * n).reshape(n, n)
    pairs = pairs + pairs.T
    sided = weight * position
    form = np.zeros((n + 1, n + 1))
    form[:-1, :-1] = np.diag(pairs.sum(axis=1)) - pairs
    form[:-1, -1] += np.bincount(a, weights=sided, minlength=n)
    form[:-1, -1] -= np.bincount(b, weights=sided, minlength=n)
    form[-1, :-1] = form[:-1, -1]
    form[-1, -1] = np.sum(sided * position)
    return form


def _owners(design: Design) -> Ints:
    return np.repeat(np.arange(len(design.cells) - 1), np.diff(design.cells))


def _items(design: Design, owner: Ints) -> tuple[Codes, Codes]:
    start = design.seen[owner]
    return design.seen_item[start + design.left_at], design.seen_item[start + design.right_at]


def _number_few_slots(
    design: Design,
    n_items: int,
    alone: BoolArray,
    with_position: bool,
    _key_slot: Codes,
    slot_of_cell: Codes,
) -> int:
    """`_number_slots` in NumPy: slots are numbered in the order of their first cells."""
    owner = _owners(design)
    i, j = _items(design, owner)
    swapped, known = i > j, with_position & (design.position != 0)
    side = np.where(known, np.where(swapped, 2, 1), 0).astype(np.int64)
    key = (side * n_items + np.minimum(i, j)) * n_items + np.maximum(i, j)
    key = np.where(alone[owner], -1 - np.arange(len(owner)), key)
    _, first, slot = np.unique(key, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    slot_of_cell[:] = 2 * number[slot] + (swapped & ~alone[owner])
    return len(first)


def _fill_few_slots(
    design: Design,
    alone: BoolArray,
    with_position: bool,
    slot_of_cell: Codes,
    own: Floats,
    own_bias: Floats,
    slots: Slots,
) -> None:
    """`_fill_slots` in NumPy."""
    owner = _owners(design)
    i, j = _items(design, owner)
    slot, swapped = slot_of_cell // 2, slot_of_cell % 2 == 1
    slots.left[slot], slots.right[slot] = np.where(swapped, j, i), np.where(swapped, i, j)
    known = with_position & (design.position != 0)
    slots.position[slot[known]] = np.where(swapped, -1.0, 1.0)[known]
    c = np.flatnonzero(alone[owner])
    block = design.blocks[owner[c]]
    if design.features.shape[0] == 0:
        apart = own[block + design.left_at[c]] - own[block + design.right_at[c]]
    else:
        width = np.arange(design.features.shape[1])
        features = design.features[i[c]] - design.features[j[c]]
        apart = np.einsum("cd,cd->c", features, own[block[:, None] + width])
    slots.offset[slot[c]] = own_bias[owner[c]] * design.position[c] + apart


def _add_few_weights(
    design: Design,
    slot_of_cell: Codes,
    target: Target,
    times: Floats,
    total: Floats,
    pull: Floats,
) -> None:
    """`_add_weights` in NumPy."""
    slot, owner = slot_of_cell // 2, _owners(design)
    toward = np.where(slot_of_cell % 2 == 1, -target.choice, target.choice)
    for r in range(times.shape[1]):
        mass = target.weight * times[owner, r]
        total[:, r] += np.bincount(slot, mass, len(total))
        pull[:, r] += np.bincount(slot, mass * toward, len(total))


@kernel()
def _number_slots(
    design: Design,
    n_items: int,
    alone: BoolArray,
    with_position: bool,
    key_slot: Codes,
    slot_of_cell: Codes,
) -> int:
    n_slots = 0
    for u in range(len(alone)):
        start = design.seen[u]
        for c in range(design.cells[u], design.cells[u + 1]):
            if alone[u]:
                slot_of_cell[c] = 2 * n_slots
                n_slots += 1
                continue
            i = np.int64(design.seen_item[start + design.left_at[c]])
            j = np.int64(design.seen_item[start + design.right_at[c]])
            swapped = i > j
            side = 0
            if with_position and design.position[c]:
                side = 2 if swapped else 1
            if swapped:
                i, j = j, i
            key = (side * n_items + i) * n_items + j
            if key_slot[key] < 0:
                key_slot[key] = n_slots
                n_slots += 1
            slot_of_cell[c] = 2 * key_slot[key] + swapped
    return n_slots


@kernel()
def _fill_slots(
    design: Design,
    alone: BoolArray,
    with_position: bool,
    slot_of_cell: Codes,
    own: Floats,
    own_bias: Floats,
    slots: Slots,
) -> None:
    for u in range(len(alone)):
        start = design.seen[u]
        for c in range(design.cells[u], design.cells[u + 1]):
            a, b = design.left_at[c], design.right_at[c]
            slot, swapped = slot_of_cell[c] // 2, slot_of_cell[c] % 2
            i, j = design.seen_item[start + a], design.seen_item[start + b]
            slots.left[slot] = j if swapped else i
            slots.right[slot] = i if swapped else j
            if with_position and design.position[c]:
                slots.position[slot] = -1.0 if swapped else 1.0
            if alone[u]:
                slots.offset[slot] = own_bias[u] * design.position[c]
                slots.offset[slot] += _own_difference(design, u, a, b, i, j, own)


@inner_kernel()
def _own_difference(design: Design, u: int, a: int, b: int, i: int, j: int, own: Floats) -> float:
    block = design.blocks[u]
    if design.features.shape[0] == 0:
        return own[block + a] - own[block + b]
    total = 0.0
    for d in range(design.features.shape[1]):
        total += (design.features[i, d] - design.features[j, d]) * own[block + d]
    return total


@kernel()
def _add_weights(
    design: Design,
    slot_of_cell: Codes,
    target: Target,
    times: Floats,
    total: Floats,
    pull: Floats,
) -> None:
    choice, weight = target
    n_annotators, n_resamples = times.shape
    for u in range(n_annotators):
        for c in range(design.cells[u], design.cells[u + 1]):
            slot = slot_of_cell[c] // 2
            toward = -choice[c] if slot_of_cell[c] % 2 else choice[c]
            for r in range(n_resamples):
                mass = weight[c] * times[u, r]
                total[slot, r] += mass
                pull[slot, r] += mass * toward
