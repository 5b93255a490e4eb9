"""Rank centrality: the stationary distribution of a walk from losers to winners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components

from prefpath.baselines.base import Baseline, Fit, Grid, as_grid, centred
from prefpath.baselines.training import Training
from prefpath.errors import VoteError
from prefpath.votes.encode import FloatArray


@dataclass(frozen=True, kw_only=True)
class RankCentrality(Baseline):
    """Walk from i to j at the rate at which j beats i; score = log of the time spent at an item.

    The rate is `(wins of j + smoothing) / (votes on the pair + 2 * smoothing)`; a tie is half a
    win. Groups of items nobody compared with each other are scored apart, each with mean 0.
    Features are not used; an item nobody compared has score 0.

    Parameters
    ----------
    smoothing : float or tuple of float
        Wins added to both sides of every pair that was compared. 0 is the original method,
        which needs a way to win from every item to every other one.

    References
    ----------
    S. Negahban, S. Oh and D. Shah (2017). Rank centrality: ranking from pairwise comparisons.
    Operations Research 65.
    """

    name: ClassVar[str] = "rank centrality"
    probabilistic: ClassVar[bool] = True
    uses_features: ClassVar[bool] = False

    smoothing: Grid = (16.0, 8.0, 4.0, 2.0, 1.0, 0.5)

    def _fit_path(self, training: Training) -> Sequence[Fit]:
        return [
            Fit(log_stationary(training, value), {"smoothing": value})
            for value in as_grid(self.smoothing)
        ]


def log_stationary(training: Training, smoothing: float) -> FloatArray:
    """Log of the stationary distribution, centred within every connected group of items."""
    rates = _rates(training, smoothing)
    n_groups, group = connected_components(
        rates, directed=True, connection="strong" if smoothing == 0 else "weak"
    )
    if smoothing == 0:
        _check_irreducible(training, group)
    scores = np.zeros(training.n_items)
    for members in _members(group, n_groups):
        if len(members) > 1:
            scores[members] = _log_stationary_of(rates[members][:, members].toarray())
    return centred(scores, training.item_weight) if n_groups == 1 else scores


def _rates(training: Training, smoothing: float) -> sparse.csr_array:
    counts, n = training.counts, training.n_items
    seen = counts.total > 0
    first, second = counts.first[seen], counts.second[seen]
    wins, losses = (part[seen] + smoothing for part in counts.half_tied)
    both = wins + losses
    values = np.concatenate([wins / both, losses / both])
    index = (np.concatenate([second, first]), np.concatenate([first, second]))
    rates = sparse.csr_array((values, index), shape=(n, n))
    rates.eliminate_zeros()
    return rates


def _members(group: np.ndarray, n_groups: int) -> list[np.ndarray]:
    order = np.argsort(group, kind="stable")
    return np.split(order, np.searchsorted(group[order], np.arange(1, n_groups)))


def _log_stationary_of(rates: FloatArray) -> FloatArray:
    """Solve `pi @ generator = 0, sum(pi) = n` by replacing one (redundant) equation."""
    n = len(rates)
    generator = rates - np.diag(rates.sum(axis=1))
    system = generator.T.copy()
    system[-1] = 1.0
    right_hand_side = np.zeros(n)
    right_hand_side[-1] = n
    log_time = np.log(linalg.solve(system, right_hand_side))
    return np.asarray(log_time - log_time.mean(), dtype=float)


def _check_irreducible(training: Training, group: np.ndarray) -> None:
    compared = training.item_weight > 0
    if len(np.unique(group[compared])) > 1:
        raise VoteError(
            "without smoothing, rank centrality has no scores here: some items never lost to, "
            "or were never compared with, the others",
            expected="a chain of wins from every item to every other one",
            remedy="use smoothing > 0",
        )
