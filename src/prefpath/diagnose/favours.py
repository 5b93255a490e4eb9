"""One fit of all votes with a lean, a slope and a favour of own items for some annotators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from prefpath.machine import one_blas_thread
from prefpath.model.design import Floats, Ints
from prefpath.model.losses import Loss
from prefpath.votes import Votes
from prefpath.votes.trials import trials_of_rows
from prefpath.weak.margins import attenuation

# Up to so many annotators, all have a slope and a lean: a few judges make the scores.
_FEW = 50
# Standard deviations of priors, wide but of slopes, so that nothing runs away: scores, lean,
# slope (about 1), favour.
_SCORE, _LEAN, _SLOPE, _FAVOUR = 10.0, 5.0, 0.5, 5.0
_FLATTEST = 0.1  # share of a taste's variance that is left of it
_MOST_ROUNDS, _SETTLED = 100, 1e-8


def who_has_effects(votes: Votes, owners: Mapping[int, Ints]) -> Ints:
    """Codes of those who have a lean, a slope and a favour."""
    few = votes.n_annotators <= _FEW
    return np.arange(votes.n_annotators) if few else np.array(list(owners), dtype=np.int64)


def contested(votes: Votes, u: int, own: Ints) -> Ints:
    """Of each vote of an annotator: 1 if the left item alone is their own, -1 if the right is."""
    rows = slice(votes.offsets[u], votes.offsets[u + 1])
    left, right = (np.isin(part[rows], own) for part in (votes.left, votes.right))
    return left.astype(np.int64) - right.astype(np.int64)


class FavourRows(NamedTuple):
    """Votes; alike ones are one. `who` is a place among those with effects, or -1.

    `square` are the squares of what single votes weigh: a row of n votes that weigh w together has
    n of them, `w^2 / n`. `owners` are the places of those who have items of their own.
    """

    who: Ints
    left: Ints
    right: Ints
    side: Floats
    own: Floats
    choice: Floats
    weight: Floats
    square: Floats
    n_items: int
    n_known: int
    owners: Ints

    @classmethod
    def of(cls, votes: Votes, owners: Mapping[int, Ints]) -> FavourRows:
        known = who_has_effects(votes, owners)
        place = np.full(votes.n_annotators, -1)
        place[known] = np.arange(len(known))
        own = np.zeros(votes.n_rows, dtype=np.int64)
        for u, items in owners.items():
            own[votes.offsets[u] : votes.offsets[u + 1]] = contested(votes, u, items)
        who = np.repeat(place, np.diff(votes.offsets))
        values, choice = np.unique(votes.choice, return_inverse=True)
        side = votes.position_known.astype(np.int64)
        parts = (who + 1, votes.left, votes.right, side, own + 1, choice)
        sizes = (len(known) + 1, votes.n_items, votes.n_items, 2, 3, len(values))
        code = np.ravel_multi_index(tuple(np.asarray(part, np.int64) for part in parts), sizes)
        alike, row = np.unique(code, return_inverse=True)
        who, left, right, side, own, choice = np.unravel_index(alike, sizes)
        square = votes.weight**2 / np.maximum(trials_of_rows(votes), 1e-300)
        sums = (np.bincount(row, each, len(alike)) for each in (votes.weight, square))
        weight, square = (each.astype(np.float64) for each in sums)
        return cls(
            who=who - 1,
            left=left,
            right=right,
            side=side.astype(np.float64),
            own=np.asarray(own - 1.0, dtype=np.float64),
            choice=values[choice],
            weight=weight,
            square=square,
            n_items=votes.n_items,
            n_known=len(known),
            owners=place[list(owners)],
        )

    def at(self, parameters: Floats) -> tuple[Floats, sparse.csr_array]:
        """Margins, and their derivatives in scores, leans, slopes and favours."""
        n, k, who = self.n_items, self.n_known, np.maximum(self.who, 0)
        lean, slope, favour = (parameters[n + i * k : n + (i + 1) * k][who] for i in range(3))
        theirs = self.who >= 0
        apart = parameters[self.left] - parameters[self.right]
        seen = 1.0 + np.where(theirs, slope, 0.0)
        beside = lean * self.side + favour * self.own
        margin = seen * apart + np.where(theirs, beside, 0.0)
        values = (seen, -seen, *(theirs * part for part in (self.side, apart, self.own)))
        places = (self.left, self.right, n + who, n + k + who, n + 2 * k + who)
        ends = np.arange(0, 5 * len(who) + 1, 5)
        columns = np.stack(places, axis=1).ravel()
        size = (len(who), n + 3 * k)
        return margin, sparse.csr_array((np.stack(values, axis=1).ravel(), columns, ends), size)

    @property
    def favours(self) -> Ints:
        """Places of the owners' favours among the parameters."""
        return self.n_items + 2 * self.n_known + self.owners

    def sums(self, values: Floats) -> Floats:
        """Sums over the votes of each owner."""
        theirs = self.who >= 0
        sums = np.bincount(self.who[theirs], values[theirs], self.n_known)
        return np.asarray(sums[self.owners], dtype=np.float64)

    def ridge(self) -> Floats:
        """Inverse variances of the priors."""
        of_effects = np.repeat([_LEAN, _SLOPE, _FAVOUR], self.n_known)
        return np.append(np.full(self.n_items, _SCORE), of_effects) ** -2.0


class FavourFit(NamedTuple):
    """Parameters, the variances of the owners' favours, and the rows they are of."""

    parameters: Floats
    variance: Floats
    rows: FavourRows

    @property
    def favour(self) -> Floats:
        """How much more owners make of their own items, on the scale of scores."""
        return self.parameters[self.rows.favours]

    @property
    def error(self) -> Floats:
        """Its standard error."""
        return np.asarray(np.sqrt(self.variance))

    def margin_without_favour(self) -> Floats:
        """The margin of each row if nobody favoured their own."""
        without = self.parameters.copy()
        without[self.rows.favours] = 0.0
        return self.rows.at(without)[0]


def fit_favours(rows: FavourRows, loss: Loss) -> FavourFit:
    """The most likely parameters, by Fisher's scoring, and how far votes leave them open."""
    ridge, known = rows.ridge(), np.zeros(rows.n_items + 3 * rows.n_known)

    def height(parameters: Floats) -> float:
        margin, _ = rows.at(parameters)
        lost = float((rows.weight * loss.value(margin, rows.choice)).sum())
        return lost + 0.5 * float((ridge * parameters**2).sum())

    with one_blas_thread():
        for _ in range(_MOST_ROUNDS):
            margin, slopes = rows.at(known)
            pull = slopes.T @ (rows.weight * loss.gradient(margin, rows.choice)) + ridge * known
            step = _solved(rows, loss, known, pull)
            length, here = 1.0, height(known)
            while height(known - length * step) > here and length > 1e-4:
                length *= 0.5
            known = known - length * step
            if np.abs(step).max() < _SETTLED:
                break
        return FavourFit(known, _variances(rows, loss, known), rows)


def _products(slopes: sparse.csr_array, weight: Floats) -> sparse.csr_array:
    """Sum over the rows of a weight times the outer product of the derivatives."""
    return sparse.csr_array(slopes.T @ (slopes * weight[:, np.newaxis]))


def _solved(rows: FavourRows, loss: Loss, known: Floats, right: Floats) -> Floats:
    """The inverse of the information times a vector, or a column each."""
    margin, slopes = rows.at(known)
    information = _products(slopes, rows.weight * loss.curvature(margin, rows.choice)).toarray()
    information[np.diag_indices_from(information)] += rows.ridge()
    factor = linalg.cho_factor(information, lower=True, overwrite_a=True)
    return np.asarray(linalg.cho_solve(factor, right), dtype=np.float64)


def _variances(rows: FavourRows, loss: Loss, known: Floats) -> Floats:
    """By votes as they scatter; no less than the model says, where it has probabilities."""
    margin, slopes = rows.at(known)
    one = np.zeros((len(known), len(rows.owners)))
    one[rows.favours, np.arange(len(rows.owners))] = 1.0
    columns = _solved(rows, loss, known, one)

    def spread(of_vote: Floats) -> Floats:
        products = _products(slopes, rows.square * of_vote) @ columns
        return np.asarray(np.einsum("ij,ij->j", columns, products))

    scatter = spread(loss.gradient(margin, rows.choice) ** 2)
    if not loss.binary:
        return scatter
    prior = np.einsum("ij,ij->j", columns, rows.ridge()[:, np.newaxis] * columns)
    return np.maximum(scatter, spread(loss.curvature(margin, rows.choice)) + prior)


def usual_taste(found: FavourFit, loss: Loss) -> float:
    """Standard deviation of what annotators have for single items that are not their own.

    By moments. What pulls an item's score in an annotator's votes has the variance of chance, and
    more where tastes differ: a taste, less its part of the item's score, times the curvature.
    That is linear in a taste, and probabilities are not: large tastes, of both items of a vote,
    flatten each other.
    """
    rows, n = found.rows, found.rows.n_items
    margin, _ = rows.at(found.parameters)
    pull = rows.weight * loss.gradient(margin, rows.choice)
    curvature = rows.weight * loss.curvature(margin, rows.choice)
    of_vote = loss.curvature if loss.binary else lambda *at: loss.gradient(*at) ** 2
    chance = rows.square * of_vote(margin, rows.choice)
    cells = ((rows.who + 1) * n + part for part in (rows.left, rows.right))
    at, size = np.concatenate(list(cells)), (rows.n_known + 1) * n
    pulls, curvatures, chances = (
        np.bincount(at, np.concatenate(each), size).reshape(-1, n)
        for each in ((pull, -pull), (curvature, curvature), (chance, chance))
    )
    part = curvatures / np.maximum(curvatures.sum(axis=0), 1e-300)
    own = np.concatenate((rows.own > 0.0, rows.own < 0.0))
    theirs = np.bincount(at, own, size).reshape(-1, n) == 0.0
    theirs[0] = False  # the crowd without effects is nobody
    theirs &= part < 1.0
    excess = pulls**2 - chances * (1.0 - part)
    of_taste = curvatures**2 * ((1.0 - part) ** 2 + (part**2).sum(axis=0) - part**2)
    variance = excess[theirs].sum() / max(float(of_taste[theirs].sum()), 1e-300)
    both = float(attenuation(loss, np.array(2.0))) ** -2.0 - 1.0
    return float(np.sqrt(max(variance, 0.0) / max(1.0 - both * variance, _FLATTEST)))
