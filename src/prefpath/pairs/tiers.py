"""Items that only won or only lost: whom they surely stand above or below all the same.

Their scores have no finite best value, so no standard error tells. The likelihood does: of a pair
it asks how much worse the votes fit if both items are equally good.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from prefpath.pairs.counts import PairCounts, pool_pairs
from prefpath.pairs.fit import fit_bradley_terry
from prefpath.pairs.ford import strong_components
from prefpath.votes.encode import BoolArray, FloatArray

_MOST_FITS = 400
"""Fits asked for at most; items with the most votes come first, and the rest stays undecided."""


def evidence_of_tiers(counts: PairCounts, loose: BoolArray) -> dict[int, FloatArray]:
    """For each loose item, how surely it is above every other, as a signed log-likelihood.

    It is what the best log-likelihood loses if the two items are equal; negative where the item
    is below, 0 where the votes put neither above the other. An outcome in which one side won
    everything is the end of its tail: its probability is `exp` of minus the loss, 2^-n for n
    direct votes, where the usual quantile of a likelihood ratio would promise far too much.

    Examples
    --------
    >>> left, right = np.array([0, 0, 1, 1, 2, 2]), np.array([1, 2, 2, 2, 0, 0])
    >>> choice = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    >>> counts = pool_pairs(left, right, choice, n_items=3)
    >>> evidence_of_tiers(counts, np.array([True, False, False]))[0].round(2)  # four wins of item 0
    array([0.  , 1.81, 2.6 ])
    """
    every = np.flatnonzero(loose)
    every = every[np.argsort(-counts.item_weight[every], kind="stable")]
    affordable = every[: max(1, _MOST_FITS // max(1, counts.n_items))]
    if not len(affordable) or counts.n_items > _MOST_FITS:
        return {}
    best = _log_likelihood(counts)
    return {int(item): _losses(counts, int(item), best) for item in affordable}


def _losses(counts: PairCounts, item: int, best: float) -> FloatArray:
    found: FloatArray = np.zeros(counts.n_items)
    below, above = _reached(counts, item)
    for other in np.flatnonzero(below ^ above):  # both: one tier, and its scores are finite
        between = np.log(2.0) * _weight_between(counts, item, int(other))
        lost = best - _log_likelihood(_merged(counts, item, int(other))) + between
        found[other] = (1.0 if below[other] else -1.0) * max(lost, 0.0)
    return found


def _log_likelihood(counts: PairCounts) -> float:
    """Bradley-Terry's, at its supremum: between tiers every vote has probability one."""
    return sum(map(_log_likelihood_of_tier, _tiers(counts)), 0.0)


def _tiers(counts: PairCounts) -> Iterator[PairCounts]:
    tier = strong_components(counts)
    for one in np.flatnonzero(np.bincount(tier) > 1):
        yield counts.among(tier == one)


def _log_likelihood_of_tier(counts: PairCounts) -> float:
    scores = fit_bradley_terry(counts).scores
    margin = scores[counts.first] - scores[counts.second]
    lost = counts.wins @ np.logaddexp(0.0, -margin) + counts.losses @ np.logaddexp(0.0, margin)
    return -float(lost)


def _merged(counts: PairCounts, item: int, other: int) -> PairCounts:
    """The counts with both as one item; what they said of each other is left out."""
    first, second = (np.where(side == other, item, side) for side in (counts.first, counts.second))
    kept = first != second
    return pool_pairs(
        first[kept], second[kept], counts.choice[kept], counts.weight[kept], n_items=counts.n_items
    )


def _weight_between(counts: PairCounts, item: int, other: int) -> float:
    same = (counts.first == min(item, other)) & (counts.second == max(item, other))
    return float(counts.weight[same].sum())


def _reached(counts: PairCounts, item: int) -> tuple[BoolArray, BoolArray]:
    """Whom the item is above along wins, and whom it is below."""
    first_won, second_won = counts.choice > -1.0, counts.choice < 1.0
    winner = np.concatenate((counts.first[first_won], counts.second[second_won]))
    loser = np.concatenate((counts.second[first_won], counts.first[second_won]))
    shape = (counts.n_items, counts.n_items)
    beaten = sparse.coo_array((np.ones(len(winner)), (winner, loser)), shape=shape).tocsr()
    masks = []
    for graph in (beaten, beaten.T.tocsr()):
        mask = np.zeros(counts.n_items, dtype=bool)
        mask[csgraph.breadth_first_order(graph, item, return_predecessors=False)] = True
        mask[item] = False
        masks.append(mask)
    return masks[0], masks[1]
