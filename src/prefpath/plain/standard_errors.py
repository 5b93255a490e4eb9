"""Standard errors of plain scores: clustered by annotator, or of independent votes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from prefpath.distributions import student_quantile
from prefpath.pairs import BoundedFit
from prefpath.pairs.fit import Derivatives
from prefpath.plain.arrays import CodedComparisons
from prefpath.plain.clustered import sandwich
from prefpath.votes.encode import BoolArray, CodeArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class ScoreErrors:
    """Scores with the covariance of their errors.

    Attributes
    ----------
    covariance, unclustered : array (n_items, n_items)
        However an annotator's votes depend on each other, and of independent votes; 0 for
        items without a bounded score. The larger variance counts.
    degrees_of_freedom : float
        One fewer than annotators; infinite where votes are taken as independent.
    """

    score: FloatArray
    component: CodeArray
    bounded: BoolArray
    covariance: FloatArray
    unclustered: FloatArray
    degrees_of_freedom: float

    def difference(self, a: IntArray | int, b: IntArray | int) -> tuple[FloatArray, FloatArray]:
        """Difference of the scores of items a and b (codes), and its standard error."""
        variance = _variance_of_difference(self.covariance, a, b)
        if self.unclustered is not self.covariance:
            single = _variance_of_difference(self.unclustered, a, b)
            variance = np.maximum(variance, single)
        centre: FloatArray = np.asarray(self.score[a] - self.score[b])
        return centre, np.sqrt(np.maximum(variance, 0.0))

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Bounds of each score; NaN where nothing bounds it."""
        reach = float(student_quantile((1.0 - level) / 2.0, self.degrees_of_freedom))
        variance = np.maximum(np.diagonal(self.covariance), np.diagonal(self.unclustered))
        error = np.where(self.bounded, np.sqrt(np.maximum(variance, 0.0)), np.nan)
        return self.score - reach * error, self.score + reach * error


def score_errors(
    votes: CodedComparisons, fitted: BoundedFit, derivatives: Derivatives
) -> ScoreErrors:
    """Errors of fitted scores; those of unbounded items are not asked for.

    With at least two annotators these are "sandwich" errors: the scores' sensitivity
    around the sum of squares of each annotator's summed gradient, times `g / (g - 1)`.
    Otherwise votes are independent.
    """
    bounded, inner = fitted.bounded, fitted.inner
    inverse = inner.graph.inverse(inner.curvature)
    covariance, freedom = inverse, np.inf
    if votes.annotator is not None and votes.n_annotators > 1:
        n = votes.n_annotators
        gradient = annotator_gradients(votes, fitted, derivatives)[:, bounded]
        covariance, freedom = sandwich(inverse, gradient), n - 1.0
        covariance *= n / (n - 1)
    return ScoreErrors(
        score=fitted.scores,
        component=fitted.component,
        bounded=bounded,
        covariance=_among_all(covariance, bounded),
        unclustered=_among_all(inverse, bounded),
        degrees_of_freedom=freedom,
    )


def _among_all(inner: FloatArray, bounded: BoolArray) -> FloatArray:
    if bounded.all():
        return inner
    whole = np.zeros((len(bounded), len(bounded)))
    whole[np.ix_(bounded, bounded)] = inner
    return whole


def _variance_of_difference(
    covariance: FloatArray, a: IntArray | int, b: IntArray | int
) -> FloatArray:
    variance = np.diagonal(covariance)
    # Rows of b: of all items against a few these are read from one end to the other.
    return np.asarray(variance[a] + variance[b] - 2.0 * covariance[b, a])


def annotator_gradients(
    votes: CodedComparisons, fitted: BoundedFit, derivatives: Derivatives
) -> sparse.csr_array:
    """Each annotator's gradient of the summed loss in the scores of the bounded items."""
    left, right, bounded = votes.left, votes.right, fitted.bounded
    margin = fitted.scores[left] - fitted.scores[right]
    pull, _ = derivatives(margin, votes.choice.astype(np.float64))
    if votes.weight is not None:
        pull = pull * votes.weight
    pull = np.where(bounded[left] & bounded[right], pull, 0.0)
    who = votes.annotator
    columns, values = np.concatenate([left, right]), np.concatenate([pull, -pull])
    shape = (votes.n_annotators, len(bounded))
    return sparse.coo_array((values, (np.tile(who, 2), columns)), shape=shape).tocsr()  # type: ignore[arg-type]
