"""How many votes a row of merged votes stands for."""

from __future__ import annotations

import numpy as np

from prefpath.votes.encode import FloatArray
from prefpath.votes.votes import Votes

_AT_ONCE = 1 << 16  # numbers that stay in the cache from one step to the next


def trials_of_rows(votes: Votes) -> FloatArray:
    """Votes behind each row: its weight if all weights are whole, else how often it was given.

    One vote of weight 2 is two votes, so that splitting it into two rows changes nothing.
    """
    if has_whole_weights(votes.weight):
        return np.rint(votes.weight)
    return votes.count.astype(np.float64)


def has_whole_weights(weight: FloatArray) -> bool:
    """Whether weights are numbers of votes."""
    parts = (weight[k : k + _AT_ONCE] for k in range(0, len(weight), _AT_ONCE))
    return all(np.abs(part - np.rint(part)).max() <= 1e-9 for part in parts)
