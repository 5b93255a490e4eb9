"""The scale of attention: how far apart items are in the eyes of the crowd.

Attention multiplies differences of the common scores, so what one unit of it does to a margin
depends on how large these are. It is therefore measured on the scale of a margin:
`sigma = b / s` with s^2 the mean square of the differences, weighted by the votes' curvature, at
the pooled fit of the same loss. The same threshold then means the same evidence for an attention
and for a position bias. s is frozen: taken again along the path, from scores that contrary voters
no longer pull, it made results worse in the study that proposed it (docs/attention.md).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from prefpath.compiling import kernel
from prefpath.machine import one_blas_thread
from prefpath.model.design import Design, Floats, Target
from prefpath.model.losses import Loss
from prefpath.model.pool_index import PoolIndex
from prefpath.pairs.laplacian import PairGraph
from prefpath.pairs.newton import minimise
from prefpath.votes.graph import components_of_pairs

# Where z of an attention leaves zero, as a share of the other thresholds. Lower finds more of
# those who vote at random and takes more tastes for attention; docs/attention.md has the study.
RELATIVE_THRESHOLD = 0.85
# A weak pull to equal scores, as a share of an item's mean weight: items that never lost must
# not run away, and no scale changes by more than some tenths of a percent.
_RIDGE = 1e-3
# Cells from which NumPy's arrays in between cost more than to load a compiled loop.
_MANY_CELLS = 2_000_000
# Where nobody tells any items apart there is no scale. Half a percent of votes is nothing to see
# more or less sharply; what tastes make of the scores later would be multiplied out of all bounds.
_LEAST_SCALE = 0.02


class PooledVotes(NamedTuple):
    """Everybody's votes by pair: weight, and mean choice from the first item's side."""

    pairs: PoolIndex
    weight: Floats
    choice: Floats


def pool_everybody(design: Design, target: Target, index: PoolIndex) -> PooledVotes:
    """The votes of all annotators, pooled; sums first, so that shards add up to the same."""
    many = len(index.pair_of) > _MANY_CELLS
    weight, pull = (_pooled_sums if many else _few_pooled_sums)(design, target, index)
    choice = np.divide(pull, weight, out=np.zeros_like(pull), where=weight > 0)
    return PooledVotes(index, weight, choice)


def _few_pooled_sums(design: Design, target: Target, index: PoolIndex) -> tuple[Floats, Floats]:
    """Of each pair the sum of weights, and of weights times choices from its first item's side."""
    n_pairs = len(index.first)
    ahead = np.where(design.left_at < design.right_at, target.weight, -target.weight)
    weight = np.bincount(index.pair_of, target.weight, n_pairs).astype(np.float64)
    pull = np.bincount(index.pair_of, ahead * target.choice, n_pairs).astype(np.float64)
    return weight, pull


@kernel()
def _pooled_sums(design: Design, target: Target, index: PoolIndex) -> tuple[Floats, Floats]:
    """The same to the last bit, without arrays as long as the votes in between."""
    weight, pull = np.zeros(len(index.first)), np.zeros(len(index.first))
    for c in range(len(index.pair_of)):
        pair = index.pair_of[c]
        ahead = 1.0 if design.left_at[c] < design.right_at[c] else -1.0
        weight[pair] += target.weight[c]
        pull[pair] += ahead * target.weight[c] * target.choice[c]
    return weight, pull


class PooledFit(NamedTuple):
    """The common scores of everybody's votes, and the scale of attention at them."""

    scores: Floats
    scale: float


def fit_pooled(votes: PooledVotes, loss: Loss, n_items: int, features: Floats | None) -> PooledFit:
    """Fit one ranking to everybody, and measure how far apart its items are.

    The scale is the root of the mean square of score differences, weighted by curvature.
    """
    graph = _graph(votes, n_items)
    with one_blas_thread():  # two that wait for each other take twice the processor time
        scores = _pooled_scores(graph, votes, loss, features)
    apart = graph.differences(scores)
    curvature = votes.weight * loss.curvature(apart, votes.choice)
    total = float(curvature.sum())
    mean_square = float((curvature * apart**2).sum()) / total if total > 0.0 else 0.0
    return PooledFit(scores, max(float(np.sqrt(mean_square)), _LEAST_SCALE))


def _graph(votes: PooledVotes, n_items: int) -> PairGraph:
    first = votes.pairs.first.astype(np.int32)
    second = votes.pairs.second.astype(np.int32)
    component = components_of_pairs(first, second, n_items)
    return PairGraph(
        n_items, first, second, component, _RIDGE * float(votes.weight.sum()) / n_items
    )


def _pooled_scores(
    graph: PairGraph, votes: PooledVotes, loss: Loss, features: Floats | None
) -> Floats:
    def evaluate(scores: Floats) -> tuple[Floats, Floats]:
        apart = graph.differences(scores)
        gradient = graph.divergence(votes.weight * loss.gradient(apart, votes.choice))
        curvature = votes.weight * loss.curvature(apart, votes.choice)
        return gradient + graph.ridge * scores, curvature

    if features is None:
        return minimise(evaluate, graph.solve, np.zeros(graph.n_items)).coefficient

    def evaluate_features(eta: Floats) -> tuple[Floats, Floats]:
        gradient, curvature = evaluate(features @ eta)
        return features.T @ gradient, curvature

    def newton_step(curvature: Floats, gradient: Floats) -> Floats:
        hessian = features.T @ (_laplacian(graph, curvature) @ features)
        # Collinear features leave directions that no vote tells anything about.
        hessian[np.diag_indices(len(gradient))] += 1e-9 * max(np.trace(hessian), 1e-300)
        return np.linalg.solve(hessian, gradient)

    start = np.zeros(features.shape[1])
    scores: Floats = features @ minimise(evaluate_features, newton_step, start).coefficient
    return scores


def _laplacian(graph: PairGraph, weight: Floats) -> sparse.csr_array:
    """`L + ridge I` of these weights of the pairs."""
    n = graph.n_items
    beside = sparse.coo_array((weight, (graph.first, graph.second)), shape=(n, n)).tocsr()
    beside = beside + beside.T
    degree = np.asarray(beside.sum(axis=0)).ravel() + graph.ridge
    return sparse.csr_array(sparse.diags_array(degree) - beside)
