"""The exact common part for given deviations, where that is one linear system: the linear loss."""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from prefpath.errors import SettingError
from prefpath.model.design import Floats, Ints
from prefpath.model.problem import Problem
from prefpath.model.scalar_losses import LINEAR

# Below this many coefficients a dense pseudo-inverse is faster than any factorisation.
_DENSE_UP_TO = 2_000
_RELATIVE_CUTOFF = 1e-8


class CommonMinimiser:
    """Solves `H x = g` for the common part, H the Hessian of the mean linear loss.

    The minimiser from any point is one Newton step away, `eta - H^+ gradient`.
    """

    def __init__(self, problem: Problem) -> None:
        if problem.loss.code != LINEAR:
            raise SettingError(
                f'common="minimise" with loss {problem.loss.name!r}',
                expected="the linear loss, whose minimiser is one linear system",
                remedy='pass common="flow"',
            )
        hessian = common_hessian(problem)
        if hessian.shape[0] <= _DENSE_UP_TO or problem.features is not None:
            dense = np.asarray(hessian.todense())
            self._inverse = linalg.pinvh(dense, rtol=_RELATIVE_CUTOFF)
            self._solve = self._solve_dense
        else:
            self._component = _components(hessian[: problem.n_common][:, : problem.n_common])
            self._free = _all_but_one_of_each(self._component, hessian.diagonal())
            self._factor = splu(hessian[self._free][:, self._free].tocsc())
            self._solve = self._solve_sparse

    def step(self, gradient: Floats) -> Floats:
        """`H^+ gradient`."""
        return self._solve(gradient)

    def _solve_dense(self, gradient: Floats) -> Floats:
        result: Floats = self._inverse @ gradient
        return result

    def _solve_sparse(self, gradient: Floats) -> Floats:
        solution = np.zeros(len(gradient))
        solution[self._free] = self._factor.solve(gradient[self._free])
        n_items = len(self._component)
        total = np.bincount(self._component, weights=solution[:n_items])
        mean = total / np.bincount(self._component)
        solution[:n_items] -= mean[self._component]
        return solution


def common_hessian(problem: Problem) -> sparse.csr_matrix:
    """Hessian of the mean squared error in the common part (with its position effect, last)."""
    votes, weight = problem.votes, problem.common_weight
    rows = np.arange(votes.n_rows)
    ones = np.ones(votes.n_rows)
    incidence = sparse.csr_matrix(
        (
            np.concatenate((ones, -ones)),
            (np.concatenate((rows, rows)), np.concatenate((votes.left, votes.right))),
        ),
        shape=(votes.n_rows, votes.n_items),
    )
    design = incidence if problem.features is None else incidence @ problem.features
    columns = [sparse.csr_matrix(design)]
    if problem.common_position:
        columns.append(sparse.csr_matrix(votes.position_known.astype(float)[:, None]))
    stacked = sparse.hstack(columns, format="csr")
    weighted = sparse.diags_array(weight / problem.total_weight) @ stacked
    return sparse.csr_matrix(stacked.T @ weighted)


def _components(items: sparse.csr_matrix) -> Ints:
    items.eliminate_zeros()  # a fold may leave an item without votes
    component: Ints = connected_components(items)[1]
    return component


def _all_but_one_of_each(component: Ints, diagonal: Floats) -> Ints:
    """Fix one item of each component: scores are only defined up to a constant there."""
    free = diagonal > 0.0
    free[np.unique(component, return_index=True)[1]] = False
    return np.flatnonzero(free)
