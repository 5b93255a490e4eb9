"""RankSVM: a linear support vector machine on differences of items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from prefpath.baselines.base import Baseline, Fit, Grid, as_grid, centred
from prefpath.baselines.training import Design, Training
from prefpath.votes.encode import FloatArray


@dataclass(frozen=True, kw_only=True)
class RankSVM(Baseline):
    """Minimise `||w||**2 / 2 + C * sum(weight * max(0, 1 - w @ (x_winner - x_loser))**2)`.

    The squared hinge of liblinear's primal solver: deterministic, and the loss of large-scale
    RankSVM. There is no intercept, so that a vote and its mirror image say the same. Ties are
    left out: the method orders pairs.

    Parameters
    ----------
    C : float or tuple of float
        Inverse regularisation, in units of one vote.

    References
    ----------
    T. Joachims (2002). Optimizing search engines using clickthrough data. KDD.
    C.-P. Lee and C.-J. Lin (2014). Large-scale linear RankSVM. Neural Computation 26.
    """

    name: ClassVar[str] = "RankSVM"

    C: Grid = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)

    def _fit_path(self, training: Training) -> Sequence[Fit]:
        rows, label, weight = _samples(training)
        return [
            Fit(
                centred(
                    training.item_design @ self._weights(rows, label, weight, C),
                    training.item_weight,
                ),
                {"C": C},
            )
            for C in as_grid(self.C)
        ]

    def _weights(self, rows: Design, label: FloatArray, weight: FloatArray, C: float) -> FloatArray:
        from sklearn.svm import LinearSVC

        if len(label) == 0:  # nothing but ties
            return np.zeros(rows.shape[1])
        machine = LinearSVC(
            C=C,
            loss="squared_hinge",
            dual=False,
            fit_intercept=False,
            tol=1e-5,
            random_state=self.random_state,  # unused by this solver, but it would seed itself
        )
        machine.fit(rows, label, sample_weight=weight)
        coef: FloatArray = machine.coef_[0]
        return coef


def _samples(training: Training) -> tuple[Design, FloatArray, FloatArray]:
    """Differences, labels and weights: a pair is one sample for its wins, one for its losses."""
    counts = training.counts
    won, lost = counts.wins > 0, counts.losses > 0
    differences = training.differences(counts.first, counts.second)
    stack: Any = np.vstack if isinstance(differences, np.ndarray) else sparse.vstack
    rows = stack([differences[won], differences[lost]])
    label = np.repeat([1.0, -1.0], [won.sum(), lost.sum()])
    weight = np.concatenate([counts.wins[won], counts.losses[lost]])
    if len(label) and (label == label[0]).all():
        # liblinear needs both classes; without an intercept a mirrored sample says the same.
        return stack([rows, -rows]), np.concatenate([label, -label]), np.tile(weight / 2, 2)
    return rows, label, weight
