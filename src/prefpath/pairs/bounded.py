"""Scores where some items never lost or never won: best ones for those the votes bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prefpath.pairs.counts import PairCounts
from prefpath.pairs.fit import CommonFit, Derivatives, fit_counts
from prefpath.pairs.ford import bounded_items
from prefpath.pairs.placing import Placing
from prefpath.votes.encode import BoolArray, CodeArray, FloatArray
from prefpath.votes.graph import components_of_pairs


@dataclass(frozen=True, eq=False)
class BoundedFit:
    """Scores of all items, and the fit of those whose scores the votes bound.

    Attributes
    ----------
    scores : array (n_items,)
        Best ones of the bounded items, which sum to zero in each component; of the others,
        beside them, an estimate drawn to the average item (`Placing`).
    component : array of int (n_items,)
    bounded : array of bool (n_items,)
    inner : CommonFit
        Of the bounded items alone, in their order.
    """

    scores: FloatArray
    component: CodeArray
    bounded: BoolArray
    inner: CommonFit


def fit_bounded(counts: PairCounts, derivatives: Derivatives, *, binary: bool) -> BoundedFit:
    """Fit the items the counts bound, and place the others beside them.

    Parameters
    ----------
    derivatives : callable
        As in `fit_counts`.
    binary : bool
        Whether scores are bounded by Ford's condition only; else it is enough to be compared.
    """
    component = components_of_pairs(counts.first, counts.second, counts.n_items)
    group = None if binary else component
    bounded = bounded_items(counts, component, group=group)
    if bounded.all():
        inner = fit_counts(counts, derivatives, component=component)
        return BoundedFit(inner.scores, component, bounded, inner)
    inner = fit_counts(counts.among(bounded), derivatives)
    scores: FloatArray = np.zeros(counts.n_items)
    scores[bounded] = inner.scores
    scores = Placing(counts, component, bounded, derivatives).of(scores)
    return BoundedFit(scores, component, bounded, inner)
