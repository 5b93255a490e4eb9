"""Norms and traces of the curvature of many followers' votes, all of them at once.

Of annotator u's curvature `A_u` in the coefficients they touch, `||A_u||^2`, `tr A_u` and
`tr(A_u P A_u)` are wanted. Somebody's votes compare each item with few others, so that `A_u` has
few entries: the blocks of all are one sparse matrix, and `tr(A P A)` is the sum of `A^T A` times
P, entry by entry. A dense product would take the cube of the number of items seen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from prefpath.inference.absorption import annotator_coefficients, own_hessian
from prefpath.inference.evidence import Evidence
from prefpath.model.design import Floats, Ints
from prefpath.votes.encode import BoolArray
from prefpath.votes.segments import rows_of

# With features, or with so many comparisons of so many items that most pairs met, a block is dense.
_DENSE_FROM_ITEMS = 100
_DENSE_FROM_SHARE = 0.05  # of all pairs


class Curvatures(NamedTuple):
    """`||A||^2` and `tr A` in own coefficients, and `tr(A P A)` in all that are touched."""

    norm: Floats
    trace: Floats
    fitted: Floats


def curvatures_of(evidence: Evidence, coefficient: Floats, bread: Floats, who: Ints) -> Curvatures:
    """Of some followers, in their order."""
    dense = _is_dense(evidence, who)
    found = Curvatures(*np.zeros((3, len(who))))
    for part, of in ((dense, _one_by_one), (~dense, _all_at_once)):
        if part.any():
            for column, values in zip(
                found, of(evidence, coefficient, bread, who[part]), strict=True
            ):
                column[part] = values
    return found


def _is_dense(evidence: Evidence, who: Ints) -> BoolArray:
    design = evidence.problem.design
    if evidence.problem.features is not None:
        return np.ones(len(who), dtype=bool)
    seen, cells = np.diff(design.seen)[who], np.diff(design.cells)[who]
    return (seen > _DENSE_FROM_ITEMS) & (cells > _DENSE_FROM_SHARE * seen.astype(float) ** 2)


def _one_by_one(evidence: Evidence, coefficient: Floats, bread: Floats, who: Ints) -> Curvatures:
    found = Curvatures(*np.zeros((3, len(who))))
    for k, u in enumerate(who):
        touched = annotator_coefficients(evidence, u)
        across = own_hessian(evidence, u, coefficient)[:-1, : len(touched)]
        own = across[:, : len(across)]
        found.norm[k], found.trace[k] = (own**2).sum(), np.trace(own)
        found.fitted[k] = np.sum(across * (across @ bread[np.ix_(touched, touched)]))
    return found


def _all_at_once(evidence: Evidence, coefficient: Floats, bread: Floats, who: Ints) -> Curvatures:
    design, n = evidence.problem.design, len(who)
    n_seen = np.diff(design.seen)[who]
    item = design.seen_item[rows_of(design.seen, who)].astype(np.int64)
    blocks = _blocks(evidence, coefficient, who, item)
    owner = np.concatenate((np.repeat(np.arange(n), n_seen), np.arange(n)))  # of each column
    touched = np.concatenate((item, np.full(n, len(bread) - 1)))
    squares = (blocks.T @ blocks).tocoo()
    i, j = squares.coords
    return Curvatures(
        norm=_sums(owner, i, np.where((i == j) & (i < len(item)), squares.data, 0.0), n),
        trace=_sums(owner, np.arange(len(item)), blocks.diagonal(), n),
        fitted=_sums(owner, i, squares.data * bread[touched[i], touched[j]], n),
    )


def _sums(owner: Ints, at: Ints, values: Floats, n: int) -> Floats:
    return np.asarray(np.bincount(owner[at], values, n), dtype=np.float64)


def _blocks(evidence: Evidence, coefficient: Floats, who: Ints, item: Ints) -> sparse.csr_array:
    """Rows: the items each has seen; columns: the same, then the position of each, if common."""
    problem = evidence.problem
    design, target, n = problem.design, problem.target, len(who)
    cells, n_seen = rows_of(design.cells, who), np.diff(design.seen)[who]
    owner = np.repeat(np.arange(n), np.diff(design.cells)[who])
    first = (np.cumsum(n_seen) - n_seen)[owner]
    a, b = first + design.left_at[cells], first + design.right_at[cells]
    theta, position = evidence.scores(coefficient)[item], design.position[cells].astype(float)
    margin = theta[a] - theta[b] + position * evidence.common_bias(coefficient)
    bend = target.weight[cells] * problem.loss.curvature(margin, target.choice[cells])
    sided = bend * position if problem.common_position else np.zeros(len(bend))
    side = len(item) + owner
    return sparse.csr_array(
        (
            np.concatenate((bend, bend, -bend, -bend, sided, -sided)),
            (np.concatenate((a, b, a, b, a, b)), np.concatenate((a, b, b, a, side, side))),
        ),
        shape=(len(item), len(item) + n),
    )
