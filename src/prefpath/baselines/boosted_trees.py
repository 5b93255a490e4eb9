"""GBDT and DART: LightGBM's trees score items; pairs are compared by a logistic link."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import expit

from prefpath.baselines.base import Baseline, Fit, Grid, as_grid, centred
from prefpath.baselines.training import Outcomes, Training
from prefpath.errors import MissingExtra
from prefpath.votes.encode import FloatArray, IntArray

Objective = Callable[[FloatArray, Any], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, kw_only=True)
class GBDT(Baseline):
    """P(i over j) = sigmoid(f(x_i) - f(x_j)), f a sum of regression trees fitted by LightGBM.

    The rows LightGBM sees are the items, and the gradient of the pairwise logistic loss is
    handed to it: f is then a score, which a classifier of feature differences is not (its
    answers on (i, j) and (j, i) need not agree, nor be transitive), and a round costs
    O(pairs + items), not O(votes). A tie is half a win and half a loss.

    Parameters
    ----------
    n_leaves : int or tuple of int
        Size of the trees; every value is one run.
    rounds : int or tuple of int
        When to stop: snapshots of each run.
    learning_rate : float
    n_threads : int
        The data sets are the items: one thread is fastest for all but thousands of them.

    References
    ----------
    J. H. Friedman (2001). Greedy function approximation: a gradient boosting machine.
    G. Ke et al. (2017). LightGBM. NeurIPS.
    """

    name: ClassVar[str] = "GBDT"
    probabilistic: ClassVar[bool] = True
    _boosting: ClassVar[dict[str, Any]] = {"boosting": "gbdt"}

    n_leaves: Grid = (2, 8, 32)
    rounds: Grid = (5, 10, 20, 50, 100, 200)
    learning_rate: float = 0.2
    n_threads: int = 1

    def _fit_path(self, training: Training) -> Sequence[Fit]:
        stops = as_grid(self.rounds)
        return [
            Fit(centred(scores, training.item_weight), {"n_leaves": leaves, "rounds": stop})
            for leaves in as_grid(self.n_leaves)
            for scores, stop in zip(self._grow(training, leaves, stops), stops, strict=True)
        ]

    def _grow(
        self, training: Training, n_leaves: float, stops: Sequence[float]
    ) -> Iterator[FloatArray]:
        lightgbm = _lightgbm()
        inputs = training.item_design
        if sparse.issparse(inputs):  # LightGBM knows the older class only
            inputs = sparse.csr_matrix(inputs)
        seen = np.flatnonzero(training.item_weight > 0)
        objective = pairwise_logistic(training.counts, seen)
        settings = self._settings(int(n_leaves))
        data = lightgbm.Dataset(inputs[seen], np.zeros(len(seen)), params=settings)
        booster = lightgbm.Booster(settings, data)
        n_done = 0
        for stop in stops:
            while n_done < stop:
                n_done += 1
                booster.update(fobj=objective)
            predicted = booster.predict(inputs, raw_score=True, num_threads=self.n_threads)
            yield np.asarray(predicted, dtype=float)

    def _settings(self, n_leaves: int) -> dict[str, Any]:
        return {
            "objective": "none",
            "num_leaves": n_leaves,
            "learning_rate": self.learning_rate,
            # One item stands for all of its votes, so it may be a leaf of its own.
            "min_data_in_leaf": 1,
            "min_data_in_bin": 1,
            "min_sum_hessian_in_leaf": 1e-3,
            "lambda_l2": 1.0,
            "num_threads": self.n_threads,
            "seed": self.random_state,
            "deterministic": True,
            "force_row_wise": True,
            "feature_pre_filter": False,
            "verbosity": -1,
            **self._boosting,
        }


@dataclass(frozen=True, kw_only=True)
class DART(GBDT):
    """`GBDT` where each round drops a random tenth of the trees before it adds the next.

    References
    ----------
    K. V. Rashmi and R. Gilad-Bachrach (2015). DART: dropouts meet multiple additive
    regression trees. AISTATS.
    """

    name: ClassVar[str] = "DART"
    _boosting: ClassVar[dict[str, Any]] = {"boosting": "dart", "drop_rate": 0.1, "skip_drop": 0.5}

    learning_rate: float = 0.5  # what is added is scaled down again with the trees dropped


def pairwise_logistic(counts: Outcomes, seen: IntArray) -> Objective:
    """Gradient and curvature of the log loss summed over votes, for the items in `seen`.

    The Hessian in the scores is a graph Laplacian; LightGBM takes a diagonal only, and twice
    the Laplacian's diagonal bounds it.
    """
    place = np.full(int(max(counts.first.max(), counts.second.max(), seen.max())) + 1, -1)
    place[seen] = np.arange(len(seen))
    voted = counts.total > 0
    first, second = place[counts.first[voted]], place[counts.second[voted]]
    wins, total = counts.half_tied[0][voted], counts.total[voted]
    n = len(seen)

    def objective(scores: FloatArray, _data: Any) -> tuple[FloatArray, FloatArray]:
        probability = expit(scores[first] - scores[second])
        pull = total * probability - wins
        pair_curvature = total * probability * (1.0 - probability)
        gradient = np.bincount(first, pull, n) - np.bincount(second, pull, n)
        curvature = 2.0 * (
            np.bincount(first, pair_curvature, n) + np.bincount(second, pair_curvature, n)
        )
        return gradient.astype(np.float64), curvature.astype(np.float64)

    return objective


def _lightgbm() -> Any:
    try:
        import lightgbm
    except ImportError as error:
        raise MissingExtra("LightGBM", "baselines", "GBDT and DART") from error
    return lightgbm
