"""The comparison graph: what is on one scale, and who saw only one order."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from prefpath.compiling import kernel
from prefpath.machine import for_rows
from prefpath.votes.encode import BoolArray, CodeArray, IntArray
from prefpath.votes.remote import RemoteVotes
from prefpath.votes.votes import Votes

VOTES_TO_LEAN = 10
"""Votes of an annotator from which it is worth saying that they saw one order only."""
_BEYOND_CHANCE = 8  # votes whose order followed: by random sides once in 256 times


def connected_components(votes: Votes) -> CodeArray:
    """Component of each item: scores are comparable only within one. 0 is the largest."""
    return components_of_pairs(votes.left, votes.right, votes.n_items)


def components_of_pairs(left: CodeArray, right: CodeArray, n_items: int) -> CodeArray:
    """The same from the pairs that were compared, each at least once."""
    graph = sparse.coo_matrix((np.ones(len(left)), (left, right)), shape=(n_items, n_items))
    _, component = csgraph.connected_components(graph, directed=False)
    sizes = np.bincount(component)
    rank = np.empty(len(sizes), dtype=np.int32)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes), dtype=np.int32)
    return rank[component]


def saw_one_order(votes: Votes) -> BoolArray:
    """Annotators for whom every item was always on the same side, beyond chance.

    Liking the items on the left and leaning to the left are then the same votes: only the
    penalty, not the data, tells a deviation from a position bias. Where sides were random, few
    votes on many items do the same by chance, and a lean is a lean: of `n` votes on items in `c`
    connected parts, each part may have either order, and the others follow from it. There are at
    most as many parts as items on the side that has fewer.
    """
    if isinstance(votes, RemoteVotes):
        return votes.known.one_order
    one_order = for_rows(votes.n_rows, _one_order, _few_in_one_order)
    sides = votes.left, votes.right, votes.position_known, votes.count
    one: BoolArray = one_order(votes.offsets, *sides, votes.n_items)
    return one


def nobody_shares_an_item(votes: Votes) -> bool:
    """Whether no item was judged by two annotators: nobody can then be compared with others."""
    if isinstance(votes, RemoteVotes):
        return bool(votes.voices.max(initial=0) <= 1)
    voting = int(np.count_nonzero(votes.annotator_count))
    if 2 * voting > votes.n_items:  # each would need two items of their own
        return False
    owner = np.zeros(votes.n_items, dtype=votes.annotator.dtype)
    for items in (votes.left, votes.right):
        owner[items] = votes.annotator
    return all(np.array_equal(owner[items], votes.annotator) for items in (votes.left, votes.right))


def _few_in_one_order(
    offsets: IntArray,
    left: CodeArray,
    right: CodeArray,
    known: BoolArray,
    count: IntArray,
    n_items: int,
) -> BoolArray:
    """The same in NumPy."""
    n_annotators = len(offsets) - 1
    owner = np.repeat(np.arange(n_annotators), np.diff(offsets))[known]
    on_left, on_right = (np.unique(owner * n_items + items[known]) for items in (left, right))
    seen = (
        np.bincount(at // max(n_items, 1), minlength=n_annotators) for at in (on_left, on_right)
    )
    n = np.bincount(owner, count[known], n_annotators)
    followed = n - np.minimum(*seen)
    result: BoolArray = (n >= VOTES_TO_LEAN) & (followed >= _BEYOND_CHANCE)
    on_both = np.intersect1d(on_left, on_right, assume_unique=True)
    result[on_both // max(n_items, 1)] = False
    return result


@kernel()
def _one_order(
    offsets: IntArray,
    left: CodeArray,
    right: CodeArray,
    known: BoolArray,
    count: IntArray,
    n_items: int,
) -> BoolArray:
    on_left = np.full(n_items, -1, dtype=np.int64)
    on_right = np.full(n_items, -1, dtype=np.int64)
    result = np.zeros(len(offsets) - 1, dtype=np.bool_)
    for u in range(len(offsets) - 1):
        one, n, n_left, n_right = True, 0, 0, 0
        for r in range(offsets[u], offsets[u + 1]):
            if not known[r]:
                continue
            n += count[r]
            n_left += on_left[left[r]] != u
            n_right += on_right[right[r]] != u
            on_left[left[r]] = u
            on_right[right[r]] = u
            if on_right[left[r]] == u or on_left[right[r]] == u:
                one = False
        followed = n - min(n_left, n_right)
        result[u] = one and n >= VOTES_TO_LEAN and followed >= _BEYOND_CHANCE
    return result
