"""Scores where some items never lost or never won: best ones for those the votes bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prefpath.pairs.counts import PairCounts
from prefpath.pairs.fit import CommonFit, Derivatives, fit_counts
from prefpath.pairs.ford import bounded_items
from prefpath.votes.encode import BoolArray, CodeArray, FloatArray
from prefpath.votes.graph import components_of_pairs

# A normal prior with standard deviation 10 for scores the votes do not bound: far wider than
# any real score, yet finite.
_PRIOR_PRECISION = 0.01


@dataclass(frozen=True, eq=False)
class BoundedFit:
    """Scores of all items, and the fit of those whose scores the votes bound.

    Attributes
    ----------
    scores : array (n_items,)
        Best ones of the bounded items, which sum to zero in each component; a weak prior's of
        the others, beside them.
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
    """Fit the items the counts bound, and place the others by a weak prior.

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
    start: FloatArray = np.zeros(counts.n_items)
    start[bounded] = inner.scores
    scores = fit_counts(
        counts, derivatives, ridge=_PRIOR_PRECISION, start=start, component=component
    ).scores
    scores[bounded] = inner.scores
    return BoundedFit(scores, component, bounded, inner)
