"""`Simulation`: votes, and the truth they were drawn from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from prefpath.votes import Votes
from prefpath.votes.encode import FloatArray, Labels


@dataclass(frozen=True, eq=False)
class Simulation:
    """Votes, and the truth they were drawn from.

    Attributes
    ----------
    votes : Votes
    common : array of p
        True common coefficients (eta): scores of the items, or of the features.
    deviation : sparse array, n_annotators x p
        True deviations (xi); the row of an annotator who follows the crowd is empty.
    position_bias : array of n_annotators
        True position bias (gamma); positive leans left.
    features : array, n_items x p, or None
        None: the items themselves have scores, p = n_items.
    attention : array of n_annotators, or None
        What differences of the common scores are multiplied by: 1 for most, 0 for who answers at
        random, -1 contrarily.

    Examples
    --------
    >>> from prefpath import simulate_crowd
    >>> crowd = simulate_crowd(400, 20, 4, deviants=2, clickers=1, seed=0)
    >>> len(crowd.deviants), len(crowd.clickers), crowd.scores.shape
    (2, 1, (4,))
    """

    votes: Votes
    common: FloatArray
    deviation: sparse.csr_array
    position_bias: FloatArray
    features: FloatArray | None
    attention: FloatArray | None = None

    @property
    def scores(self) -> FloatArray:
        """True common score (theta) of each item."""
        if self.features is None:
            return self.common
        scores: FloatArray = self.features @ self.common
        return scores

    @property
    def deviants(self) -> Labels:
        """Labels of the annotators with a taste of their own."""
        return self.votes.annotators[np.flatnonzero(np.diff(self.deviation.indptr))]

    @property
    def clickers(self) -> Labels:
        """Labels of the annotators with a position bias."""
        return self.votes.annotators[np.flatnonzero(self.position_bias)]
