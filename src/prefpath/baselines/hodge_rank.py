"""HodgeRank: least squares on the strengths of the preferences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from prefpath.baselines.base import Baseline, Fit, centred
from prefpath.baselines.linear_solves import least_squares
from prefpath.baselines.training import Training
from prefpath.hodge import hodge_rank


@dataclass(frozen=True, kw_only=True)
class HodgeRank(Baseline):
    """Minimise `sum(weight * (theta_i - theta_j - choice)**2)`, theta = features @ eta or free.

    A tie is a preference of strength 0; strengths other than 1 are used as they are.

    Parameters
    ----------
    ridge : float
        With features: makes the solution the smallest one where several are as good.

    References
    ----------
    X. Jiang, L.-H. Lim, Y. Yao and Y. Ye (2011). Statistical ranking and combinatorial Hodge
    theory. Mathematical Programming 127.

    Examples
    --------
    >>> from prefpath import Votes
    >>> votes = Votes.from_arrays(["u", "u"], ["a", "b"], ["b", "c"], [1, 1])
    >>> HodgeRank().fit(votes).scores().round(6).tolist()
    [1.0, 0.0, -1.0]
    """

    name: ClassVar[str] = "HodgeRank"

    ridge: float = 1e-9

    def _fit_path(self, training: Training) -> Sequence[Fit]:
        if training.features is None:
            return [Fit(hodge_rank(replace(training.votes, weight=training.weight)))]
        groups = training.groups
        design = training.differences(groups.first, groups.second)
        coef = least_squares(design, groups.choice, training.group_weight, self.ridge)
        return [Fit(centred(training.item_design @ coef, training.item_weight))]
