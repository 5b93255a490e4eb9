"""How many votes a row of merged votes stands for."""

from __future__ import annotations

import numpy as np

from prefpath.votes.encode import FloatArray
from prefpath.votes.votes import Votes


def trials_of_rows(votes: Votes) -> FloatArray:
    """Votes behind each row: its weight if all weights are whole, else how often it was given.

    One vote of weight 2 is two votes, so that splitting it into two rows changes nothing.
    """
    whole = np.rint(votes.weight)
    if np.allclose(votes.weight, whole, rtol=0.0, atol=1e-9):
        return whole
    return votes.count.astype(np.float64)
