"""Borda: the share of its comparisons an item won."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from prefpath.baselines.base import Baseline, Fit
from prefpath.baselines.training import Training


@dataclass(frozen=True, kw_only=True)
class Borda(Baseline):
    """Score = (wins + ties / 2) / comparisons; 1/2 for an item nobody compared.

    It looks at neither features nor opponents: with unequal schedules it is biased, and that
    is what it is here to show.

    References
    ----------
    N. B. Shah and M. J. Wainwright (2018). Simple, robust and optimal ranking from pairwise
    comparisons. JMLR 18.

    Examples
    --------
    >>> from prefpath import Votes
    >>> votes = Votes.from_arrays(["u", "u", "v"], ["a", "a", "b"], ["b", "c", "c"], [1, 0, 1])
    >>> Borda().fit(votes).scores().tolist()
    [0.75, 0.5, 0.25]
    """

    name: ClassVar[str] = "Borda"
    uses_features: ClassVar[bool] = False

    def _fit_path(self, training: Training) -> Sequence[Fit]:
        counts, n = training.counts, training.n_items
        wins, losses = counts.half_tied
        won = np.bincount(counts.first, wins, n) + np.bincount(counts.second, losses, n)
        compared = training.item_weight
        share = np.divide(won, compared, out=np.full(n, 0.5), where=compared > 0)
        return [Fit(share)]
