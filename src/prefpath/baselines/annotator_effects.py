"""Logistic choice with effects of annotators: taste, lean and slope, under ridge or L1."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import optimize, sparse
from scipy.special import expit

from prefpath.baselines.training import Design, Training
from prefpath.errors import VoteWarning
from prefpath.pairs.keys import number_keys
from prefpath.votes.encode import CodeArray, FloatArray, IntArray

Slope = Literal["none", "linear", "log"]
_Block = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


class Precisions(NamedTuple):
    """Precision of the normal prior of each block; infinite is "not in the model".

    With `l1` the precisions of taste and lean are rates of a Laplace prior.
    """

    score: float
    taste: float = np.inf
    lean: float = np.inf
    slope: float = np.inf


@dataclass(frozen=True, eq=False)
class Tastes:
    """Deviations of annotators: on the items they saw, or on the features.

    Attributes
    ----------
    key : array of int or None
        `annotator * n_items + item` of each deviation, in order; None with features.
    value : array
        Deviations; with features a row for each annotator, and one of zeros for strangers.
    """

    key: IntArray | None
    value: FloatArray
    features: FloatArray | None
    n_items: int

    def difference(
        self, annotator: IntArray, left: IntArray | CodeArray, right: IntArray | CodeArray
    ) -> FloatArray:
        """How much further apart annotators see two items than everybody does."""
        if self.features is not None:
            apart = self.features[left] - self.features[right]
            return np.asarray(np.einsum("rd,rd->r", apart, self.value[annotator]))
        return self._own(annotator, left) - self._own(annotator, right)

    def _own(self, annotator: IntArray, item: IntArray | CodeArray) -> FloatArray:
        if self.key is None or not len(self.key):
            return np.zeros(len(item))
        wanted = annotator * self.n_items + item
        place = np.minimum(np.searchsorted(self.key, wanted), len(self.key) - 1)
        return np.where(self.key[place] == wanted, self.value[place], 0.0)


@dataclass(frozen=True, eq=False)
class Effects:
    """What was learnt of the annotators; the last entry is of somebody unknown (code -1)."""

    multiplier: FloatArray
    lean: FloatArray
    tastes: Tastes | None


@dataclass(frozen=True, eq=False)
class EffectsModel:
    """Votes with weight as a likelihood in scores, tastes, leans and slopes.

    `margin = a(slope_u) * (score_i - score_j) + taste_ui - taste_uj + lean_u`, with a = 1,
    1 + slope or exp(slope). A tie is half a win and half a loss.
    """

    common: Design
    taste: sparse.csr_array
    taste_key: IntArray | None
    who: IntArray
    known: FloatArray
    won: FloatArray
    weight: FloatArray
    n_annotators: int
    slope: Slope

    @classmethod
    def of(cls, training: Training, *, slope: Slope, with_taste: bool) -> EffectsModel:
        rows = np.flatnonzero(training.weight > 0)
        votes = training.votes
        left, right = votes.left[rows].astype(np.int64), votes.right[rows].astype(np.int64)
        who = votes.annotator[rows].astype(np.int64)
        common = training.differences(left, right)
        key, taste = None, sparse.csr_array((len(rows), 0))
        if with_taste and training.features is None:
            key, taste = _item_tastes(who, left, right, votes.n_items, votes.n_annotators)
        elif with_taste:
            taste = _feature_tastes(who, common, votes.n_annotators)
        return cls(
            common=common,
            taste=taste,
            taste_key=key,
            who=who,
            known=votes.position_known[rows].astype(np.float64),
            won=(np.sign(votes.choice[rows]) + 1.0) / 2.0,
            weight=training.weight[rows],
            n_annotators=votes.n_annotators,
            slope=slope,
        )

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """Scores' coefficients, tastes, leans and slopes."""
        return (self.common.shape[1], self.taste.shape[1], self.n_annotators, self.n_annotators)

    def blocks(self, parameters: FloatArray) -> _Block:
        ends = np.cumsum(self.sizes)[:-1]
        score, taste, lean, slope = np.split(parameters, ends)
        return score, taste, lean, slope

    def loss_and_gradient(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Negative log-likelihood of the votes, summed; no penalty in it."""
        score, taste, lean, slope = self.blocks(parameters)
        apart = self.common @ score
        factor, change = multiplier_of(self.slope, slope)
        margin = factor[self.who] * apart + self.taste @ taste + self.known * lean[self.who]
        loss = float(self.weight @ (np.logaddexp(0.0, margin) - self.won * margin))
        pull = self.weight * (expit(margin) - self.won)
        return loss, np.concatenate(
            [
                self.common.T @ (pull * factor[self.who]),
                self.taste.T @ pull,
                np.bincount(self.who, pull * self.known, self.n_annotators),
                np.bincount(self.who, pull * apart, self.n_annotators) * change,
            ]
        )

    def curvature_bound(self) -> FloatArray:
        """A bound of the loss's second derivatives, at slopes of 1 and margins of 1."""
        quarter = 0.25 * self.weight
        squares = [part.multiply(part) if sparse.issparse(part) else part**2
                   for part in (self.common, self.taste)]  # fmt: skip
        votes = np.bincount(self.who, quarter, self.n_annotators)
        sums = [np.ravel(part.T @ quarter) for part in squares]
        return np.concatenate([*sums, votes, votes])


def _item_tastes(
    who: IntArray, left: IntArray, right: IntArray, n_items: int, n_annotators: int
) -> tuple[IntArray, sparse.csr_array]:
    """A column for each item an annotator saw: 1 where it was left, -1 where it was right."""
    both = np.concatenate([who * n_items + left, who * n_items + right])
    key, place = number_keys(both, n_items * n_annotators)
    rows = np.tile(np.arange(len(who)), 2)
    values = np.repeat([1.0, -1.0], len(who))
    shape = (len(who), len(key))
    return key, sparse.csr_array((values, (rows, place.astype(np.int64))), shape=shape)


def _feature_tastes(who: IntArray, common: FloatArray, n_annotators: int) -> sparse.csr_array:
    n_rows, d = common.shape
    columns = (who[:, None] * d + np.arange(d)).ravel()
    starts = np.arange(n_rows + 1) * d
    return sparse.csr_array((common.ravel(), columns, starts), shape=(n_rows, n_annotators * d))


def multiplier_of(kind: Slope, slope: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What score differences are multiplied by, and its derivative."""
    if kind == "log":
        factor = np.exp(slope)
        return factor, factor
    if kind == "linear":
        return 1.0 + slope, np.ones_like(slope)
    return np.ones_like(slope), np.zeros_like(slope)


def fit_effects(
    model: EffectsModel, precisions: Precisions, *, start: FloatArray, l1: bool = False
) -> FloatArray:
    """Parameters of the largest penalised likelihood near `start`, by L-BFGS.

    Parameters are scaled by the root of a bound of their curvature, so that an item with
    thousands of votes and an annotator with three move alike. An L1 part is the difference of two
    parts that are not negative, on which the penalty is linear.
    """
    per_block = np.repeat(np.array(precisions, dtype=float), model.sizes)
    free = np.isfinite(per_block)
    laplace = np.repeat([False, l1, l1, False], model.sizes) & free
    ridge = np.where(free & ~laplace, per_block, 0.0)
    scale = 1.0 / np.sqrt(model.curvature_bound() + ridge + 1e-12)
    rate = (per_block * scale)[laplace]

    def objective(z: FloatArray) -> tuple[float, FloatArray]:
        x = _unfold(z, free, laplace) * scale
        loss, gradient = model.loss_and_gradient(x)
        loss += 0.5 * float(ridge @ x**2) + float(
            rate @ (z[: len(rate)] + z[-len(rate) or len(z) :])
        )
        gradient = (gradient + ridge * x) * scale
        return loss, _fold(gradient, free, laplace, rate)

    z = _fold_point(start / scale, free, laplace)
    bounds = None
    if l1:
        n_l1 = len(rate)
        bounds = [(0, None)] * n_l1 + [(None, None)] * (len(z) - 2 * n_l1) + [(0, None)] * n_l1
    return _unfold(_minimise(objective, z, bounds), free, laplace) * scale


def _minimise(objective: Any, start: FloatArray, bounds: Any) -> FloatArray:
    options = {"maxiter": 1000, "maxfun": 2000, "ftol": 1e-10, "gtol": 1e-5, "maxcor": 20}
    found = optimize.minimize(
        objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    if not found.success:
        warnings.warn(f"the fit did not converge: {found.message}", VoteWarning, stacklevel=4)
    return np.asarray(found.x, dtype=float)


# Folded order: positive parts of the L1 parameters, the ridge ones, negative parts.


def _unfold(z: FloatArray, free: np.ndarray, laplace: np.ndarray) -> FloatArray:
    n_l1 = int(laplace.sum())
    x = np.zeros(len(free))
    x[laplace] = z[:n_l1] - z[len(z) - n_l1 :]
    x[free & ~laplace] = z[n_l1 : len(z) - n_l1]
    return x


def _fold(
    gradient: FloatArray, free: np.ndarray, laplace: np.ndarray, rate: FloatArray
) -> FloatArray:
    along = gradient[laplace]
    return np.concatenate([along + rate, gradient[free & ~laplace], rate - along])


def _fold_point(x: FloatArray, free: np.ndarray, laplace: np.ndarray) -> FloatArray:
    own = x[laplace]
    return np.concatenate([np.maximum(own, 0.0), x[free & ~laplace], np.maximum(-own, 0.0)])
