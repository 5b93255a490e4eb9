"""The part of a flow that a score explains: weighted least squares on a graph."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, cg, splu

from prefpath.hodge.flow import PairFlow
from prefpath.votes.encode import CodeArray, FloatArray

_TOLERANCE = 1e-13
_MAX_ITERATIONS = 500


def find_components(flow: PairFlow) -> CodeArray:
    """Number of the connected component of each item, in order of their first items."""
    edges = (np.ones(len(flow.first), np.int8), (flow.first, flow.second))
    graph = sparse.coo_array(edges, shape=(flow.n_items, flow.n_items))
    _, component = connected_components(graph, directed=False)
    return np.asarray(component, dtype=np.int32)


def fit_scores(flow: PairFlow, component: CodeArray) -> FloatArray:
    """Scores minimising `sum w (value - (score_first - score_second))^2`.

    Within each component the scores sum to zero; between components nothing is known.

    Conjugate gradients need few iterations on the well-knit graphs whose factors fill up, and
    many on the stringy ones (chains, grids) whose factors stay sparse: so they are tried
    first, and a sparse factorisation takes over where they do not arrive.
    """
    laplacian, divergence = _normal_equations(flow)
    scores = _conjugate_gradients(laplacian, divergence)
    if scores is None:
        scores = _factorise(laplacian, divergence, component)
    size = np.bincount(component)
    mean: FloatArray = np.bincount(component, weights=scores) / size
    centred: FloatArray = scores - mean[component]
    return centred


def gradient_of(flow: PairFlow, scores: FloatArray) -> FloatArray:
    """The flow that scores imply: `score_first - score_second`."""
    difference: FloatArray = scores[flow.first] - scores[flow.second]
    return difference


def _normal_equations(flow: PairFlow) -> tuple[sparse.csr_array, FloatArray]:
    ends = np.concatenate([flow.first, flow.second])
    others = np.concatenate([flow.second, flow.first])
    weight = np.concatenate([flow.weight, flow.weight])
    pull = flow.weight * flow.value
    n = flow.n_items
    degree = np.bincount(ends, weights=weight, minlength=n)
    divergence = np.bincount(ends, weights=np.concatenate([pull, -pull]), minlength=n)
    adjacency = sparse.coo_array((weight, (ends, others)), shape=(n, n)).tocsr()
    laplacian = sparse.csr_array(sparse.diags_array(degree) - adjacency)
    return laplacian, divergence.astype(np.float64)


def _conjugate_gradients(laplacian: sparse.csr_array, divergence: FloatArray) -> FloatArray | None:
    """The solution, or None where it takes too long; the system is singular but consistent."""
    degree = laplacian.diagonal()
    inverse = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
    scaling = LinearOperator(laplacian.shape, matvec=lambda x: inverse * x, dtype=np.float64)
    scores, failed = cg(laplacian, divergence, rtol=_TOLERANCE, maxiter=_MAX_ITERATIONS, M=scaling)
    return None if failed else np.asarray(scores)


def _factorise(
    laplacian: sparse.csr_array, divergence: FloatArray, component: CodeArray
) -> FloatArray:
    """Solve with the first item of each component held at 0, and refine once."""
    _, held = np.unique(component, return_index=True)
    free = np.ones(len(component), bool)
    free[held] = False
    inner = sparse.csc_array(laplacian[free][:, free])
    factor = splu(inner, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    scores = np.zeros(len(component))
    scores[free] = factor.solve(divergence[free])
    scores[free] += factor.solve(divergence[free] - inner @ scores[free])
    return scores
