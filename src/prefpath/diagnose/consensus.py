"""The common model by itself: everybody's decisive votes, pooled, no deviation in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prefpath.diagnose.ballots import Pooling, probability, slope_of_probability
from prefpath.diagnose.pair_design import Folding, pair_design
from prefpath.model.design import Floats
from prefpath.pairs.newton import minimise
from prefpath.pairs.systems import solve_ridged

# A normal prior with standard deviation 10 on the scores: far wider than any real score, yet
# an item that never lost, or never met the others, keeps a finite one.
RIDGE = 0.01
_MOST_STEPS = 50
_LONGEST_STEP = 2.0
_FARTHEST = 30.0


@dataclass(frozen=True, eq=False)
class Consensus:
    """Maximum-likelihood common scores and, where asked for, the lean everybody shares."""

    scores: Floats
    score_error: Floats
    position: float


class CommonModel:
    """Comparisons pooled over annotators once, so that refitting with other weights is cheap."""

    def __init__(self, votes: Pooling, *, common_position: bool = False) -> None:
        self._votes, self._shape = votes, votes.shape
        self._common_position = common_position
        n_items = self._shape.n_items
        pair, known = votes.pairs // 2, votes.pairs % 2
        left, right = pair // n_items, pair % n_items
        self._folding = None if common_position else Folding(left, right, n_items)
        if self._folding is not None:
            left, right = self._folding.left, self._folding.right
        self._items = left, right
        self._design = pair_design(
            left, right, known if common_position else None, n_items, self._shape.features
        )
        self._last: Floats = np.zeros(self._design.n_coefficients)

    def fit(self, weight: Floats | None = None) -> Consensus:
        """Fisher scoring from the last fit, or zero; `weight` is of the annotators."""
        trials, wins = self._votes.pooled(weight)
        if self._folding is not None:
            trials, wins = self._folding.fold(trials, wins)

        def evaluate(coefficient: Floats) -> tuple[Floats, Floats]:
            margin = np.clip(self._design.margins(coefficient), -_FARTHEST, _FARTHEST)
            score, information = _score_and_information(self._shape.probit, margin, trials, wins)
            return RIDGE * coefficient - self._design.pull_back(score), information

        coefficient, _, information = minimise(
            evaluate,
            lambda information, gradient: solve_ridged(
                self._design.system(information), gradient, RIDGE
            ),
            self._last,
            longest=_LONGEST_STEP,
            most_steps=_MOST_STEPS,
        )
        self._last = coefficient
        return self._consensus(coefficient, information)

    def _consensus(self, coefficient: Floats, information: Floats) -> Consensus:
        features = self._shape.features
        position = float(coefficient[-1]) if self._common_position else 0.0
        common = coefficient[:-1] if self._common_position else coefficient
        scores = common if features is None else features @ common
        # 1 / H_ii is a lower bound of the variance, close to it where an item met many others.
        met: Floats = np.zeros(self._shape.n_items)
        for items in self._items:
            met += np.bincount(items, information, self._shape.n_items)
        return Consensus(scores - scores.mean(), 1.0 / np.sqrt(met + RIDGE), position)


def _score_and_information(
    probit: bool, margin: Floats, trials: Floats, wins: Floats
) -> tuple[Floats, Floats]:
    exact = probability(margin, probit)
    p = np.clip(exact, 1e-12, 1.0 - 1e-12)
    slope = slope_of_probability(margin, exact, probit)
    factor = slope / (p * (1.0 - p))
    return factor * (wins - trials * p), factor * slope * trials
