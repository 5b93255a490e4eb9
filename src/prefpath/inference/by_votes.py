"""Covariance of the common part where votes, not annotators, are the draws.

For *these* annotators only their votes could have come out otherwise. A vote of a follower moves
the common part by `P s x`; a vote of an annotator with a part of their own moves that part too,
and what is left for the common part is

    P s (x_c - A_co (A_oo + R)^-1 x_o)

with the curvature of `absorption`. The covariance is the sum of the squares of these, each slope
`s` divided by what the vote's own leverage leaves of it (HC3).
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from prefpath.inference.absorption import (
    absorb,
    annotator_coefficients,
    annotator_form,
    own_coefficients,
)
from prefpath.inference.consensus import in_coefficients
from prefpath.inference.evidence import Evidence, active_annotators
from prefpath.inference.unseen import lengths_of_comparisons
from prefpath.model.design import Floats, Ints
from prefpath.predict import Comparisons, state_margins
from prefpath.votes.trials import trials_of_rows

_MOST_LEVERAGE = 0.9  # a vote that alone tells of an item leaves nothing when removed


def vote_covariance(
    evidence: Evidence, coefficient: Floats, sizes: Floats, bread: Floats
) -> Floats:
    """Sandwich covariance of the common part, single votes being the draws."""
    rows = _usable_rows(evidence)
    square = _squared_slopes(evidence, coefficient, bread, rows)
    votes = evidence.problem.votes
    active = evidence.active[votes.annotator[rows]]
    meat = _follower_meat(evidence, rows[~active], square[~active])
    for u in active_annotators(evidence):
        mine = votes.annotator[rows] == u
        touched = annotator_coefficients(evidence, int(u))
        own = _active_meat(
            evidence, int(u), coefficient, float(sizes[u]), (rows[mine], square[mine])
        )
        meat[np.ix_(touched, touched)] += own
    result: Floats = bread @ meat @ bread
    return result


def n_votes_used(evidence: Evidence) -> float:
    """Votes on items whose score is bounded."""
    return float(trials_of_rows(evidence.problem.votes)[_usable_rows(evidence)].sum())


def _usable_rows(evidence: Evidence) -> Ints:
    votes = evidence.problem.votes
    return np.flatnonzero(evidence.bounded[votes.left] & evidence.bounded[votes.right])


def _squared_slopes(evidence: Evidence, coefficient: Floats, bread: Floats, rows: Ints) -> Floats:
    """Sum of `(w s / (1 - h))^2` over the votes of each row."""
    problem = evidence.problem
    votes = problem.votes
    asked = Comparisons.of(votes, rows)
    margin = state_margins(
        asked,
        theta=evidence.scores(coefficient),
        deviation=evidence.path.deviation(evidence.t),
        bias=evidence.own_bias,
        common_bias=evidence.common_bias(coefficient),
        features=problem.features,
    )
    n = np.maximum(trials_of_rows(votes)[rows], 1e-300)
    each = problem.weight[rows] / n
    position = votes.position_known[rows].astype(float)
    _, known = lengths_of_comparisons(
        evidence, votes.left[rows], votes.right[rows], position, bread
    )
    slope = problem.loss.gradient(margin, votes.choice[rows])
    curvature = problem.loss.curvature(margin, votes.choice[rows])
    leverage = np.minimum(each * curvature * known, _MOST_LEVERAGE)
    result: Floats = n * (each * slope / (1.0 - leverage)) ** 2
    return result


def _follower_meat(evidence: Evidence, rows: Ints, square: Floats) -> Floats:
    votes = evidence.problem.votes
    n_items = votes.n_items
    form = annotator_form(
        votes.left[rows],
        votes.right[rows],
        square,
        votes.position_known[rows].astype(float),
        n_items,
    )
    return in_coefficients(evidence, form)


def _active_meat(
    evidence: Evidence, u: int, coefficient: Floats, size: float, votes_of_u: tuple[Ints, Floats]
) -> Floats:
    """Meat of one annotator's votes, own part re-estimated, in the coefficients they touch."""
    problem, (rows, square) = evidence.problem, votes_of_u
    votes, design = problem.votes, problem.design
    seen = design.seen_item[design.seen[u] : design.seen[u + 1]]
    order = np.argsort(seen, kind="stable")
    a, b = (
        order[np.searchsorted(seen, side[rows], sorter=order)] for side in (votes.left, votes.right)
    )
    form = annotator_form(a, b, square, votes.position_known[rows].astype(float), len(seen))
    if problem.features is not None:
        wide = np.zeros((len(seen) + 1, problem.n_common + 1))
        wide[:-1, :-1], wide[-1, -1] = problem.features[seen], 1.0
        form = wide.T @ form @ wide
    absorbed = absorb(evidence, u, coefficient, size)
    projection = np.eye(len(absorbed.full), len(form))
    own = own_coefficients(evidence, u)
    taken = linalg.cho_solve((absorbed.factor, True), absorbed.across, check_finite=False)
    projection[:, own] -= taken.T
    result: Floats = projection @ form @ projection.T
    return result
