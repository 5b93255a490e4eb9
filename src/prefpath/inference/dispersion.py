"""How much the followers' votes scatter beside what their curvature says."""

from __future__ import annotations

import numpy as np

from prefpath.inference.consensus import slot_margins
from prefpath.inference.evidence import Evidence
from prefpath.model.design import Floats
from prefpath.votes.trials import trials_of_rows

_ROWS_AT_ONCE = 1 << 16  # what is computed of them stays in the cache


def squares_and_curvature(evidence: Evidence, coefficient: Floats) -> tuple[float, float, int]:
    """Squared gradients and curvature of the followers' votes, and their number of rows.

    A row of n votes that weigh w together has n squares of weight w / n.
    """
    trials = trials_of_rows(evidence.problem.votes)
    if _are_counts(evidence, trials):
        return *_of_slots(evidence, coefficient), _n_usable(evidence)
    return *_of_rows(evidence, coefficient, np.maximum(trials, 1e-300)), _n_usable(evidence)


def _are_counts(evidence: Evidence, trials: Floats) -> bool:
    """Whether every vote is a win or a loss and weighs 1, or 0."""
    problem = evidence.problem
    if not problem.loss.affine_in_choice:
        return False
    for start in range(0, len(trials), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        weight = problem.weight[rows]
        counted = ((weight == trials[rows]) & (weight > 0.0)) | (weight == 0.0)
        if not (counted & (np.abs(problem.votes.choice[rows]) == 1.0)).all():
            return False
    return True


def _n_usable(evidence: Evidence) -> int:
    """The followers' rows of votes on two items whose scores are bounded."""
    votes = evidence.problem.votes
    n_rows = np.diff(votes.offsets)
    if evidence.bounded.all():
        return int(n_rows[~evidence.active].sum())
    usable = evidence.bounded[votes.left] & evidence.bounded[votes.right]
    return int(np.count_nonzero(usable & np.repeat(~evidence.active, n_rows)))


def _of_slots(evidence: Evidence, coefficient: Floats) -> tuple[float, float]:
    """The same where every vote weighs 1 and is a win or a loss: counts of both are enough."""
    loss, margin = evidence.problem.loss, slot_margins(evidence, coefficient)
    weight, choice = evidence.slot_votes.followers
    squares, bent = 0.0, 0.0
    for won in (1.0, -1.0):
        votes, chosen = 0.5 * weight * (1.0 + won * choice), np.full(len(margin), won)
        squares += float(votes @ loss.gradient(margin, chosen) ** 2)
        bent += float(votes @ loss.curvature(margin, chosen))
    return squares, bent


def _of_rows(evidence: Evidence, coefficient: Floats, trials: Floats) -> tuple[float, float]:
    problem = evidence.problem
    votes, theta = problem.votes, evidence.scores(coefficient)
    bias = evidence.common_bias(coefficient)
    follows = np.repeat(~evidence.active, np.diff(votes.offsets))
    squares, bent = 0.0, 0.0
    for start in range(0, votes.n_rows, _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        left, right, choice = votes.left[rows], votes.right[rows], votes.choice[rows]
        usable = follows[rows] & evidence.bounded[left] & evidence.bounded[right]
        weight = np.where(usable, problem.weight[rows], 0.0)
        margin = theta[left] - theta[right] + bias * votes.position_known[rows]
        slope = problem.loss.gradient(margin, choice)
        squares += float(np.sum(weight * weight / trials[rows] * slope**2))
        bent += float(weight @ problem.loss.curvature(margin, choice))
    return squares, bent
