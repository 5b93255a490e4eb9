"""The trust panel: can a ranking of these votes be trusted? From the data alone."""

from __future__ import annotations

from prefpath.population import About
from prefpath.trust.annotators import (
    check_dominance,
    check_left_out,
    check_one_order,
    check_one_side,
    check_orders_of_pairs,
    check_ties,
    check_votes_per_annotator,
    count_orders,
)
from prefpath.trust.circles import check_circles
from prefpath.trust.copies import check_copies
from prefpath.trust.items import (
    check_finite_scores,
    check_one_scale,
    check_outcome,
    check_votes_per_item,
)
from prefpath.trust.meetings import Meetings
from prefpath.trust.panel import TrustCheck, TrustPanel
from prefpath.trust.population import check_population
from prefpath.trust.repeats import check_repeats
from prefpath.votes import Votes

__all__ = ["TrustCheck", "TrustPanel", "trust_panel"]


def trust_panel(votes: Votes, *, about: About | None = None) -> TrustPanel:
    """Ask of votes whether a ranking made from them can be trusted.

    `about` is whom its intervals are to speak for, as in `PreferenceModel.ranking`.

    Examples
    --------
    >>> votes = Votes.from_arrays(["ann", "ann"], ["x", "v"], ["y", "w"], [1, 1])
    >>> panel = trust_panel(votes)
    >>> panel["one scale"].status
    'fail'
    >>> panel["one scale"].finding
    'the items fall into 2 groups that were never compared with each other'
    """
    met = Meetings.of(votes)
    orders = count_orders(met)
    return TrustPanel(
        n_votes=votes.n_votes,
        n_annotators=votes.n_annotators,
        n_items=votes.n_items,
        n_pairs=orders.n_pairs,
        checks=(
            check_left_out(votes),
            check_one_scale(votes, met),
            check_votes_per_item(votes),
            check_outcome(votes, met, "never won", 1, "low"),
            check_outcome(votes, met, "never lost", -1, "high"),
            check_finite_scores(votes),
            check_votes_per_annotator(votes),
            check_population(votes, about),
            check_dominance(votes),
            *check_repeats(votes),
            *check_copies(votes),
            check_ties(votes),
            check_orders_of_pairs(orders, votes),
            check_one_order(votes, met),
            check_one_side(votes, met),
            check_circles(votes),
        ),
    )
