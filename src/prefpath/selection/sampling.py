"""Which annotators a fold follows where votes are very many: a sample that stands for all.

Where to stop is known long before everybody has been asked. Each annotator is followed with a
chance that grows with the root of their votes, up to 1 (Neyman's allocation: what one adds to the
error's variance grows with the square of the votes, what one costs with the votes), and to the
common part is one over that chance of annotators (Horvitz and Thompson). Who is followed keeps all
votes, so that they pop up, and are predicted, as they would be among everybody.

References
----------
Neyman: On the two different aspects of the representative method (1934).
Horvitz, Thompson: A generalization of sampling without replacement from a finite universe (1952).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prefpath.model.design import Floats
from prefpath.selection.refinement import Hashes

# Rows up to which everybody is followed.
_FEW_ROWS = 1_250_000
# What a sample has at least: annotators, and votes in all and for each item.
_LEAST_ANNOTATORS, _LEAST_VOTES, _VOTES_AN_ITEM = 4_000, 1_000_000, 1_000
# A sample that has more of the votes than this is not worth the noise.
_MOST_OF_VOTES = 0.8
_HALVINGS = 60


class Sampling(NamedTuple):
    """A share of the annotators for each of `n_folds` folds: who cast `certain` votes is in all."""

    certain: float
    n_folds: int

    def chance(self, activity: Floats) -> Floats:
        """With which chance annotators of this many votes are followed."""
        return np.minimum(1.0, np.sqrt(activity / self.certain))

    def stands_for(self, activity: Floats, key: Hashes, fold: int) -> Floats:
        """How many annotators each of them is in a fold, 0 for who is not followed.

        Drawn systematically in the order of random keys; two folds share as few as they can.
        Together they cast as many votes as all do.
        """
        chance, order = self.chance(activity), np.argsort(key, kind="stable")
        passed = np.floor(np.cumsum(chance[order]) + (fold + 0.5) / self.n_folds)
        followed = np.zeros(len(activity), dtype=bool)
        followed[order] = np.diff(passed, prepend=np.floor((fold + 0.5) / self.n_folds)) > 0.0
        always = chance >= 1.0
        drawn = followed & ~always
        result = np.where(drawn, 1.0 / np.where(drawn, chance, 1.0), 0.0)
        counted = float(np.sum(result * activity))
        if counted > 0.0:
            result *= float(activity[~always].sum()) / counted
        return np.where(always & (activity > 0.0), 1.0, result)


def plan_sampling(activity: Floats, n_rows: int, n_items: int, n_folds: int) -> Sampling | None:
    """The smallest sample of annotators that tells where to stop; None where all are followed."""
    if n_rows <= _FEW_ROWS:
        return None
    votes = max(_LEAST_VOTES, _VOTES_AN_ITEM * n_items)
    low, high = float(activity[activity > 0.0].min()), float(activity.sum())
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(low * high))
        chance = Sampling(middle, n_folds).chance(activity)
        enough = chance.sum() >= _LEAST_ANNOTATORS and (chance * activity).sum() >= votes
        low, high = (middle, high) if enough else (low, middle)
    found = Sampling(low, n_folds)
    followed = float((found.chance(activity) * activity).sum())
    return found if followed <= _MOST_OF_VOTES * activity.sum() else None
