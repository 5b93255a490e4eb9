"""Which scores the votes bound: who never won or never lost has no finite score."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components as graph_components

from prefpath.model.losses import Loss
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray, CodeArray


def bounded_items(votes: Votes, component: CodeArray, loss: Loss) -> BoolArray:
    """Items whose score has a finite best value beside the other bounded items.

    With a binary loss the best scores are finite exactly where everybody can be reached from
    everybody along wins (Ford 1957; a tie is a win of both). In each connected group of items
    the largest such set is bounded; an item outside it has only won, or only lost, against
    the set, and its score has no limit. With any other loss it is enough to be compared.

    Examples
    --------
    >>> from prefpath.model.losses import BradleyTerry
    >>> votes = Votes.from_arrays(["u"] * 3, list("aba"), list("bac"), [1, 1, -1])
    >>> bounded_items(votes, np.zeros(3, dtype=np.int32), BradleyTerry())  # c never lost
    array([ True,  True, False])
    """
    group = _reachable_groups(votes) if loss.binary else component
    size = np.bincount(group)
    shown = np.bincount(votes.left, votes.weight, votes.n_items)
    shown += np.bincount(votes.right, votes.weight, votes.n_items)
    bounded = np.zeros(votes.n_items, dtype=bool)
    for c in range(int(component.max()) + 1):
        members = np.flatnonzero(component == c)
        groups = np.unique(group[members])
        activity = np.bincount(group[members], shown[members], len(size))[groups]
        best = groups[np.lexsort((activity, size[groups]))[-1]]
        if size[best] > 1:
            bounded[group == best] = True
    return bounded


def _reachable_groups(votes: Votes) -> CodeArray:
    """Strongly connected components of "has beaten", as one code for each item."""
    counted = votes.weight > 0
    left_won = counted & (votes.choice > -1.0)  # a choice inside (-1, 1) is a share of both
    right_won = counted & (votes.choice < 1.0)
    winner = np.concatenate((votes.left[left_won], votes.right[right_won]))
    loser = np.concatenate((votes.right[left_won], votes.left[right_won]))
    shape = (votes.n_items, votes.n_items)
    beaten = sparse.coo_matrix((np.ones(len(winner), dtype=np.int8), (winner, loser)), shape=shape)
    _, group = graph_components(beaten.tocsr(), directed=True, connection="strong")
    return np.asarray(group, dtype=np.int32)
