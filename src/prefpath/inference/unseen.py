"""Tastes too faint to have been found: by how much they flatten the common score.

Among those who seem to follow the crowd many differ a little. Averaged over them a choice is
less decided than their average taste, so that scores fitted without their deviations come out
too small (marginal against conditional effects; Zeger, Liang and Albert 1988). With unseen
deviations of variance tau^2 in each coefficient, to second order,

    score - truth  =  P  sum over followers' comparisons of  w L'''(margin) tau^2 ||x||^2 / 2 x,

and tau^2 shows in how far the gradients of whole annotators exceed what single votes make of
them: `E ||g_u||^2 = tr A_u + tau^2 ||A_u||^2`. Annotators count by what their votes tell,
because light voters' tastes stay unseen for longest.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from prefpath.inference.absorption import annotator_coefficients, own_hessian
from prefpath.inference.evidence import Evidence, pooled_target
from prefpath.model.design import Floats, Ints

_MOST_ASKED = 2_000  # followers the variance is estimated from
_DIFFERENCE = 1e-4


def flattening(
    evidence: Evidence, coefficient: Floats, bread: Floats, gradient: sparse.csr_array
) -> Floats:
    """Expected error of the common part that comes of tastes nobody has found."""
    variance = unseen_variance(evidence, coefficient, bread, gradient)
    if variance == 0.0:
        return np.zeros(evidence.n_coefficients)
    result: Floats = bread @ (variance * _drift(evidence, coefficient))
    return result


def unseen_variance(
    evidence: Evidence, coefficient: Floats, bread: Floats, gradient: sparse.csr_array
) -> float:
    """`tau^2` among followers, weighted by what their votes tell; 0 where nothing shows."""
    excess, told = 0.0, 0.0
    for u in _asked(evidence):
        touched = annotator_coefficients(evidence, u)
        if evidence.problem.common_position:
            touched = touched[:-1]
        own = own_hessian(evidence, u, coefficient)[:-1, :-1]
        size = float((own**2).sum())
        if size == 0.0:
            continue
        # Rows hold the coefficients touched, in this order (and the position, if common, last).
        pull = gradient.data[gradient.indptr[u] : gradient.indptr[u + 1]][: len(touched)]
        # The consensus was fitted to u's votes too, which took a little off their gradient.
        fitted = float(np.sum(own * (bread[np.ix_(touched, touched)] @ own)))
        weight = float(np.trace(own))
        excess += weight * (float(pull @ pull) - weight + fitted) / size
        told += weight
    return max(excess / told, 0.0) if told > 0 else 0.0


def _asked(evidence: Evidence) -> Ints:
    """Followers with more than one comparison: all, or evenly many of each activity."""
    cells = np.diff(evidence.problem.design.cells)
    followers = np.flatnonzero(~evidence.active & (cells > 1))
    if len(followers) > _MOST_ASKED:
        order = np.argsort(cells[followers], kind="stable")
        chosen = np.linspace(0, len(followers) - 1, _MOST_ASKED).astype(np.int64)
        followers = followers[order[chosen]]
    return followers.astype(np.int64)


def _drift(evidence: Evidence, coefficient: Floats) -> Floats:
    """`sum w L''' ||x||^2 / 2 x` over the followers' comparisons."""
    problem, slots = evidence.problem, evidence.slots
    follows = (~evidence.active).astype(float)[:, None]
    weight, pull = (column[:, 0] for column in pooled_target(evidence, follows))
    choice = np.divide(pull, weight, out=np.zeros_like(pull), where=weight > 0)
    theta = evidence.scores(coefficient)
    margin = theta[slots.left] - theta[slots.right] + slots.offset
    margin += slots.position * evidence.common_bias(coefficient)
    bends = [problem.loss.curvature(margin + s * _DIFFERENCE, choice) for s in (1.0, -1.0)]
    third = (bends[0] - bends[1]) / (2.0 * _DIFFERENCE)
    size = 2.0
    if problem.features is not None:
        apart = problem.features[slots.left] - problem.features[slots.right]
        size = (apart**2).sum(axis=1)
    slope = weight * third * size / 2.0
    n_items = problem.votes.n_items
    by_item: Floats = np.zeros(n_items)
    by_item += np.bincount(slots.left, slope, n_items)
    by_item -= np.bincount(slots.right, slope, n_items)
    drift = problem.pull_back(by_item)
    if not problem.common_position:
        return drift
    return np.append(drift, float(slope @ slots.position))
