"""Votes pooled by pair: counts, the graph they span, and common scores fitted to them."""

from prefpath.pairs.bounded import BoundedFit, fit_bounded
from prefpath.pairs.counts import PairCounts, PairIndex, pool_pairs, pool_votes
from prefpath.pairs.fit import CommonFit, fit_bradley_terry, fit_counts
from prefpath.pairs.ford import bounded_items, strong_components
from prefpath.pairs.placing import Placing, average_score
from prefpath.pairs.tiers import evidence_of_tiers

__all__ = [
    "BoundedFit",
    "CommonFit",
    "PairCounts",
    "PairIndex",
    "Placing",
    "average_score",
    "bounded_items",
    "evidence_of_tiers",
    "fit_bounded",
    "fit_bradley_terry",
    "fit_counts",
    "pool_pairs",
    "pool_votes",
    "strong_components",
]
