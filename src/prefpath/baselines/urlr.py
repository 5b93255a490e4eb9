"""URLR: robust regression in which every vote may be an outlier; the first ones are pruned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from prefpath.baselines.base import Baseline, Fit, Grid, as_grid, centred
from prefpath.baselines.linear_solves import least_squares
from prefpath.baselines.training import Design, Training
from prefpath.pairs.systems import gram, solve_ridged
from prefpath.votes.encode import FloatArray

_RIDGE = 1e-6
_ENOUGH = 1e-10  # relative decrease of the objective at which Huber regression stops


@dataclass(frozen=True, kw_only=True)
class URLR(Baseline):
    """Unified robust learning to rank: `choice = theta_i - theta_j + outlier + noise`.

    Minimise `sum(weight * ((theta_i - theta_j + outlier - choice)**2 / 2 + penalty * |outlier|))`
    along decreasing penalties, prune the share of votes whose outliers enter first, and fit
    least squares to the others. For given theta the outlier of a vote is its residual,
    soft-thresholded at the penalty: the objective in theta is Huber's, and equal votes on a pair
    have equal outliers, so the path is computed on pairs, whatever the number of votes. Where
    the share falls among equal votes, only so many of them go. A tie has strength 0.

    Parameters
    ----------
    share : float or tuple of float
        Share of the votes (by weight) to prune; 0 is HodgeRank.
    n_penalties : int
        Points of the path, from the largest residual down to a tenth of it.

    References
    ----------
    Y. Fu, T. M. Hospedales, T. Xiang, J. Xiong, S. Gong, Y. Wang and Y. Yao (2016). Robust
    subjective visual property prediction from crowdsourced pairwise labels. IEEE TPAMI 38.
    """

    name: ClassVar[str] = "URLR"

    share: Grid = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)
    n_penalties: int = 20

    def _fit_path(self, training: Training) -> Sequence[Fit]:
        groups, weight = training.groups, training.group_weight
        design = training.differences(groups.first, groups.second)
        shares = as_grid(self.share)
        order = outlier_order(
            design, groups.choice, weight, n_penalties=self.n_penalties, share=max(shares)
        )
        path = []
        for share in shares:
            kept = prune(weight, order, share)
            coef = least_squares(design, groups.choice, kept, _RIDGE)
            scores = centred(training.item_design @ coef, training.item_weight)
            path.append(Fit(scores, {"share": share}))
        return path


def outlier_order(
    design: Design, target: FloatArray, weight: FloatArray, *, n_penalties: int, share: float
) -> np.ndarray:
    """Positions of the rows, the first to become an outlier first.

    The path ends where the outliers weigh more than `share`: the order of the others is that
    of their residuals there.
    """
    coef = least_squares(design, target, weight, _RIDGE)
    residual = np.abs(target - design @ coef)
    largest = float(residual[weight > 0].max())
    entry = np.zeros(len(target))
    size = residual
    for penalty in largest * np.geomspace(0.999, 0.1, n_penalties):
        coef = huber_regression(design, target, weight, penalty, start=coef)
        residual = np.abs(target - design @ coef)
        new = (entry == 0) & (residual > penalty)
        entry[new] = penalty
        size = np.where(new | (entry == 0), residual, size)
        if weight[entry > 0].sum() > share * weight.sum():
            break
    return np.lexsort((-size, -entry))


def huber_regression(
    design: Design,
    target: FloatArray,
    weight: FloatArray,
    penalty: float,
    *,
    start: FloatArray,
    max_iterations: int = 100,
) -> FloatArray:
    """Minimise the sum of `weight * huber(target - design @ coef)`; Newton with step halving."""
    coef = start
    loss = _huber_loss(coef, design, target, weight, penalty)
    for _ in range(max_iterations):
        residual = target - design @ coef
        pull = weight * np.clip(residual, -penalty, penalty)
        gradient = _RIDGE * coef - design.T @ pull
        inlier = weight * (np.abs(residual) <= penalty)
        step = solve_ridged(gram(design, inlier), gradient, _RIDGE)
        scale, slope = 1.0, float(gradient @ step)
        while True:
            candidate = coef - scale * step
            next_loss = _huber_loss(candidate, design, target, weight, penalty)
            if next_loss <= loss - 1e-4 * scale * slope or scale < 1e-8:
                break
            scale /= 2.0
        if loss - next_loss <= _ENOUGH * loss:
            return candidate if next_loss < loss else coef
        coef, loss = candidate, next_loss
    return coef


def _huber_loss(
    coef: FloatArray, design: Design, target: FloatArray, weight: FloatArray, penalty: float
) -> float:
    size = np.abs(target - design @ coef)
    value = np.where(size <= penalty, size**2 / 2, penalty * (size - penalty / 2))
    return float(weight @ value + _RIDGE / 2 * coef @ coef)


def prune(weight: FloatArray, order: np.ndarray, share: float) -> FloatArray:
    """Weights after the first rows in `order` lost `share` of the total, the last one in part."""
    ordered = weight[order]
    before = np.cumsum(ordered) - ordered
    lost = np.clip(share * weight.sum() - before, 0.0, ordered)
    kept = weight.copy()
    kept[order] -= lost
    return kept
