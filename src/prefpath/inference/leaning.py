"""What annotators who lean, and follow the crowd in everything else, still say about the scores.

One coefficient is their own: the lean. Of their curvature A there is left, with v its row of that
coefficient and s the entry there, penalty included, `A - v v^T / s` (see `absorption`): what is
taken away is one outer product for each of them, and no matrix of anybody is needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from prefpath.inference.consensus import common_hessian
from prefpath.inference.evidence import Evidence
from prefpath.model.design import Floats
from prefpath.pairs.squares import squared
from prefpath.votes.encode import BoolArray
from prefpath.votes.segments import rows_of


class OwnLeans(NamedTuple):
    """Position bias of each annotator, who has nothing else of their own, and the penalty's bend.

    Of an annotator with a deviation nothing is said.
    """

    bias: Floats
    alone: BoolArray
    bend: float

    @classmethod
    def of(cls, evidence: Evidence) -> OwnLeans:
        """Those of the annotators of some votes."""
        alone = evidence.leaning
        return cls(np.where(alone, evidence.own_bias, 0.0), alone, _bend_of_penalty(evidence))


def _bend_of_penalty(evidence: Evidence) -> float:
    return evidence.penalty_rate / evidence.path.kappa


def curvature_left(evidence: Evidence, coefficient: Floats) -> Floats:
    """Of all who lean together, in the common coefficients."""
    if not evidence.leaning.any():
        return np.zeros((evidence.n_coefficients, evidence.n_coefficients))
    cells = rows_of(evidence.problem.design.cells, np.flatnonzero(evidence.leaning))
    theirs = np.zeros(len(evidence.slots.left), dtype=bool)
    theirs[evidence.slot_of_cell[cells] // 2] = True
    weight, choice = evidence.slot_votes.everybody
    whole = common_hessian(evidence, coefficient, np.where(theirs, weight, 0.0), choice)
    return np.asarray(whole - squared(_rows_of_leans(evidence, coefficient)))


def _rows_of_leans(evidence: Evidence, coefficient: Floats) -> sparse.csr_array:
    """Rows `v / sqrt(s)`, one for each who leans."""
    problem, design = evidence.problem, evidence.problem.design
    who = np.flatnonzero(evidence.leaning)
    cells, n_seen = rows_of(design.cells, who), np.diff(design.seen)[who]
    owner = np.repeat(np.arange(len(who)), np.diff(design.cells)[who])
    item = design.seen_item[rows_of(design.seen, who)]
    ends = np.append(0, np.cumsum(n_seen))
    a, b = ends[owner] + design.left_at[cells], ends[owner] + design.right_at[cells]
    theta, position = evidence.scores(coefficient)[item], design.position[cells].astype(float)
    bias = evidence.own_bias[who][owner] + evidence.common_bias(coefficient)
    margin, target = theta[a] - theta[b] + position * bias, problem.target
    bend = target.weight[cells] * problem.loss.curvature(margin, target.choice[cells]) * position
    own = np.bincount(owner, bend * position, len(who))
    size = np.sqrt(own + _bend_of_penalty(evidence))
    across = np.bincount(a, bend, len(item)) - np.bincount(b, bend, len(item))
    entries = across / np.repeat(size, n_seen)
    rows = sparse.csr_array((entries, item, ends), shape=(len(who), problem.votes.n_items))
    if problem.features is not None:
        rows = sparse.csr_array(rows @ problem.features)
    if problem.common_position:
        rows = sparse.hstack((rows, sparse.csr_array((own / size)[:, None])), format="csr")
    return sparse.csr_array(rows)


def balance_leans(evidence: Evidence, position_gradient: Floats) -> None:
    """Put the balance of the penalty in for the gradients in leans, in place."""
    who = evidence.leaning
    bias, threshold = evidence.own_bias[who], evidence.problem.position_threshold[who]
    dual = threshold * np.sign(bias) + bias / evidence.path.kappa
    position_gradient[who] = -evidence.penalty_rate * dual
