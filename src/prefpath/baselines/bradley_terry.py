"""Bradley-Terry by maximum likelihood, on wins per pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from prefpath.baselines.base import Baseline, Fit, centred
from prefpath.baselines.linear_solves import logistic_regression
from prefpath.baselines.training import Training
from prefpath.pairs import fit_bradley_terry


@dataclass(frozen=True, kw_only=True)
class BradleyTerry(Baseline):
    """P(i over j) = sigmoid(theta_i - theta_j), theta = features @ eta or free; Newton's method.

    A tie is half a win and half a loss.

    Parameters
    ----------
    ridge : float
        Added as `ridge / 2 * ||eta||**2` to the log-likelihood summed over votes. The default
        moves nothing one could see, but an item that never lost gets a finite score, and
        groups of items nobody compared with each other share one centre.

    References
    ----------
    R. A. Bradley and M. E. Terry (1952). Rank analysis of incomplete block designs I.
    Biometrika 39.

    Examples
    --------
    >>> from prefpath import Votes
    >>> votes = Votes.from_arrays(["u"] * 4, ["a"] * 4, ["b"] * 4, [1, 1, 1, -1])
    >>> BradleyTerry().fit(votes).predict_proba(votes).round(3).tolist()  # one row, three wins
    [0.75, 0.75]
    """

    name: ClassVar[str] = "Bradley-Terry"
    probabilistic: ClassVar[bool] = True

    ridge: float = 1e-6

    def _fit_path(self, training: Training) -> Sequence[Fit]:
        counts = training.counts
        if training.features is None:
            scores = fit_bradley_terry(counts.pooled, ridge=self.ridge).scores
            return [Fit(centred(scores, training.item_weight))]
        design = training.differences(counts.first, counts.second)
        coef = logistic_regression(design, *counts.half_tied, ridge=self.ridge)
        scores = training.item_design @ coef
        return [Fit(centred(scores, training.item_weight))]
