"""How many votes a row of merged votes stands for."""

from __future__ import annotations

import numpy as np

from prefpath.votes.encode import FloatArray
from prefpath.votes.votes import Votes


def trials_of_rows(votes: Votes) -> FloatArray:
    """Votes behind each row: its weight if all weights are whole, else how often it was given.

    One vote of weight 2 is two votes, so that splitting it into two rows changes nothing.
    """
    if has_whole_weights(votes.weight):
        return np.rint(votes.weight)
    return votes.count.astype(np.float64)


def has_whole_weights(weight: FloatArray) -> bool:
    """Whether weights are numbers of votes."""
    return bool(np.abs(weight - np.rint(weight)).max(initial=0.0) <= 1e-9)
