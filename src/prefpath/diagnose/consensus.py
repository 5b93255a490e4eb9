"""The common model by itself: everybody's decisive votes, pooled, no deviation in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import cg

from prefpath.diagnose.ballots import Ballots
from prefpath.model.design import Floats, Ints

# A normal prior with standard deviation 10 on the scores: far wider than any real score, yet
# an item that never lost, or never met the others, keeps a finite one.
_RIDGE = 0.01
_DENSE_UP_TO = 64
_MOST_STEPS = 50
_TOLERANCE = 1e-8
_FARTHEST = 30.0


@dataclass(frozen=True, eq=False)
class Consensus:
    """Maximum-likelihood common scores and, where asked for, the lean everybody shares."""

    scores: Floats
    score_error: Floats
    position: float


class CommonModel:
    """Comparisons pooled over annotators once, so that refitting with other weights is cheap."""

    def __init__(self, ballots: Ballots, *, common_position: bool = False) -> None:
        self._ballots = ballots
        self._common_position = common_position
        n_items = ballots.votes.n_items
        key = (ballots.left.astype(np.int64) * n_items + ballots.right) * 2
        key += ballots.design.position
        distinct, self._place = _distinct_and_place(key, 2 * n_items**2)
        pair, known = distinct // 2, distinct % 2
        self._incidence = _incidence(pair // n_items, pair % n_items, n_items)
        self._design = _design_matrix(
            self._incidence, ballots.features, known if common_position else None
        )
        self._last: Floats = np.zeros(self._design.shape[1])

    def fit(self, weight: Floats | None = None) -> Consensus:
        """Fisher scoring from the last fit, or zero; `weight` is of the annotators."""
        ballots = self._ballots
        own = 1.0 if weight is None else np.repeat(weight, np.diff(ballots.design.cells))
        n_pairs = self._design.shape[0]
        trials: Floats = np.zeros(n_pairs)
        trials += np.bincount(self._place, own * ballots.trials, n_pairs)
        wins: Floats = np.zeros(n_pairs)
        wins += np.bincount(self._place, own * ballots.wins, n_pairs)
        coefficient = self._last.copy()
        for _ in range(_MOST_STEPS):
            margin = np.clip(self._design @ coefficient, -_FARTHEST, _FARTHEST)
            score, information = _score_and_information(ballots, margin, trials, wins)
            gradient = self._design.T @ score - _RIDGE * coefficient
            step = _solve(self._design, information, gradient)
            coefficient += step / max(1.0, float(np.abs(step).max()) / 2.0)
            if np.abs(step).max() < _TOLERANCE:
                break
        self._last = coefficient
        return self._consensus(coefficient, information)

    def _consensus(self, coefficient: Floats, information: Floats) -> Consensus:
        ballots = self._ballots
        position = float(coefficient[-1]) if self._common_position else 0.0
        common = coefficient[:-1] if self._common_position else coefficient
        scores = common if ballots.features is None else ballots.features @ common
        # 1 / H_ii is a lower bound of the variance, close to it where an item met many others.
        pair_items = abs(self._incidence).T @ information
        error = 1.0 / np.sqrt(pair_items + _RIDGE)
        return Consensus(scores - scores.mean(), error, position)


def _distinct_and_place(key: Ints, n_keys: int) -> tuple[Ints, Ints]:
    """Distinct keys in order, and the place of each key among them.

    By a table of all possible keys where it is no larger than the keys given, else by sorting.
    """
    if n_keys > len(key):
        distinct, place = np.unique(key, return_inverse=True)
        return distinct, place
    taken = np.zeros(n_keys, dtype=bool)
    taken[key] = True
    rank = np.cumsum(taken) - 1
    return np.flatnonzero(taken), rank[key]


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
    ballots: Ballots, margin: Floats, trials: Floats, wins: Floats
) -> tuple[Floats, Floats]:
    p = np.clip(ballots.probability(margin), 1e-12, 1.0 - 1e-12)
    slope = ballots.slope(margin)
    factor = slope / (p * (1.0 - p))
    return factor * (wins - trials * p), factor * slope * trials


def _solve(design: sparse.csr_matrix, information: Floats, gradient: Floats) -> Floats:
    """Newton's step: dense for few coefficients, conjugate gradients for many."""
    hessian = design.T @ sparse.diags_array(information) @ design
    n = hessian.shape[0]
    hessian = sparse.csr_matrix(hessian + _RIDGE * sparse.eye_array(n))
    if n <= _DENSE_UP_TO:
        dense: Floats = linalg.solve(np.asarray(hessian.todense()), gradient, assume_a="pos")
        return dense
    inverse_diagonal = sparse.diags_array(1.0 / hessian.diagonal())
    step, _ = cg(hessian, gradient, rtol=1e-8, maxiter=1_000, M=inverse_diagonal)
    result: Floats = np.asarray(step)
    return result
