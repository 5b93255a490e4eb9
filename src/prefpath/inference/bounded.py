"""Which scores the votes bound: who never won or never lost has no finite score."""

from __future__ import annotations

from prefpath.model.losses import Loss
from prefpath.pairs import ford, pool_votes
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray, CodeArray
from prefpath.votes.graph import connected_components


def bounded_items(votes: Votes, component: CodeArray, loss: Loss) -> BoolArray:
    """Items whose score has a finite best value beside the other bounded items.

    With a binary loss the best scores are finite exactly where everybody can be reached from
    everybody along wins (Ford 1957; a tie is a win of both). In each connected group of items
    the largest such set is bounded; an item outside it has only won, or only lost, against
    the set, and its score has no limit. With any other loss it is enough to be compared.

    Examples
    --------
    >>> import numpy as np
    >>> from prefpath.model.losses import BradleyTerry
    >>> votes = Votes.from_arrays(["u"] * 3, list("aba"), list("bac"), [1, 1, -1])
    >>> bounded_items(votes, np.zeros(3, dtype=np.int32), BradleyTerry())  # c never lost
    array([ True,  True, False])
    """
    counts = pool_votes(votes)
    # Some votes may be left out, and then a group of items fall apart.
    group = None if loss.binary else connected_components(votes)
    return ford.bounded_items(counts, component, group=group)
