"""The part of a flow that a score explains: weighted least squares on a graph."""

from __future__ import annotations

from prefpath.hodge.flow import PairFlow
from prefpath.pairs.laplacian import PairGraph
from prefpath.votes.encode import CodeArray, FloatArray
from prefpath.votes.graph import components_of_pairs

_TOLERANCE = 1e-13


def find_components(flow: PairFlow) -> CodeArray:
    """Number of the connected component of each item; 0 is the largest."""
    return components_of_pairs(flow.first, flow.second, flow.n_items)


def fit_scores(flow: PairFlow, component: CodeArray) -> FloatArray:
    """Scores minimising `sum w (value - (score_first - score_second))^2`.

    Within each component the scores sum to zero; between components nothing is known.
    """
    graph = PairGraph(flow.n_items, flow.first, flow.second, component)
    return graph.solve(flow.weight, graph.divergence(flow.weight * flow.value), rtol=_TOLERANCE)


def gradient_of(flow: PairFlow, scores: FloatArray) -> FloatArray:
    """The flow that scores imply: `score_first - score_second`."""
    difference: FloatArray = scores[flow.first] - scores[flow.second]
    return difference
