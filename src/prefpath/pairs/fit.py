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

Derivatives = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]

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
    derivatives: Derivatives,
    *,
    ridge: float = 0.0,
    start: FloatArray | None = None,
    component: CodeArray | None = None,
) -> CommonFit:
    """Minimise `sum weight * loss(score_first - score_second, choice) + ridge / 2 ||scores||^2`.

    Parameters
    ----------
    derivatives : callable
        Margins and choices to the first and second derivative of the loss in the margin: the
        method `derivatives` of a loss. The first must be affine in the choice, or the votes
        cannot be pooled.
    ridge : float
        Holds scores that the counts do not bound.
    component : array of int, optional
        Of each item, where it is known already.

    Examples
    --------
    >>> from prefpath.pairs.counts import pool_pairs
    >>> left, right = np.array([0, 0, 1]), np.array([1, 1, 2])
    >>> counts = pool_pairs(left, right, np.array([1.0, -1.0, 0.5]), n_items=3)
    >>> fitted = fit_counts(counts, lambda m, y: (m - y, np.ones_like(m)))
    >>> fitted.scores.round(3)  # least squares: HodgeRank
    array([ 0.167,  0.167, -0.333])
    """
    if component is None:
        component = components_of_pairs(counts.first, counts.second, counts.n_items)
    graph = PairGraph(counts.n_items, counts.first, counts.second, component, ridge)

    def evaluate(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        slope, curvature = derivatives(graph.differences(scores), counts.choice)
        slope *= counts.weight
        curvature *= counts.weight
        gradient = graph.divergence(slope)
        return (gradient + ridge * scores if ridge else gradient), curvature

    begin = np.zeros(counts.n_items) if start is None else start
    found = minimise(evaluate, graph.solve, begin)
    scores = found.coefficient
    bounded = bool(np.ptp(scores) < LARGEST_MARGIN) if len(scores) else True
    return CommonFit(scores, component, found.curvature, graph, found.converged and bounded)


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
    return fit_counts(counts, logistic_derivatives, ridge=ridge, start=start)


def logistic_derivatives(margin: FloatArray, choice: FloatArray) -> tuple[FloatArray, FloatArray]:
    """First and second derivative in the margin of Bradley-Terry's loss, pooled over choices.

    The loss is the mean of `-log sigmoid(choice * margin)` over choices of 1 and -1.
    """
    p = expit(margin)
    return p - 0.5 * (1.0 + choice), p * (1.0 - p)
