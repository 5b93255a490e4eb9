"""Checks of the votes and who cast them: rows, voices, ties, sides seen and chosen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prefpath import text
from prefpath.distributions import heads_at_most
from prefpath.pairs.keys import distinct_keys
from prefpath.text import shortened
from prefpath.trust.meetings import Meetings
from prefpath.trust.panel import TrustCheck
from prefpath.trust.words import counted, named
from prefpath.votes import Votes
from prefpath.votes.encode import plain_label
from prefpath.votes.graph import VOTES_TO_LEAN, nobody_shares_an_item, saw_one_order
from prefpath.votes.origin import left_out
from prefpath.votes.totals import sides_chosen

FEW_VOTES_PER_ANNOTATOR = 5
MANY_TIES = 0.5
DOMINANT_SHARE = 0.5
FEW_PAIRS_IN_BOTH_ORDERS = 0.5
MOSTLY = 0.75  # of an item's votes on one side
MANY_VOTES = 0.25  # of all votes
PAIRS_TO_LOOK_SORTED = 8  # random sides have eight pairs in order once in 128 times
CHANCE = 0.05
"""Probability that a crowd of fair coins has anybody named for choosing one side."""


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
    n_votes = votes.annotator_count
    few = n_votes < FEW_VOTES_PER_ANNOTATOR
    spread = (
        f"between {n_votes.min():,} and {n_votes.max():,}, {np.median(n_votes):,.0f} in the middle"
        if n_votes.min() < n_votes.max()
        else f"{n_votes.min():,} each"
        if len(n_votes) > 1
        else text.counted(n_votes[0], "vote")
    )
    name = f"votes per {votes.voter}"
    if few.mean() <= 0.5:
        return TrustCheck(name, "passed", spread)
    return TrustCheck(
        name,
        "warn",
        f"{spread}; {counted(few, votes.voter)} cast fewer than {FEW_VOTES_PER_ANNOTATOR}",
        "so few votes say little about one person: --group compares groups of people"
        if votes.voter == "annotator"
        else "so few votes say little about a group: use larger groups",
        tuple(votes.annotators[few].tolist()),
    )


def check_dominance(votes: Votes) -> TrustCheck:
    share = votes.annotator_weight / votes.total_weight
    first = int(share.argmax())
    part = f"{share[first]:.0%}" if share[first] >= 0.01 else "under 1%"
    finding = f"the busiest {votes.voter}, {votes.annotators[first]}, has {part} of the votes"
    if votes.anonymous:
        return TrustCheck("many voices", "warn", "nothing says who voted",
                          "if a column does, name it with --annotator")  # fmt: skip
    if votes.n_annotators == 1:
        return TrustCheck("many voices", "warn", f"there is only one {votes.voter}",
                          "nobody can differ from a crowd of one")  # fmt: skip
    if nobody_shares_an_item(votes):
        return TrustCheck(
            "many voices",
            "warn",
            f"no two {votes.voter}s judged the same item",
            "nobody can be compared with the others: have several judge some of the pairs, or rank "
            "what items have in common (the model that wrote them: --left, --right)",
        )
    if share[first] <= DOMINANT_SHARE or votes.n_annotators == 2:
        return TrustCheck("many voices", "passed", finding)
    return TrustCheck(
        "many voices",
        "warn",
        finding,
        f"the common ranking is mostly this {votes.voter}'s: weigh the votes, or look without them",
        (plain_label(votes.annotators[first]),),
    )


def check_ties(votes: Votes) -> TrustCheck:
    share = votes.weight[votes.choice == 0].sum() / votes.total_weight
    some = f"{share:.0%}" if share >= 0.01 else "under 1%"
    finding = f"{some} of the votes are ties" if share > 0.0 else "no vote is a tie"
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


def check_orders_of_pairs(orders: OrdersSeen, votes: Votes) -> TrustCheck:
    name = "both orders"
    if not orders.n_ordered:
        return TrustCheck(
            name,
            "warn",
            "no vote says which item was on the left",
            "position bias cannot be estimated from these votes",
        )
    finding = f"{orders.n_both:,} of {text.counted(orders.n_ordered, 'pair')} "
    one = 1 in (orders.n_both, orders.n_ordered)
    finding += f"{'was' if one else 'were'} shown in both orders"
    if orders.n_both >= FEW_PAIRS_IN_BOTH_ORDERS * orders.n_ordered:
        return _check_sides_kept(name, votes) or TrustCheck(name, "passed", finding)
    return TrustCheck(
        name,
        "warn",
        finding,
        "show pairs in random order: a common preference for one side is hard to tell from "
        "the quality of what was shown there",
    )


def _check_sides_kept(name: str, votes: Votes) -> TrustCheck | None:
    """A warning if an item of many votes stood mostly on one side; None if none did.

    Who likes it or not then seems to lean: the test of a lean takes sides for random.
    """
    count = votes.count * votes.position_known
    left, right = (np.bincount(at, count, votes.n_items) for at in (votes.left, votes.right))
    shown = left + right
    kept = (np.maximum(left, right) >= MOSTLY * shown) & (shown >= MANY_VOTES * count.sum())
    kept &= 2.0 * heads_at_most(np.minimum(left, right), shown) < CHANCE / votes.n_items
    if not kept.any():
        return None
    item = int(np.argmax(np.where(kept, shown, 0.0)))
    side, most = max(("left", left[item]), ("right", right[item]), key=lambda pair: pair[1])
    return TrustCheck(
        name,
        "warn",
        f"{shortened(votes.items[item])} stood on the {side} in {most / shown[item]:.0%} of its "
        f"{int(shown[item]):,} votes, {shown[item] / count.sum():.0%} of all",
        "whoever likes it more or less than the crowd seems to lean to a side: read leans as "
        "either, and show pairs in random order",
        (plain_label(votes.items[item]),),
    )


def look_sorted(met: Meetings) -> str:
    """That sides may not be those shown; empty where pairs were shown in any order.

    Somebody who stands out all the same clicked on a side, and the sides were real.
    """
    left, right = met.left[met.known], met.right[met.known]
    n_pairs = len(distinct_keys(left.astype(np.int64) * met.n_items + right, met.n_items**2))
    if n_pairs < PAIRS_TO_LOOK_SORTED or not ((left < right).all() or (left > right).all()):
        return ""
    return (
        "in every pair the left item comes first in the order of names (or last in every pair), "
        "so that sides look sorted, not as they were shown"
    )


def check_one_order(votes: Votes, met: Meetings) -> TrustCheck:
    """Annotators for whom every item was always on the same side, beyond chance."""
    if not met.known.any():
        return _unchecked("sides seen", _NO_SIDES)
    alike = saw_one_order(votes)
    if not alike.any() and (reason := look_sorted(met)):
        return _unchecked("sides seen", reason, _IF_SORTED)
    if not alike.any() and not (votes.annotator_count >= VOTES_TO_LEAN).any():
        finding = f"cannot be checked: nobody cast {VOTES_TO_LEAN} votes"
        return TrustCheck("sides seen", "unchecked", finding)
    if not alike.any():
        finding = f"no {votes.voter} saw every item on one side only, beyond chance"
        return TrustCheck("sides seen", "passed", finding)
    return TrustCheck(
        "sides seen",
        "warn",
        f"{counted(alike, votes.voter)} saw every item on one side only, as random sides would "
        f"not: {named(votes.annotators[alike])}",
        "whether they like these items or lean to a side, their votes alone cannot tell",
        tuple(votes.annotators[alike].tolist()),
    )


def check_one_side(votes: Votes, met: Meetings) -> TrustCheck:
    """Annotators who chose one side more often than a fair coin would."""
    if reason := _NO_SIDES if not met.known.any() else _never_moved(met):
        return _unchecked("sides chosen", reason)
    lefts, rights = sides_chosen(votes)
    decided = lefts + rights
    chance = 2.0 * heads_at_most(np.minimum(lefts, decided - lefts), decided)
    # Shared out over the annotators: the probability that anybody is named by chance.
    telling = (decided > 0) & (chance < CHANCE / votes.n_annotators)
    if not telling.any() and (reason := look_sorted(met)):
        return _unchecked("sides chosen", reason, _IF_SORTED)
    if not telling.any():
        could_tell = 2.0 * 0.5 ** decided.max() < CHANCE / votes.n_annotators
        return _all_together(int(lefts.sum()), int(decided.sum()), somebody=bool(could_tell))
    shares = [
        f"{shortened(who)} ({_side_of(n_left, n)})"
        for who, n_left, n in zip(
            votes.annotators[telling], lefts[telling], decided[telling], strict=True
        )
    ]
    return TrustCheck(
        "sides chosen",
        "warn",
        f"{counted(telling, votes.voter)} chose one side more often than a fair coin would: "
        f"{named(shares)}",
        "they lean to that side, or the better items stood there: the position bias of the model "
        "tells the two apart where items changed sides",
        tuple(votes.annotators[telling].tolist()),
    )


def _all_together(n_left: int, n: int, *, somebody: bool) -> TrustCheck:
    """Whether all of them chose one side more often, though nobody alone tells.

    Without `somebody` whose votes could tell, that nobody was seen to is no finding.
    """
    if not n:
        return _unchecked("sides chosen", "no vote prefers a side: all are ties")
    if 2.0 * 0.5**n >= CHANCE:
        finding = f"cannot be checked: {text.counted(n, 'vote')} may go to one side by chance"
        return TrustCheck("sides chosen", "unchecked", finding)
    if 2.0 * heads_at_most(min(n_left, n - n_left), n) >= CHANCE:
        finding = "nobody chose one side more often than a fair coin would"
        if not somebody:
            finding = f"all together chose {_side_of(n_left, n)}, as a fair coin may; nobody "
            finding += "alone cast enough votes to tell"
        return TrustCheck("sides chosen", "passed", finding)
    return TrustCheck(
        "sides chosen",
        "warn",
        f"all together chose one side more often than a fair coin would ({_side_of(n_left, n)}), "
        "though nobody alone shows it",
        "a lean that all share, or the better items stood there: fit looks for a shared lean and "
        "says its size",
    )


_NO_SIDES = "no vote says which item was on the left"
_IF_SORTED = "; if these are not the sides shown, pass --position-unknown"


def _never_moved(met: Meetings) -> str:
    """That nothing tells a side from the items on it; empty where something does."""
    if len(np.intersect1d(met.left[met.known], met.right[met.known])):
        return ""
    return (
        "every item was always on the same side: a lean to that side and a preference for the "
        "items there are the same votes"
    )


def _unchecked(name: str, reason: str, also: str = "") -> TrustCheck:
    advice = f"show pairs in random order and keep which item was on the left{also}"
    return TrustCheck(name, "unchecked", f"cannot be checked: {reason}", advice)


def _side_of(n_left: int, n: int) -> str:
    """ "left 650 of 838", "right every time": the side chosen more often."""
    most, side = max((n_left, "left"), (n - n_left, "right"))
    return f"{side} every time, {n:,}" if most == n else f"{side} {most:,} of {n:,}"
