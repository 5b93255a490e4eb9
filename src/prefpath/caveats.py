"""What votes cannot tell, said once when a model is fitted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from prefpath.model.design import Codes
from prefpath.votes import Votes
from prefpath.votes.graph import saw_one_order

_VOTES_TO_MENTION = 10


def caveats(
    votes: Votes, component: Codes, *, has_features: bool, position_bias: bool
) -> Iterator[str]:
    """Sentences about what cannot be known, none where everything can."""
    n_components = int(component.max()) + 1
    if n_components > 1 and not has_features:
        yield (
            f"the items fall into {n_components} groups that were never compared with each "
            "other: ranks hold within a group only (column component of the ranking)"
        )
    if votes.n_annotators == 1:
        yield "there is one annotator: nobody to differ from; read the common ranking only"
    if position_bias and not votes.position_known.any():
        yield "left and right are unknown in these votes: no position bias is estimated"
    elif position_bias:
        yield from _one_order_only(votes)


def _one_order_only(votes: Votes) -> Iterator[str]:
    busy = votes.annotator_weight >= _VOTES_TO_MENTION
    one = np.flatnonzero(saw_one_order(votes) & busy)
    if len(one):
        names = ", ".join(str(votes.annotators[u]) for u in one[:3])
        yield (
            f"{len(one)} annotators ({names}{', ...' if len(one) > 3 else ''}) saw every "
            "item on one side only: the votes alone cannot tell their position bias "
            "from their taste"
        )
