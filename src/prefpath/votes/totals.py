"""What each annotator's votes add up to: counted here, or where the votes are."""

from __future__ import annotations

import numpy as np

from prefpath.votes.encode import BoolArray, FloatArray, IntArray
from prefpath.votes.graph import saw_one_order
from prefpath.votes.remote import AnnotatorTotals, RemoteVotes
from prefpath.votes.segments import sums_between
from prefpath.votes.votes import Votes


def totals_of(votes: Votes) -> AnnotatorTotals:
    """Add up the votes of each annotator."""
    return AnnotatorTotals(
        weight=votes.annotator_weight,
        number=votes.annotator_count,
        clicks=np.column_stack(side_clicks(votes)),
        chosen=np.column_stack(sides_chosen(votes)),
        one_order=saw_one_order(votes),
    )


def voices_of_items(votes: Votes) -> IntArray:
    """How many annotators voted on each item."""
    who = votes.annotator.astype(np.int64) * votes.n_items
    pairs = np.unique(np.concatenate((who + votes.left, who + votes.right)))
    counted: IntArray = np.bincount(pairs % votes.n_items, minlength=votes.n_items)
    return counted


def side_clicks(votes: Votes) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weight of each annotator's left clicks, right clicks and ties, where sides are known."""
    if isinstance(votes, RemoteVotes):
        left, right, ties = np.ascontiguousarray(votes.known.clicks.T)
        return left, right, ties
    known, choice = votes.position_known, votes.choice
    return tuple(  # type: ignore[return-value]
        sums_between(votes.offsets, votes.weight * (known & side))
        for side in (choice > 0, choice < 0, choice == 0)
    )


def sides_chosen(votes: Votes) -> tuple[IntArray, IntArray]:
    """How many votes of each annotator chose left and right, where sides are known."""
    if isinstance(votes, RemoteVotes):
        return votes.known.chosen[:, 0], votes.known.chosen[:, 1]
    known = votes.position_known
    return _counted(votes, known & (votes.choice > 0)), _counted(votes, known & (votes.choice < 0))


def _counted(votes: Votes, mask: BoolArray) -> IntArray:
    ends = np.concatenate(([0], np.cumsum(votes.count * mask, dtype=np.int64)))
    counted: IntArray = np.diff(ends[votes.offsets])
    return counted
