"""Sandwich and unseen variance by plain NumPy, vote by vote: nothing of the package's own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from prefpath import Votes


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
