"""Ford's condition: which scores of a binary model the votes bound."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from prefpath.pairs.counts import PairCounts
from prefpath.votes.encode import BoolArray, CodeArray


def strong_components(counts: PairCounts) -> CodeArray:
    """Items that reach each other along wins, as one code for each item.

    A mean choice inside (-1, 1), a tie too, is a win of both.
    """
    first_won, second_won = counts.choice > -1.0, counts.choice < 1.0
    winner = np.concatenate((counts.first[first_won], counts.second[second_won]))
    loser = np.concatenate((counts.second[first_won], counts.first[second_won]))
    shape = (counts.n_items, counts.n_items)
    beaten = sparse.coo_array((np.ones(len(winner), dtype=np.int8), (winner, loser)), shape=shape)
    _, group = csgraph.connected_components(beaten.tocsr(), directed=True, connection="strong")
    return np.asarray(group, dtype=np.int32)


def bounded_items(
    counts: PairCounts, component: CodeArray, *, group: CodeArray | None = None
) -> BoolArray:
    """Items whose best score is finite beside the other such items.

    In a binary model the best scores are finite exactly where everybody can be reached from
    everybody along wins (Ford 1957). In each connected component the largest such group is
    bounded; an item outside it has only won, or only lost, against the group, and its score
    has no limit. A group of one item is never bounded.

    Parameters
    ----------
    component : array of int (n_items,)
    group : array of int (n_items,), optional
        Which items bound each other; `strong_components` unless given.

    Examples
    --------
    >>> from prefpath.pairs.counts import pool_pairs
    >>> left, right = np.array([0, 1, 0]), np.array([1, 0, 2])
    >>> counts = pool_pairs(left, right, np.array([1.0, 1.0, -1.0]), n_items=3)
    >>> bounded_items(counts, np.zeros(3, dtype=np.int32))  # item 2 never lost
    array([ True,  True, False])
    """
    if group is None:
        # Where every pair went both ways, whoever is connected is so along wins.
        mixed = bool((np.abs(counts.choice) < 1.0).all())
        group = component if mixed else strong_components(counts)
    size = np.bincount(group)
    votes_of_group = np.bincount(group, counts.item_weight)
    component_of_group = np.empty(len(size), dtype=np.int64)
    component_of_group[group] = component
    order = np.lexsort((np.arange(len(size)), votes_of_group, size, component_of_group))
    last = np.flatnonzero(np.diff(component_of_group[order], append=-1))
    chosen = np.zeros(len(size), dtype=bool)
    chosen[order[last]] = True
    bounded: BoolArray = (chosen & (size > 1))[group]
    return bounded
