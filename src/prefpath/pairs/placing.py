"""Where items stand whose scores the votes do not bound: an estimate drawn to the average item.

An item that only won has no best score: the likelihood rises for ever, after one vote as after a
hundred. A normal prior with the spread of these items' scores ends it where the votes are no
longer worth the distance: near the average after one vote, above everybody after many.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

from prefpath.pairs.counts import PairCounts
from prefpath.pairs.fit import Derivatives, fit_counts
from prefpath.pairs.laplacian import PairGraph
from prefpath.pairs.newton import minimise
from prefpath.votes.encode import BoolArray, CodeArray, FloatArray

_USUAL, _PSEUDO = 1.0, 2.0  # spread of scores in logits, and how many items it is worth
_LEAST, _MOST = 0.1, 5.0
_MOST_STEPS, _CLOSE = 10, 0.05


@dataclass(frozen=True, eq=False)
class Placing:
    """Scores as a board shows them: level with the bounded items, the others drawn to them.

    Attributes
    ----------
    counts : PairCounts
    component : array of int (n_items,)
    bounded : array of bool (n_items,)
        Items whose scores are known; they keep their distances.
    derivatives : callable
        As in `fit_counts`.

    Examples
    --------
    >>> from prefpath.pairs.counts import pool_pairs
    >>> from prefpath.pairs.fit import logistic_derivatives
    >>> left, right = np.array([0, 1, 0, 2]), np.array([1, 0, 1, 0])
    >>> counts = pool_pairs(left, right, np.ones(4), n_items=3)  # item 2 won its only vote
    >>> one = np.zeros(3, dtype=np.int32)
    >>> placing = Placing(counts, one, np.array([True, True, False]), logistic_derivatives)
    >>> placing.of(np.array([0.35, -0.35, 9.0])).round(2)
    array([ 0.35, -0.35,  0.5 ])
    """

    counts: PairCounts
    component: CodeArray
    bounded: BoolArray
    derivatives: Derivatives

    def of(self, scores: FloatArray) -> FloatArray:
        """The scores with the mean of bounded items at zero, and the others beside them."""
        if self.bounded.all():
            return scores
        placed = scores - average_score(scores, self.component, self.bounded)
        placed[~self.bounded] = 0.0
        return self._with_others(placed)

    @cached_property
    def spread(self) -> float:
        """Standard deviation of the items' scores, by marginal likelihood.

        The fixed point of MacKay: their sum of squares over how many of them the votes tell,
        each taken by itself. A few items that say nothing else stand for one logit.
        """
        spread, scores = _USUAL, np.zeros(self.counts.n_items)
        for _ in range(_MOST_STEPS):
            precision = spread**-2
            fitted = fit_counts(
                self.counts,
                self.derivatives,
                ridge=precision,
                start=scores,
                component=self.component,
            )
            scores, before = fitted.scores, spread
            told = self.counts.at_items(fitted.curvature, fitted.curvature)
            told = told / (told + precision)
            free = max(float(told.sum()) - 1.0 - float(self.component.max()), 0.0)
            above = float(scores @ scores) + _PSEUDO * _USUAL**2
            spread = float(np.clip(np.sqrt(above / (free + _PSEUDO)), _LEAST, _MOST))
            if abs(np.log(spread / before)) < _CLOSE:
                break
        return spread

    def _with_others(self, known: FloatArray) -> FloatArray:
        """The most likely scores of the other items, the known ones held."""
        loose, counts = ~self.bounded, self.counts
        near = loose[counts.first] | loose[counts.second]
        first, second, weight = counts.first[near], counts.second[near], counts.weight[near]
        precision = self.spread**-2
        graph = PairGraph(counts.n_items, first, second, self.component, precision)

        def evaluate(others: FloatArray) -> tuple[FloatArray, FloatArray]:
            scores = _filled(known, loose, others)
            slope, curvature = self.derivatives(graph.differences(scores), counts.choice[near])
            return graph.divergence(weight * slope)[loose] + precision * others, weight * curvature

        def step(curvature: FloatArray, slope: FloatArray) -> FloatArray:
            matrix = sparse.csc_array(graph.matrix(curvature)[loose][:, loose])
            return np.atleast_1d(np.asarray(spsolve(matrix, slope)))

        found = minimise(evaluate, step, np.zeros(int(loose.sum())))
        return _filled(known, loose, found.coefficient)


def average_score(scores: FloatArray, component: CodeArray, bounded: BoolArray) -> FloatArray:
    """For each item the mean score of its component's bounded items, or of all if none is.

    >>> scores, component = np.array([1.0, 3.0, 9.0, 5.0]), np.array([0, 0, 0, 1])
    >>> average_score(scores, component, np.array([True, True, False, False]))
    array([2., 2., 2., 5.])
    """
    some = np.bincount(component, bounded) > 0
    counted = (bounded | ~some[component]).astype(np.float64)
    mean = np.bincount(component, counted * scores) / np.bincount(component, counted)
    level: FloatArray = mean[component]
    return level


def _filled(known: FloatArray, loose: BoolArray, others: FloatArray) -> FloatArray:
    scores = known.copy()
    scores[loose] = others
    return scores
