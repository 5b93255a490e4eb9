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
    """Annotators for whom every item was always on the same side.

    Liking the items on the left and leaning to the left are then the same votes: only the
    penalty, not the data, tells a deviation from a position bias.
    """
    if isinstance(votes, RemoteVotes):
        return votes.known.one_order
    one_order = for_rows(votes.n_rows, _one_order, _few_in_one_order)
    sides = votes.left, votes.right, votes.position_known
    one: BoolArray = one_order(votes.offsets, *sides, votes.n_items)
    return one


def busy_in_one_order(votes: Votes) -> BoolArray:
    """The same, of those with votes enough to tell a lean from a taste had they seen both.

    Of someone with two votes it says nothing that every item was always on the same side.
    """
    busy: BoolArray = votes.annotator_count >= VOTES_TO_LEAN
    return saw_one_order(votes) & busy


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
    offsets: IntArray, left: CodeArray, right: CodeArray, known: BoolArray, n_items: int
) -> BoolArray:
    """The same in NumPy."""
    n_annotators = len(offsets) - 1
    owner = np.repeat(np.arange(n_annotators), np.diff(offsets))[known]
    on_both = np.intersect1d(owner * n_items + left[known], owner * n_items + right[known])
    result: BoolArray = np.bincount(owner, minlength=n_annotators) > 0
    result[on_both // max(n_items, 1)] = False
    return result


@kernel()
def _one_order(
    offsets: IntArray, left: CodeArray, right: CodeArray, known: BoolArray, n_items: int
) -> BoolArray:
    on_left = np.full(n_items, -1, dtype=np.int64)
    on_right = np.full(n_items, -1, dtype=np.int64)
    result = np.zeros(len(offsets) - 1, dtype=np.bool_)
    for u in range(len(offsets) - 1):
        one, ordered = True, False
        for r in range(offsets[u], offsets[u + 1]):
            if not known[r]:
                continue
            ordered = True
            on_left[left[r]] = u
            on_right[right[r]] = u
            if on_right[left[r]] == u or on_left[right[r]] == u:
                one = False
        result[u] = one and ordered
    return result
