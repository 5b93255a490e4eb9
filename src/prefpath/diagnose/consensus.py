"""The common model by itself: everybody's decisive votes, pooled, no deviation in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from prefpath.diagnose.ballots import Pooling, probability, slope_of_probability
from prefpath.model.design import Floats, Ints
from prefpath.pairs.newton import minimise
from prefpath.pairs.systems import gram, solve_ridged

# A normal prior with standard deviation 10 on the scores: far wider than any real score, yet
# an item that never lost, or never met the others, keeps a finite one.
_RIDGE = 0.01
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
        self._incidence = _incidence(pair // n_items, pair % n_items, n_items)
        self._design = _design_matrix(
            self._incidence, self._shape.features, known if common_position else None
        )
        self._last: Floats = np.zeros(self._design.shape[1])

    def fit(self, weight: Floats | None = None) -> Consensus:
        """Fisher scoring from the last fit, or zero; `weight` is of the annotators."""
        trials, wins = self._votes.pooled(weight)

        def evaluate(coefficient: Floats) -> tuple[Floats, Floats]:
            margin = np.clip(self._design @ coefficient, -_FARTHEST, _FARTHEST)
            score, information = _score_and_information(self._shape.probit, margin, trials, wins)
            return _RIDGE * coefficient - self._design.T @ score, information

        coefficient, _, information = minimise(
            evaluate,
            lambda information, gradient: solve_ridged(
                gram(self._design, information), gradient, _RIDGE
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
        pair_items = abs(self._incidence).T @ information
        error = 1.0 / np.sqrt(pair_items + _RIDGE)
        return Consensus(scores - scores.mean(), error, position)


def _incidence(left: Ints, right: Ints, n_items: int) -> sparse.csr_matrix:
    """One row for each distinct comparison: 1 at its left item, -1 at its right one."""
    rows, ones = np.arange(len(left)), np.ones(len(left))
    return sparse.csr_matrix(
        (np.r_[ones, -ones], (np.r_[rows, rows], np.r_[left, right])),
        shape=(len(left), n_items),
    )


def _design_matrix(
    incidence: sparse.csr_matrix, features: Floats | None, known: Ints | None
) -> sparse.csr_matrix:
    """The comparisons in the common coefficients, and in the lean everybody shares, last."""
    columns = [incidence if features is None else sparse.csr_matrix(incidence @ features)]
    if known is not None:
        columns.append(sparse.csr_matrix(known.astype(float)[:, None]))
    return sparse.csr_matrix(sparse.hstack(columns, format="csr"))


def _score_and_information(
    probit: bool, margin: Floats, trials: Floats, wins: Floats
) -> tuple[Floats, Floats]:
    exact = probability(margin, probit)
    p = np.clip(exact, 1e-12, 1.0 - 1e-12)
    slope = slope_of_probability(margin, exact, probit)
    factor = slope / (p * (1.0 - p))
    return factor * (wins - trials * p), factor * slope * trials
