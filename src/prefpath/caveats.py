"""What votes cannot tell, said once when a model is fitted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from prefpath.model.design import Codes
from prefpath.text import agreeing, counted, listed
from prefpath.trust.copies import ONE_VOICE, find_copies, same_votes
from prefpath.trust.repeats import AS_ONE, find_repeats, hanging_together
from prefpath.votes import Votes
from prefpath.votes.graph import saw_one_order

_HEAVY = 1.05


def caveats(
    votes: Votes, component: Codes, *, has_features: bool, position_bias: bool
) -> Iterator[str]:
    """Sentences about what cannot be known, none where everything can."""
    yield from told_by_findings(votes, component, has_features, position_bias)
    yield from told_here_only(votes, position_bias)


def told_by_findings(
    votes: Votes, component: Codes, has_features: bool, position_bias: bool
) -> Iterator[str]:
    """What the findings of the fit say, too: a reader of these need not hear it twice."""
    n_components = int(component.max()) + 1
    if n_components > 1 and not has_features:
        yield (
            f"the items fall into {n_components} groups that were never compared with each "
            "other: ranks hold within a group only (column component of the ranking)"
        )
    if votes.n_annotators == 1:
        yield f"there is one {votes.voter}: nobody to differ from; read the common ranking only"
    if not votes.choice.any():
        yield "every vote is a tie: nothing in the votes tells the items apart"
    if position_bias and not votes.position_known.any():
        yield "left and right are unknown in these votes: no position bias is estimated"


def told_here_only(votes: Votes, position_bias: bool) -> Iterator[str]:
    """What nothing says again: weights and repetitions that count as votes, items on one side."""
    if votes.total_weight > _HEAVY * votes.n_votes:
        yield (
            f"{counted(votes.n_votes, 'vote')} weigh {votes.total_weight:,.6g} together: a weight "
            f"of 2 counts as two votes, in intervals{_and_verdicts(votes)}; if weights say how "
            "sure or important a vote is, divide them by their mean, or leave them out"
        )
    if position_bias and votes.position_known.any():
        yield from _one_order_only(votes)
    repeats = find_repeats(votes)
    if repeats.hang_together:
        yield f"{hanging_together(repeats, votes.voter)}: {AS_ONE}"
    copies = find_copies(votes)
    if len(copies.who):
        yield f"{same_votes(votes, copies)}: {ONE_VOICE}"


def _and_verdicts(votes: Votes) -> str:
    """Verdicts count votes as they were cast, unless all weights are whole numbers."""
    return " and verdicts too" if np.all(votes.weight == np.rint(votes.weight)) else " too"


def _one_order_only(votes: Votes) -> Iterator[str]:
    one = votes.annotators[saw_one_order(votes)]
    if len(one):
        yield (
            f"{counted(len(one), votes.voter)} ({listed(one, 3)}) saw every item on one side only: "
            f"the votes alone cannot tell {agreeing(len(one), 'a', 'their')} position bias from "
            f"{agreeing(len(one), 'a', 'their')} taste"
        )
