"""RankBoost: a weighted sum of threshold rankers, chosen one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from prefpath.baselines.base import Baseline, Fit, Grid, as_grid, centred
from prefpath.baselines.training import Training
from prefpath.votes.encode import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class RankBoost(Baseline):
    """Boosting on ordered pairs with rankers `h(x) = 1 if x[feature] > threshold else 0`.

    Every round takes the ranker with the largest |r|, r the weighted difference of h between
    winners and losers, and the step that minimises the exponential loss along it. r is a sum
    over items (their "potential"), so a round costs O(pairs + items * features). Without
    features the rankers are the items themselves. Ties are left out: the method orders pairs.

    Parameters
    ----------
    rounds : int or tuple of int
        When to stop. All of them are snapshots of one run.
    n_thresholds : int
        At most so many thresholds a feature, at quantiles of its distinct values.

    References
    ----------
    Y. Freund, R. Iyer, R. E. Schapire and Y. Singer (2003). An efficient boosting algorithm
    for combining preferences. JMLR 4.
    """

    name: ClassVar[str] = "RankBoost"

    rounds: Grid = (5, 10, 20, 50, 100, 200, 500, 1000, 2000)
    n_thresholds: int = 32

    def _fit_path(self, training: Training) -> Sequence[Fit]:
        rankers = threshold_rankers(training, self.n_thresholds)
        winner, loser, weight = ordered_pairs(training)
        stops = as_grid(self.rounds)
        runs = boost(rankers, winner, loser, weight, stops=stops, n_items=training.n_items)
        return [
            Fit(centred(scores, training.item_weight), {"rounds": stop})
            for scores, stop in zip(runs, stops, strict=True)
        ]


def ordered_pairs(training: Training) -> tuple[IntArray, IntArray, FloatArray]:
    """Winner, loser and weight of every ordered pair with votes."""
    counts = training.counts
    winner = np.concatenate([counts.first, counts.second])
    loser = np.concatenate([counts.second, counts.first])
    weight = np.concatenate([counts.wins, counts.losses])
    voted = weight > 0
    return winner[voted], loser[voted], weight[voted]


def threshold_rankers(training: Training, n_thresholds: int) -> BoolArray | None:
    """Rows are rankers, columns items; None stands for the identity (items without features)."""
    if training.features is None:
        return None
    rankers = [
        column > threshold
        for column in training.features.T
        for threshold in _thresholds(column[training.item_weight > 0], n_thresholds)
    ]
    return np.unique(np.array(rankers).reshape(-1, training.n_items), axis=0)


def _thresholds(column: FloatArray, n_thresholds: int) -> FloatArray:
    distinct = np.unique(column)
    middle: FloatArray = (distinct[1:] + distinct[:-1]) / 2
    if len(middle) <= n_thresholds:
        return middle
    chosen = np.linspace(0, len(middle) - 1, n_thresholds).astype(np.int64)
    return np.asarray(middle[chosen], dtype=np.float64)


def boost(
    rankers: BoolArray | None,
    winner: IntArray,
    loser: IntArray,
    weight: FloatArray,
    *,
    stops: Sequence[float],
    n_items: int,
) -> Iterator[FloatArray]:
    """Scores after each of the rounds in `stops` (ascending)."""
    scores = np.zeros(n_items)
    n_done, exhausted = 0, len(weight) == 0
    share = weight / weight.sum() if len(weight) else weight
    smoothing = 0.5 / max(float(weight.sum()), 1.0)  # a ranker that never errs takes a finite step
    for stop in stops:
        while n_done < stop and not exhausted:
            n_done += 1
            ranker = _best_ranker(rankers, winner, loser, share, n_items)
            exhausted = ranker is None
            if ranker is not None:
                difference = ranker[winner].astype(np.int8) - ranker[loser]
                right, wrong = share[difference > 0].sum(), share[difference < 0].sum()
                step = 0.5 * np.log((right + smoothing) / (wrong + smoothing))
                scores = scores + step * ranker
                share = share * np.exp(-step * np.array([-1.0, 0.0, 1.0]))[difference + 1]
                share = share / share.sum()
        yield scores


def _best_ranker(
    rankers: BoolArray | None, winner: IntArray, loser: IntArray, share: FloatArray, n_items: int
) -> IntArray | None:
    """The ranker with the largest |r| as 0 and 1 for each item; None if every r is 0."""
    potential = np.bincount(winner, share, n_items) - np.bincount(loser, share, n_items)
    agreement = potential if rankers is None else rankers @ potential
    best = int(np.argmax(np.abs(agreement))) if len(agreement) else -1
    if best < 0 or abs(agreement[best]) < 1e-12:
        return None
    chosen = np.arange(n_items) == best if rankers is None else rankers[best]
    return np.asarray(chosen, dtype=np.int64)
