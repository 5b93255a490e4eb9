"""Checks of the items: on one scale, enough votes, wins and losses."""

from __future__ import annotations

import numpy as np

from prefpath.pairs import pool_pairs, strong_components
from prefpath.text import agreeing
from prefpath.trust.meetings import Meetings
from prefpath.trust.panel import TrustCheck
from prefpath.trust.words import counted, named
from prefpath.votes import Votes
from prefpath.votes.encode import IntArray
from prefpath.votes.graph import components_of_pairs

FEW_VOTES_PER_ITEM = 10
_SEEN_ONCE = 2  # votes of an item in the middle, in tables of texts or pictures shown once
_OF_MODELS = (
    "; if these are texts or pictures that models or systems made, and columns name those, rank "
    "the models: --left, --right"
)


def check_one_scale(votes: Votes, met: Meetings) -> TrustCheck:
    component, n_groups = met.component, met.n_components
    if n_groups == 1:
        return TrustCheck("one scale", "passed", "every item is connected with every other")
    return TrustCheck(
        "one scale",
        "fail",
        f"the items fall into {n_groups:,} groups that were never compared with each other",
        "rank each group by itself, or collect votes between them; beside the largest group "
        f"stand {named(votes.items[component > 0])}",
        tuple(votes.items[component > 0].tolist()),
    )


def check_votes_per_item(votes: Votes) -> TrustCheck:
    n_votes = _votes_of_items(votes)
    few = n_votes < FEW_VOTES_PER_ITEM
    spread = (
        f"between {n_votes.min():,} and {n_votes.max():,}, {np.median(n_votes):,.0f} in the middle"
        if n_votes.min() < n_votes.max()
        else f"{n_votes.min():,} each"
    )
    if not few.any():
        return TrustCheck("votes per item", "passed", spread)
    return TrustCheck(
        "votes per item",
        "warn",
        f"{spread}; fewer than {FEW_VOTES_PER_ITEM} on {counted(few, 'item')}: "
        f"{named(votes.items[few])}",
        "collect more votes on these items, or expect wide intervals for them"
        + (_OF_MODELS if np.median(n_votes) <= _SEEN_ONCE else ""),
        tuple(votes.items[few].tolist()),
    )


def check_outcome(votes: Votes, met: Meetings, name: str, side: int, end: str) -> TrustCheck:
    """Items no vote prefers (side 1), or prefers something else to (side -1)."""
    happened = np.zeros(votes.n_items, dtype=bool)
    happened[met.left[met.side == side]] = True
    happened[met.right[met.side == -side]] = True
    if happened.all():
        return TrustCheck(name, "passed", f"there is no item that has {name}")
    tied = np.zeros(votes.n_items, dtype=bool)
    tied[met.left[met.side == 0]] = tied[met.right[met.side == 0]] = True
    keeps = "only ties keep" if tied[~happened].all() else "nothing in the votes keeps"
    n = int((~happened).sum())
    return TrustCheck(
        name,
        "warn",
        f"{counted(~happened, 'item')} {name} a vote: {named(votes.items[~happened])}",
        f"{keeps} {agreeing(n, 'its score', 'their scores')} from being arbitrarily {end}: compare "
        f"{agreeing(n, 'it', 'them')} more, with {agreeing(n, 'its', 'their')} nearest neighbours",
        tuple(votes.items[~happened].tolist()),
    )


def check_finite_scores(votes: Votes) -> TrustCheck:
    """Ford's condition: finite scores exist where every item reaches every other by wins."""
    side = np.clip(votes.choice, -1.0, 1.0)  # a strength beyond 1 is a win
    counts = pool_pairs(votes.left, votes.right, side, votes.weight, n_items=votes.n_items)
    n_strong = int(strong_components(counts).max()) + 1
    component = components_of_pairs(counts.first, counts.second, counts.n_items)
    n_groups = int(component.max()) + 1
    if n_strong == n_groups:
        both = "both groups" if n_groups == 2 else f"all {n_groups:,} groups"
        within = f" of its group, in {both}" if n_groups > 1 else ""
        links = "wins lead" if votes.choice.any() else "no vote is decided, and ties lead"
        finding = f"{links} from every item to every other{within}"
        return TrustCheck("finite scores", "passed", finding)
    return TrustCheck(
        "finite scores",
        "warn",
        f"the items fall into {n_strong:,} tiers{_in_groups(n_groups)}; between tiers "
        f"{'of a group ' if n_groups > 1 else ''}all votes go one way",
        "no vote bounds the distance between tiers, and a tier that rests on few votes may be out "
        "of order: read the rank intervals, or compare these items more",
    )


def _in_groups(n_groups: int) -> str:
    return f" in {n_groups:,} groups" if n_groups > 1 else ""


def _votes_of_items(votes: Votes) -> IntArray:
    n_left = np.bincount(votes.left, votes.count, votes.n_items)
    n_right = np.bincount(votes.right, votes.count, votes.n_items)
    return (n_left + n_right).astype(np.int64)
