"""Numbers for annotators, items and votes that follow from who voted how, not from labels.

Colour refinement of the votes' graph: an annotator's colour is a hash of the colours of what they
compared and how they chose, an item's of who compared it with what; repeated until no more are
told apart. Names, the order of rows and sides swapped throughout make no difference.

Those who remain alike are mostly interchangeable, and only then may a draw treat them
differently: twins (the same votes on the same items, or by the same annotators) are numbered
in any order, then groups of the alike that hang together, then one member of each such group at a
time, with a refinement after each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from prefpath.compiling import inner_kernel, kernel
from prefpath.machine import FEW_ROWS
from prefpath.model.design import Floats, Ints
from prefpath.votes import Votes

Hashes = NDArray[np.uint64]

_MOST_ROUNDS = 40
_NOBODY_LEANS = 1e-9


class Colours(NamedTuple):
    """A hash for each annotator and each item."""

    annotator: Hashes
    item: Hashes


class _Graph(NamedTuple):
    """The votes as the refinement reads them; `side` is 1, -1 where all sides are swapped, or 0.

    Choices and weights are the bits of single-precision numbers.
    """

    offsets: Ints
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    choice: NDArray[np.uint32]
    weight: NDArray[np.uint32]
    side: NDArray[np.int8]


class Refined(NamedTuple):
    """Colours told apart as far as they can be, and the votes they belong to."""

    colours: Colours
    graph: _Graph

    def vote_keys(self, seed: int) -> Hashes:
        """A hash for each row of the votes."""
        keys = _few_row_keys if len(self.graph.left) <= FEW_ROWS else _row_keys
        return keys(self.graph, self.colours, np.uint64(seed))

    def keys(self, over: str, seed: int) -> Hashes:
        """A hash for each annotator or item."""
        colours = self.colours.annotator if over == "annotators" else self.colours.item
        return _mixed(colours, np.uint64(seed))


def refine_votes(votes: Votes) -> Refined:
    """Tell annotators and items apart by their votes alone.

    Whether left and right are as given or swapped throughout is itself settled by the votes: by
    the side that wins more, or, where neither does, by the smaller hash.
    """
    lean = float(np.sum(votes.weight * votes.choice * votes.position_known))
    if abs(lean) > _NOBODY_LEANS * votes.total_weight:
        return _refined(_graph_of(votes, 1 if lean > 0 else -1), votes.n_items)
    both = [_refined(_graph_of(votes, side), votes.n_items) for side in (1, -1)]
    return min(both, key=lambda one: int(one.vote_keys(0).sum()))


def _graph_of(votes: Votes, side: int) -> _Graph:
    # Single precision: weights of 0.1 and 0.2 sum up to one of 0.3.
    return _Graph(
        votes.offsets,
        votes.left,
        votes.right,
        _bits(votes.choice),
        _bits(votes.weight),
        (votes.position_known * side).astype(np.int8),
    )


def _bits(values: Floats) -> NDArray[np.uint32]:
    with np.errstate(over="ignore"):
        return (values.astype(np.float32) + np.float32(0.0)).view(np.uint32)


def _refined(graph: _Graph, n_items: int) -> Refined:
    n_annotators = len(graph.offsets) - 1
    start = Colours(np.full(n_annotators, 1, np.uint64), np.full(n_items, 2, np.uint64))
    colours = _until_stable(graph, start)
    if _n_alike(colours):
        colours = _until_stable(graph, _number_twins(graph, colours))
    for _ in range(_MOST_ROUNDS):
        if not _n_alike(colours):
            break
        group = _groups_of_alike(graph, *map(_is_alike, colours))
        colours = _until_stable(graph, _number_groups(colours, group))
        if _n_alike(colours):
            group = _groups_of_alike(graph, *map(_is_alike, colours))
            colours = _until_stable(graph, _single_one_out(colours, group))
    return Refined(_by_code_at_last(colours), graph)


def _until_stable(graph: _Graph, colours: Colours) -> Colours:
    """Refine until a round tells no more apart."""
    while True:
        alike = _n_alike(colours)
        if not alike:
            return colours
        finer = _round(graph, colours)
        if _n_alike(finer) >= alike:
            return finer
        colours = finer


def _n_alike(colours: Colours) -> int:
    return sum(len(one) - len(np.unique(one)) for one in colours)


def _is_alike(colour: Hashes) -> NDArray[np.bool_]:
    _, place, times = np.unique(colour, return_inverse=True, return_counts=True)
    return np.asarray(times[place] > 1)


def _number_twins(graph: _Graph, colours: Colours) -> Colours:
    """Number those whose votes are the very same: any order of them is as good as any other."""
    codes = Colours(
        *(_mixed(np.arange(len(one), dtype=np.uint64), np.uint64(3)) for one in colours)
    )
    votes_of = _round(graph, Colours(np.zeros_like(codes.annotator), codes.item))
    seen_by = _round(graph, Colours(codes.annotator, codes.item), own=False)
    return Colours(
        _numbered(colours.annotator, _rank_within(votes_of.annotator)),
        _numbered(colours.item, _rank_within(seen_by.item)),
    )


def _number_groups(colours: Colours, group: Ints) -> Colours:
    """Number groups of the alike that look the same: they have nothing to do with each other."""
    every = np.concatenate(colours)
    looks = np.zeros(len(group), dtype=np.uint64)
    inside = group >= 0
    with np.errstate(over="ignore"):
        np.add.at(looks, group[inside], _mixed(every[inside], np.uint64(5)))
    heads = np.unique(group[inside])
    number = np.zeros(len(group), dtype=np.int64)
    number[heads] = _rank_within(looks[heads])
    return _split(colours, _numbered(every, np.where(inside, number[group], 0)))


def _single_one_out(colours: Colours, group: Ints) -> Colours:
    """In each group, give one member of the first colour that occurs twice a colour of its own."""
    every = np.concatenate(colours)
    inside = np.flatnonzero(group >= 0)
    order = inside[np.lexsort((every[inside], group[inside]))]
    twice = np.zeros(len(order), dtype=bool)
    twice[:-1] = (every[order][1:] == every[order][:-1]) & (group[order][1:] == group[order][:-1])
    candidates = order[twice]
    _, first = np.unique(group[candidates], return_index=True)
    chosen = np.zeros(len(every), dtype=np.int64)
    chosen[candidates[first]] = 1
    return _split(colours, _numbered(every, chosen))


def _by_code_at_last(colours: Colours) -> Colours:
    """Whoever could not be told apart in many rounds is told apart by their code."""
    return Colours(*(_numbered(one, _rank_within(one)) for one in colours))


def _split(colours: Colours, every: Hashes) -> Colours:
    n = len(colours.annotator)
    return Colours(every[:n], every[n:])


def _rank_within(colour: Hashes) -> Ints:
    """0, 1, 2, ... among those of the same colour, in the order of their codes."""
    order = np.argsort(colour, kind="stable")
    new = np.ones(len(order), dtype=bool)
    new[1:] = colour[order][1:] != colour[order][:-1]
    starts = np.flatnonzero(new)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    return rank


def _numbered(colour: Hashes, number: Ints) -> Hashes:
    return np.where(number > 0, _mixed(colour, number.astype(np.uint64)), colour)


# Numbers or arrays: compiled as part of what calls it, and plain NumPy where there are few votes.
@register_jitable
def _mix(x: Any) -> Any:
    """The finaliser of splitmix64: every bit depends on every bit."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _mixed(x: Hashes, salt: np.uint64 | Hashes) -> Hashes:
    """The same for arrays, with a salt."""
    with np.errstate(over="ignore"):
        salted = (x + (salt + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
        return np.asarray(_mix(salted))


@register_jitable
def _outcome(choice: Any, weight: Any, side: Any) -> Any:
    """A hash of how a vote went, seen from one of its items."""
    x = np.uint64(choice) * np.uint64(0xD6E8FEB86659FD93)
    return _mix(x + _mix(np.uint64(weight) * np.uint64(4) + np.uint64(side + 2)))


@register_jitable
def _negative(choice: Any) -> Any:
    return np.uint64(choice) ^ (np.uint64(choice != 0) << np.uint64(31))


@register_jitable
def _vote(left: Any, right: Any, won: Any, lost: Any) -> Any:
    """A hash of a vote that is the same with its sides swapped."""
    return _mix(_mix(left + won) + _mix(right + lost))


@kernel()
def _add_votes(graph: _Graph, colours: Colours, votes_of: Hashes, seen_by: Hashes) -> None:
    for u in range(len(graph.offsets) - 1):
        who, total = _mix(colours.annotator[u]), np.uint64(0)
        for r in range(graph.offsets[u], graph.offsets[u + 1]):
            i, j = graph.left[r], graph.right[r]
            won = _outcome(graph.choice[r], graph.weight[r], graph.side[r])
            lost = _outcome(_negative(graph.choice[r]), graph.weight[r], -graph.side[r])
            total += _vote(colours.item[i], colours.item[j], won, lost)
            seen_by[i] += _mix(who + _mix(colours.item[j] + won))
            seen_by[j] += _mix(who + _mix(colours.item[i] + lost))
        votes_of[u] = total


def _add_few_votes(graph: _Graph, colours: Colours, votes_of: Hashes, seen_by: Hashes) -> None:
    """The same in NumPy."""
    owner = np.repeat(np.arange(len(votes_of)), np.diff(graph.offsets))
    i, j = graph.left, graph.right
    with np.errstate(over="ignore"):
        won = _outcome(graph.choice, graph.weight, graph.side)
        lost = _outcome(_negative(graph.choice), graph.weight, -graph.side)
        who = _mix(colours.annotator)[owner]
        np.add.at(votes_of, owner, _vote(colours.item[i], colours.item[j], won, lost))
        np.add.at(seen_by, i, _mix(who + _mix(colours.item[j] + won)))
        np.add.at(seen_by, j, _mix(who + _mix(colours.item[i] + lost)))


def _round(graph: _Graph, colours: Colours, *, own: bool = True) -> Colours:
    """Colours of everybody's votes; with their own colour before, unless told otherwise."""
    votes_of, seen_by = np.zeros_like(colours.annotator), np.zeros_like(colours.item)
    add = _add_few_votes if len(graph.left) <= FEW_ROWS else _add_votes
    add(graph, colours, votes_of, seen_by)
    if not own:
        return Colours(votes_of, seen_by)
    return Colours(_mixed(votes_of, colours.annotator), _mixed(seen_by, colours.item))


@kernel()
def _row_keys(graph: _Graph, colours: Colours, seed: np.uint64) -> Hashes:
    key = np.empty(len(graph.left), dtype=np.uint64)
    for u in range(len(graph.offsets) - 1):
        who = _mix(colours.annotator[u] + _mix(seed + np.uint64(7)))
        for r in range(graph.offsets[u], graph.offsets[u + 1]):
            won = _outcome(graph.choice[r], graph.weight[r], graph.side[r])
            lost = _outcome(_negative(graph.choice[r]), graph.weight[r], -graph.side[r])
            left, right = colours.item[graph.left[r]], colours.item[graph.right[r]]
            key[r] = _mix(who + _vote(left, right, won, lost))
    return key


def _few_row_keys(graph: _Graph, colours: Colours, seed: np.uint64) -> Hashes:
    """The same in NumPy."""
    with np.errstate(over="ignore"):
        who = _mix(colours.annotator + _mix(seed + np.uint64(7)))
        won = _outcome(graph.choice, graph.weight, graph.side)
        lost = _outcome(_negative(graph.choice), graph.weight, -graph.side)
        vote = _vote(colours.item[graph.left], colours.item[graph.right], won, lost)
        return np.asarray(_mix(np.repeat(who, np.diff(graph.offsets)) + vote))


@kernel()
def _groups_of_alike(
    graph: _Graph, alike: NDArray[np.bool_], alike_item: NDArray[np.bool_]
) -> Ints:
    """Which connected group each annotator and item who is like another belongs to; -1: none."""
    n = len(alike)
    group = np.full(n + len(alike_item), -1, dtype=np.int64)
    for v in range(n):
        if alike[v]:
            group[v] = v
    for i in range(len(alike_item)):
        if alike_item[i]:
            group[n + i] = n + i
    for u in range(n):
        for r in range(graph.offsets[u], graph.offsets[u + 1]):
            i, j = n + graph.left[r], n + graph.right[r]
            _join(group, u, i)
            _join(group, u, j)
            _join(group, i, j)
    for v in range(len(group)):
        if group[v] >= 0:
            group[v] = _head(group, v)
    return group


@inner_kernel()
def _join(group: Ints, a: int, b: int) -> None:
    if group[a] < 0 or group[b] < 0:
        return
    a, b = _head(group, a), _head(group, b)
    group[max(a, b)] = min(a, b)


@inner_kernel()
def _head(group: Ints, v: int) -> int:
    while group[v] != v:
        group[v] = group[group[v]]
        v = group[v]
    return v
