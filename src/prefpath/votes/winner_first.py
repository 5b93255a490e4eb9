"""Files that list the winner first: their left and right are not what was shown."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prefpath.errors import VoteError
from prefpath.text import counted
from prefpath.votes.encode import BoolArray, CodedVotes, IntArray, Labels

NEARLY_ALL = 0.05
"""Share of the votes that may go to the other side of a file that lists winners first."""

OWN_EXCEPTIONS = 0.01
"""An annotator with more votes for the other side than that share gives with this probability is
not one-sided: one vote of five is no sign of it, five of twenty are."""

NEARLY_EVERYBODY = 0.1
"""Share of annotators who may be two-sided in a file that lists winners first."""

CHANCE = 0.001
"""Probability of so few exceptions, if each side were as good as the other, above which nothing
is refused: eleven votes for one side are the fewest that are."""


class SidesChosen(NamedTuple):
    """Votes of each annotator for the left and for the right, of those that can tell."""

    left: IntArray
    right: IntArray


def check_winner_first(coded: CodedVotes, annotators: Labels) -> None:
    """Refuse votes whose winner stands on one side throughout.

    When nearly all votes of nearly everybody go to one side, the file lists winners first (or
    last), or nobody looked: in neither case are left and right what was shown. A crowd in which
    some click one side only is two-sided as long as a tenth of it is.

    Raises
    ------
    VoteError
        With what to say: `winner_first=True`, or `position_known=True` if it is so.
    """
    chosen = count_sides(coded)
    side = winning_side(chosen)
    if side is None:
        return

    n_left, n_right = int(chosen.left.sum()), int(chosen.right.sum())
    most = max(n_left, n_right)
    share = f"all {most:,}" if not min(n_left, n_right) else f"{most:,} of {n_left + n_right:,}"
    raise VoteError(
        f"{share} decided votes of {counted(len(annotators), 'annotator')} chose the item on the "
        f"{side}: they seem to list the winner {'first' if side == 'left' else 'last'}, not the "
        "items as they were shown",
        expected="the items as they were shown, on the left and on the right",
        remedy=f"{_WINNER_FIRST if side == 'left' else ''}if nobody knows what was shown where: "
        "--position-unknown (position_known=False); if they did choose one side nearly every "
        "time: --position-known (position_known=True)",
    )


_WINNER_FIRST = "if the left item is always the winner: --winner-first (winner_first=True); "


def winning_side(chosen: SidesChosen) -> str | None:
    """The side on which the winner stands throughout; None where it does not.

    >>> winning_side(SidesChosen(np.array([400, 300]), np.array([0, 1])))
    'left'
    >>> winning_side(SidesChosen(np.array([400, 30]), np.array([0, 31]))) is None
    True
    """
    from scipy.special import bdtr, bdtrc  # here: it would double the time to import votes

    n_left, n_right = int(chosen.left.sum()), int(chosen.right.sum())
    n_votes, exceptions = n_left + n_right, min(n_left, n_right)
    if not n_votes or exceptions > NEARLY_ALL * n_votes:
        return None
    if 2.0 * bdtr(exceptions, n_votes, 0.5) > CHANCE:
        return None
    other = chosen.right if n_left > n_right else chosen.left
    own = chosen.left + chosen.right
    two_sided = (other > 0) & (bdtrc(other - 1, own, NEARLY_ALL) < OWN_EXCEPTIONS)
    if two_sided.sum() > NEARLY_EVERYBODY * np.count_nonzero(own):
        return None
    return "left" if n_left > n_right else "right"


def count_sides(coded: CodedVotes) -> SidesChosen:
    """Votes for each side of each annotator, where they can tell which side was chosen."""
    telling = coded.position_known & (coded.choice != 0)
    if telling.any():
        telling &= _can_tell(coded, telling)
    return SidesChosen(
        _sum_by_annotator(coded, telling & (coded.choice > 0)),
        _sum_by_annotator(coded, telling & (coded.choice < 0)),
    )


def _can_tell(coded: CodedVotes, decided: BoolArray) -> BoolArray:
    """All votes but those with a baseline: an item of most votes that is always on one side.

    A baseline shown on the right throughout, that always loses, says nothing about how the file
    was written. Items that win here and lose there do: they change sides with the outcome.
    """
    n_items = 1 + int(max(coded.left.max(), coded.right.max()))
    n_left = np.bincount(coded.left, coded.count * decided, n_items)
    n_right = np.bincount(coded.right, coded.count * decided, n_items)
    one_sided = (n_left == 0) | (n_right == 0)
    baseline = one_sided & (n_left + n_right > n_left.sum() / 2)
    told: BoolArray = ~(baseline[coded.left] | baseline[coded.right])
    return told


def _sum_by_annotator(coded: CodedVotes, mask: BoolArray) -> IntArray:
    ends = np.concatenate(([0], np.cumsum(coded.count * mask, dtype=np.int64)))
    return np.diff(ends[coded.offsets])


def check_left_won(n_left: int, n_right: int) -> None:
    """Refuse votes that are said to list the winner first, and in which the right item won."""
    if n_right > NEARLY_ALL * (n_left + n_right):
        raise VoteError(
            f"the winner is said to be first, but {counted(n_right, 'vote')} of "
            f"{n_left + n_right:,} went to the item that is not",
            expected="votes for the left item",
            remedy="leave out --winner-first (winner_first=True); if nobody knows what was shown "
            "where: --position-unknown (position_known=False)",
        )
