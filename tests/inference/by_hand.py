"""Sandwich and unseen variance by plain NumPy, vote by vote: nothing of the package's own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from prefpath import Votes
from prefpath.inference.evidence import Evidence


class PlainVotes(NamedTuple):
    """One entry for each single vote; x has a column for each item and, if asked, the position."""

    annotator: np.ndarray
    x: np.ndarray
    won: np.ndarray
    n_items: int

    @classmethod
    def of(cls, votes: Votes, position: bool = False) -> PlainVotes:
        times = votes.count
        who, left, right = (
            np.repeat(values, times) for values in (votes.annotator, votes.left, votes.right)
        )
        x = np.zeros((len(who), votes.n_items + position))
        x[np.arange(len(who)), left] += 1.0
        x[np.arange(len(who)), right] -= 1.0
        if position:
            x[:, -1] = np.repeat(votes.position_known, times)
        won = (1.0 + np.repeat(votes.choice, times)) / 2.0
        return cls(who, x, won, votes.n_items)


class PlainSandwich(NamedTuple):
    coefficient: np.ndarray
    bread: np.ndarray
    covariance: np.ndarray
    unclustered: np.ndarray


def _logistic(margin: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-margin))


def fit(votes: PlainVotes) -> np.ndarray:
    """Bradley-Terry by a general minimiser, scores with mean zero."""

    def loss(b: np.ndarray) -> float:
        margin = votes.x @ b
        return float(np.sum(np.logaddexp(0.0, margin) - votes.won * margin))

    def slope(b: np.ndarray) -> np.ndarray:
        return votes.x.T @ (_logistic(votes.x @ b) - votes.won)

    b = minimize(loss, np.zeros(votes.x.shape[1]), jac=slope, method="BFGS", tol=1e-10).x
    b[: votes.n_items] -= b[: votes.n_items].mean()
    return b


def _parts(votes: PlainVotes, coefficient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    p = _logistic(votes.x @ coefficient)
    return p - votes.won, p * (1.0 - p)


def sandwich(votes: PlainVotes) -> PlainSandwich:
    """CR3: leave-one-annotator-out gradients, centred, times (n - 1) / n."""
    coefficient = fit(votes)
    s, c = _parts(votes, coefficient)
    bread = np.linalg.pinv((votes.x * c[:, None]).T @ votes.x, rcond=1e-10, hermitian=True)
    pulls = []
    for u in np.unique(votes.annotator):
        mine = votes.annotator == u
        x = votes.x[mine]
        own = (x * c[mine, None]).T @ x
        pulls.append(np.linalg.solve(np.eye(len(own)) - own @ bread, x.T @ s[mine]))
    pull = np.array(pulls)
    n = len(pull)
    apart = pull - pull.mean(axis=0)
    meat = (n - 1) / n * apart.T @ apart
    dispersion = np.sum(s**2) / np.sum(c)
    return PlainSandwich(coefficient, bread, bread @ meat @ bread, dispersion * bread)


def unseen_variance(votes: PlainVotes) -> float:
    """tau^2 from products of different votes of one annotator, pair by pair.

    Everybody is taken to be equally active: one ratio of sums.
    """
    coefficient = fit(votes)
    s, c = _parts(votes, coefficient)
    bread = np.linalg.pinv((votes.x * c[:, None]).T @ votes.x, rcond=1e-10, hermitian=True)
    above = below = 0.0
    for u in np.unique(votes.annotator):
        mine = np.flatnonzero(votes.annotator == u)
        for r in mine:
            for q in mine:
                if r == q:
                    continue
                both = float(votes.x[r, : votes.n_items] @ votes.x[q, : votes.n_items])
                known = float(votes.x[r] @ bread @ votes.x[q])
                above += both * (s[r] * s[q] + c[r] * c[q] * known)
                below += c[r] * c[q] * both**2
    return above / below


class Follower(NamedTuple):
    """What an annotator says of the common part: their pull and their curvature."""

    pull: np.ndarray
    curvature: np.ndarray


def beside_own_parts(evidence: Evidence, coefficient: np.ndarray) -> list[Follower]:
    """Pull and curvature of everybody at a consensus, by the formulas of `absorption`.

    For items without features and the group penalty, whose deviations have to be there: of those
    who deviate, the penalty balances the pull, and their own part is estimated again.
    """
    problem, path = evidence.problem, evidence.path
    plain = PlainVotes.of(problem.votes, position=True)
    n_items, rate = plain.n_items, problem.total_weight / evidence.t
    n_common = len(coefficient)
    with_position = np.append(coefficient, np.zeros(n_items + 1 - n_common))
    found = []
    for u in range(problem.votes.n_annotators):
        mine = plain.annotator == u
        x = plain.x[mine]
        seen = np.flatnonzero(np.abs(x[:, :n_items]).any(axis=0))
        own = np.zeros(n_items + 1)
        own[seen], own[-1] = evidence.own[path.blocks[u] : path.blocks[u + 1]], evidence.own_bias[u]
        p = _logistic(x @ (with_position + own))
        slope, hessian = x.T @ (p - plain.won[mine]), (x * (p * (1.0 - p))[:, None]).T @ x
        if own.any():
            slope, hessian = _absorbed(evidence, u, Own(seen, own, slope, hessian, rate))
        found.append(Follower(slope[:n_common], hessian[:n_common, :n_common]))
    return found


class Own(NamedTuple):
    """One annotator's own part over all items and the position, and their derivatives there."""

    seen: np.ndarray
    value: np.ndarray
    slope: np.ndarray
    hessian: np.ndarray
    rate: float


def _absorbed(evidence: Evidence, u: int, own: Own) -> tuple[np.ndarray, np.ndarray]:
    kappa, rate = evidence.path.kappa, own.rate
    deviation, bias = own.value[:-1], own.value[-1]
    pull, held = own.slope.copy(), np.eye(len(own.value)) / kappa
    active = []
    if deviation.any():
        price, length = evidence.problem.deviation_threshold[u], np.linalg.norm(deviation)
        along = deviation / length
        stiffness = along @ own.hessian[:-1, :-1] @ along
        size = length - (rate * price + own.slope[:-1] @ along) / stiffness
        size = max(size, rate * price / (1e3 * stiffness))
        held[:-1, :-1] += price / size * (np.eye(len(along)) - np.outer(along, along))
        pull[own.seen] = -rate * (price * along + deviation / kappa)[own.seen]
        active.extend(own.seen.tolist())
    if bias:
        side = evidence.problem.position_threshold[u]
        pull[-1] = -rate * (side * np.sign(bias) + bias / kappa)
        active.append(len(own.value) - 1)
    among = np.ix_(active, active)
    across = own.hessian[active]
    left = own.hessian - across.T @ np.linalg.solve((own.hessian + rate * held)[among], across)
    return pull, left


def jackknifed(of: list[Follower]) -> tuple[np.ndarray, np.ndarray]:
    """Bread and CR3 covariance of pulls and curvatures."""
    bread = np.linalg.pinv(sum(one.curvature for one in of), rcond=1e-10, hermitian=True)
    pull = np.array(
        [np.linalg.solve(np.eye(len(bread)) - one.curvature @ bread, one.pull) for one in of]
    )
    apart, n = pull - pull.mean(axis=0), len(pull)
    return bread, bread @ ((n - 1) / n * apart.T @ apart) @ bread
