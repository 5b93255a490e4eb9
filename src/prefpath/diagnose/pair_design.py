"""Distinct comparisons as a linear model sees them: margins, gradients and Newton's systems."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy import sparse

from prefpath.inference.slots import quadratic_form
from prefpath.model.design import Floats, Ints
from prefpath.pairs.keys import number_keys
from prefpath.pairs.systems import DENSE_COLUMNS, Matrix, gram


class Folding:
    """Ordered comparisons as unordered pairs: who was on the left does not matter to a score."""

    def __init__(self, left: Ints, right: Ints, n_items: int) -> None:
        self._swapped = left > right
        key = np.where(self._swapped, right * n_items + left, left * n_items + right)
        distinct, self._place = number_keys(key, n_items * n_items)
        self.left, self.right = distinct // n_items, distinct % n_items

    def fold(self, trials: Floats, wins: Floats) -> tuple[Floats, Floats]:
        """Trials of each pair, and wins of its first item."""
        first = np.where(self._swapped, trials - wins, wins)
        both = (np.bincount(self._place, each, len(self.left)) for each in (trials, first))
        all_trials, all_wins = (each.astype(np.float64) for each in both)
        return all_trials, all_wins


class PairDesign(Protocol):
    """The comparisons in the coefficients of a common model; a shared lean is the last."""

    n_coefficients: int

    def margins(self, coefficient: Floats) -> Floats: ...

    def pull_back(self, score: Floats) -> Floats:
        """`sum of score x` over the comparisons."""

    def system(self, information: Floats) -> Matrix:
        """`sum of information x x^T`."""


class ScoreDesign:
    """A coefficient for each item: sums over pairs, without a matrix of them."""

    def __init__(self, left: Ints, right: Ints, known: Ints | None, n_items: int) -> None:
        self._left, self._right, self._n_items = left, right, n_items
        self._known = None if known is None else known.astype(np.float64)
        self.n_coefficients = n_items + (known is not None)

    def margins(self, coefficient: Floats) -> Floats:
        apart: Floats = coefficient[self._left] - coefficient[self._right]
        return apart if self._known is None else apart + coefficient[-1] * self._known

    def pull_back(self, score: Floats) -> Floats:
        by_item: Floats = np.zeros(self._n_items)
        by_item += np.bincount(self._left, score, self._n_items)
        by_item -= np.bincount(self._right, score, self._n_items)
        return by_item if self._known is None else np.append(by_item, score @ self._known)

    def system(self, information: Floats) -> Matrix:
        position = np.zeros(len(information)) if self._known is None else self._known
        form = quadratic_form(self._left, self._right, information, position, self._n_items)
        return form[: self.n_coefficients, : self.n_coefficients]


class MatrixDesign:
    """Features of items, or so many items that a dense system would be too large."""

    def __init__(
        self, left: Ints, right: Ints, known: Ints | None, n_items: int, features: Floats | None
    ) -> None:
        incidence = _incidence(left, right, n_items)
        columns = [incidence if features is None else sparse.csr_matrix(incidence @ features)]
        if known is not None:
            columns.append(sparse.csr_matrix(known.astype(float)[:, None]))
        self._matrix = sparse.csr_matrix(sparse.hstack(columns, format="csr"))
        self.n_coefficients = int(self._matrix.shape[1])

    def margins(self, coefficient: Floats) -> Floats:
        return np.asarray(self._matrix @ coefficient)

    def pull_back(self, score: Floats) -> Floats:
        return np.asarray(self._matrix.T @ score)

    def system(self, information: Floats) -> Matrix:
        return gram(self._matrix, information)


def pair_design(
    left: Ints, right: Ints, known: Ints | None, n_items: int, features: Floats | None
) -> PairDesign:
    """Of comparisons, a row each; `known` is whether sides are, where a lean is shared."""
    if features is None and n_items < DENSE_COLUMNS:
        return ScoreDesign(left, right, known, n_items)
    return MatrixDesign(left, right, known, n_items, features)


def _incidence(left: Ints, right: Ints, n_items: int) -> sparse.csr_matrix:
    """One row for each distinct comparison: 1 at its left item, -1 at its right one."""
    rows, ones = np.arange(len(left)), np.ones(len(left))
    return sparse.csr_matrix(
        (np.r_[ones, -ones], (np.r_[rows, rows], np.r_[left, right])),
        shape=(len(left), n_items),
    )
