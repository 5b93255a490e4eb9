"""Checks of the votes and who cast them: rows, voices, ties, sides seen and chosen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prefpath.pairs.keys import distinct_keys
from prefpath.trust.meetings import Meetings
from prefpath.trust.panel import TrustCheck
from prefpath.trust.words import counted, named
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray, IntArray, plain_label
from prefpath.votes.graph import saw_one_order
from prefpath.votes.origin import left_out

FEW_VOTES_PER_ANNOTATOR = 5
MANY_TIES = 0.5
DOMINANT_SHARE = 0.5
FEW_PAIRS_IN_BOTH_ORDERS = 0.5
CHANCE = 0.05
"""Probability that a crowd of fair coins has anybody accused of always choosing one side."""


def check_left_out(votes: Votes) -> TrustCheck:
    found = left_out(votes.origin)
    if not found:
        return TrustCheck("rows left out", "passed", "every row is a vote")
    return TrustCheck(
        "rows left out",
        "warn",
        f"left out {found}",
        "look at these rows: unless they are missing by accident, the rest is no fair sample",
    )


def check_votes_per_annotator(votes: Votes) -> TrustCheck:
    n_votes = _votes_of_annotators(votes)
    few = n_votes < FEW_VOTES_PER_ANNOTATOR
    spread = (
        f"between {n_votes.min():,} and {n_votes.max():,}, {np.median(n_votes):,.0f} in the middle"
    )
    if few.mean() <= 0.5:
        return TrustCheck("votes per annotator", "passed", spread)
    return TrustCheck(
        "votes per annotator",
        "warn",
        f"{spread}; {counted(few, 'annotator')} cast fewer than {FEW_VOTES_PER_ANNOTATOR}",
        "so few votes say little about one person: group annotators (--group) to compare groups",
        tuple(votes.annotators[few].tolist()),
    )


def check_dominance(votes: Votes) -> TrustCheck:
    share = votes.annotator_weight / votes.total_weight
    first = int(share.argmax())
    finding = (
        f"the busiest annotator, {votes.annotators[first]}, has {share[first]:.0%} of the votes"
    )
    if votes.n_annotators == 1:
        return TrustCheck("many voices", "warn", "there is only one annotator",
                          "nobody can differ from a crowd of one")  # fmt: skip
    if share[first] <= DOMINANT_SHARE or votes.n_annotators == 2:
        return TrustCheck("many voices", "passed", finding)
    return TrustCheck(
        "many voices",
        "warn",
        finding,
        "the common ranking is mostly this annotator's: weigh the votes, or look without them",
        (plain_label(votes.annotators[first]),),
    )


def check_ties(votes: Votes) -> TrustCheck:
    share = votes.weight[votes.choice == 0].sum() / votes.total_weight
    finding = f"{share:.0%} of the votes are ties"
    if share <= MANY_TIES:
        return TrustCheck("ties", "passed", finding)
    return TrustCheck(
        "ties",
        "warn",
        finding,
        "most comparisons decided nothing: ask harder questions of fewer items",
    )


class OrdersSeen(NamedTuple):
    """How many pairs were compared, with a known order, and in both orders."""

    n_pairs: int
    n_ordered: int
    n_both: int


def count_orders(met: Meetings) -> OrdersSeen:
    """Count the pairs and the orders they were shown in."""
    left, right, n = met.left.astype(np.int64), met.right.astype(np.int64), met.n_items
    pairs = distinct_keys(np.minimum(left, right) * n + np.maximum(left, right), n * n)
    shown = distinct_keys((left * n + right)[met.known], n * n)
    mirrored = shown % n * n + shown // n
    n_both = int(np.isin(mirrored, shown, assume_unique=True).sum()) // 2
    return OrdersSeen(len(pairs), len(shown) - n_both, n_both)


def check_orders_of_pairs(orders: OrdersSeen) -> TrustCheck:
    name = "both orders"
    if not orders.n_ordered:
        return TrustCheck(
            name,
            "warn",
            "no vote says which item was on the left",
            "position bias cannot be estimated from these votes",
        )
    finding = f"{orders.n_both:,} of {orders.n_ordered:,} pairs were shown in both orders"
    if orders.n_both >= FEW_PAIRS_IN_BOTH_ORDERS * orders.n_ordered:
        return TrustCheck(name, "passed", finding)
    return TrustCheck(
        name,
        "warn",
        finding,
        "show pairs in random order: a common preference for one side is hard to tell from "
        "the quality of what was shown there",
    )


def check_one_order(votes: Votes) -> TrustCheck:
    alike = saw_one_order(votes)
    if not alike.any():
        return TrustCheck("sides seen", "passed", "nobody saw every item on one side only")
    return TrustCheck(
        "sides seen",
        "warn",
        f"{counted(alike, 'annotator')} saw every item on one side only: "
        f"{named(votes.annotators[alike])}",
        "whether they like these items or lean to a side, their votes alone cannot tell",
        tuple(votes.annotators[alike].tolist()),
    )


def check_one_side(votes: Votes) -> TrustCheck:
    """Annotators who chose one side more often in a row than a fair coin would."""
    known = votes.position_known
    lefts = _votes_of_annotators(votes, known & (votes.choice > 0))
    rights = _votes_of_annotators(votes, known & (votes.choice < 0))
    decided = lefts + rights
    always = (lefts == 0) | (rights == 0)
    # 2 * 2^-n: the probability of n equal sides, shared out over the annotators.
    telling = always & (decided > 0) & (2.0 ** (1.0 - decided) < CHANCE / votes.n_annotators)
    if not telling.any():
        return TrustCheck("sides chosen", "passed",
                          "nobody chose one side more often than chance allows")  # fmt: skip
    return TrustCheck(
        "sides chosen",
        "warn",
        f"{counted(telling, 'annotator')} always chose the same side: "
        f"{named(votes.annotators[telling])}",
        "they may click without looking: the position bias of the model takes this in; "
        "compare the ranking without them",
        tuple(votes.annotators[telling].tolist()),
    )


def _votes_of_annotators(votes: Votes, mask: BoolArray | None = None) -> IntArray:
    """Votes of each annotator, of those in the mask; their rows lie side by side."""
    count = votes.count if mask is None else votes.count * mask
    ends = np.concatenate(([0], np.cumsum(count, dtype=np.int64)))
    return np.diff(ends[votes.offsets])
