"""Common scores fitted to counts of pairs: Newton's method on the graph of the pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from prefpath.pairs.counts import PairCounts
from prefpath.pairs.laplacian import PairGraph
from prefpath.pairs.newton import minimise
from prefpath.votes.encode import CodeArray, FloatArray
from prefpath.votes.graph import components_of_pairs

OfMargin = Callable[[FloatArray, FloatArray], FloatArray]

# Beyond this no finite sample tells a margin from infinity: the fit is running away.
LARGEST_MARGIN = 30.0


@dataclass(frozen=True, eq=False)
class CommonFit:
    """Scores that fit the counts best.

    Attributes
    ----------
    scores : array (n_items,)
        They sum to zero in each component, unless a ridge holds them.
    component : array of int (n_items,)
        Scores are comparable only within one; 0 is the largest.
    curvature : array (n_pairs,)
        Second derivative of the summed loss in the margin of each pair, at the scores.
    graph : PairGraph
    converged : bool
        False where the counts do not bound the scores (see `bounded_items`).
    """

    scores: FloatArray
    component: CodeArray
    curvature: FloatArray
    graph: PairGraph
    converged: bool


def fit_counts(
    counts: PairCounts,
    slope: OfMargin,
    curvature: OfMargin,
    *,
    ridge: float = 0.0,
    start: FloatArray | None = None,
) -> CommonFit:
    """Minimise `sum weight * loss(score_first - score_second, choice) + ridge / 2 ||scores||^2`.

    Parameters
    ----------
    slope, curvature : callable
        First and second derivative of the loss in the margin, as functions of margins and
        choices: the methods `gradient` and `curvature` of a loss. The slope must be affine in
        the choice, or the votes cannot be pooled.
    ridge : float
        Holds scores that the counts do not bound.

    Examples
    --------
    >>> from prefpath.pairs.counts import pool_pairs
    >>> left, right = np.array([0, 0, 1]), np.array([1, 1, 2])
    >>> counts = pool_pairs(left, right, np.array([1.0, -1.0, 0.5]), n_items=3)
    >>> fitted = fit_counts(counts, lambda m, y: m - y, lambda m, y: np.ones_like(m))
    >>> fitted.scores.round(3)  # least squares: HodgeRank
    array([ 0.167,  0.167, -0.333])
    """
    component = components_of_pairs(counts.first, counts.second, counts.n_items)
    graph = PairGraph(counts.n_items, counts.first, counts.second, component, ridge)

    def bend(scores: FloatArray) -> FloatArray:
        return counts.weight * curvature(graph.differences(scores), counts.choice)

    def gradient(scores: FloatArray) -> FloatArray:
        pull = counts.weight * slope(graph.differences(scores), counts.choice)
        return graph.divergence(pull) + ridge * scores

    begin = np.zeros(counts.n_items) if start is None else start
    found = minimise(gradient, lambda x, g: graph.solve(bend(x), g), begin)
    scores = found.coefficient
    bounded = bool(np.ptp(scores) < LARGEST_MARGIN) if len(scores) else True
    return CommonFit(scores, component, bend(scores), graph, found.converged and bounded)


def fit_bradley_terry(
    counts: PairCounts, *, ridge: float = 0.0, start: FloatArray | None = None
) -> CommonFit:
    """Maximum-likelihood Bradley-Terry scores of pooled votes; a tie is half a win.

    Examples
    --------
    >>> from prefpath.pairs.counts import pool_pairs
    >>> left, right = np.zeros(4, dtype=int), np.ones(4, dtype=int)
    >>> counts = pool_pairs(left, right, np.array([1.0, 1.0, 1.0, -1.0]), n_items=2)
    >>> scores = fit_bradley_terry(counts).scores
    >>> round(float(scores[0] - scores[1]), 6)  # three wins to one: log 3
    1.098612
    """
    return fit_counts(counts, logistic_slope, logistic_curvature, ridge=ridge, start=start)


def logistic_slope(margin: FloatArray, choice: FloatArray) -> FloatArray:
    """Derivative of the mean of `-log sigmoid(choice * margin)` over choices of 1 and -1."""
    slope: FloatArray = expit(margin) - 0.5 * (1.0 + choice)
    return slope


def logistic_curvature(margin: FloatArray, choice: FloatArray) -> FloatArray:  # noqa: ARG001
    """Derivative of `logistic_slope` in the margin."""
    p = expit(margin)
    bend: FloatArray = p * (1.0 - p)
    return bend
