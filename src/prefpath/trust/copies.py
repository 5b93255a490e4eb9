"""Did some annotators cast, vote for vote, what another cast?

A bot that copies, one person under two names, one model under two labels: intervals and verdicts
take each for a voice of its own. Ballots that are equal to the last vote are rare by chance unless
they are short, all agree or all clicked one side: of a ballot seen twice, how likely are these
choices among its own pairs, by one ranking of everybody or by sides alone? Copies with a few
changes are not noticed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, log_expit, xlogy

from prefpath.pairs import fit_bradley_terry, pool_votes
from prefpath.pairs.keys import number_keys
from prefpath.text import listed
from prefpath.trust.panel import TrustCheck
from prefpath.votes import Votes
from prefpath.votes.encode import FloatArray, IntArray
from prefpath.votes.remote import RemoteVotes

_RIDGE = 0.01  # a score that nothing bounds stays finite
_ENOUGH = 10  # votes: shorter ballots are equal by chance
_BY_CHANCE = 1e-3  # probability that a crowd without copies has any


class Copies(NamedTuple):
    """Annotators whose ballots are equal: all of them, and the largest group."""

    who: IntArray
    largest: IntArray


def find_copies(votes: Votes) -> Copies:
    """Groups of annotators who cast the same votes, beyond chance."""
    nobody = Copies(np.zeros(0, np.int64), np.zeros(0, np.int64))
    if isinstance(votes, RemoteVotes) or votes.anonymous or votes.n_annotators < 2:
        return nobody
    groups = _equal_ballots(votes)
    if not groups:
        return nobody
    scores = fit_bradley_terry(pool_votes(votes), ridge=_RIDGE).scores
    pairs = votes.n_annotators * (votes.n_annotators - 1) / 2.0
    sure = np.log(_BY_CHANCE / pairs)
    groups = [of for of in groups if _log_chance(votes, int(of[0]), scores) < sure]
    return Copies(np.sort(np.concatenate(groups)), max(groups, key=len)) if groups else nobody


def _equal_ballots(votes: Votes) -> list[IntArray]:
    """Annotators of equal ballots, group by group, of who cast enough votes."""
    same: dict[bytes, list[int]] = {}
    for u in _alike_at_a_glance(votes):
        rows = slice(int(votes.offsets[u]), int(votes.offsets[u + 1]))
        columns = (votes.left, votes.right, votes.choice, votes.weight, votes.count)
        ballot = b"".join(column[rows].tobytes() for column in columns)
        same.setdefault(ballot, []).append(int(u))
    return [np.array(of) for of in same.values() if len(of) > 1]


def _alike_at_a_glance(votes: Votes) -> IntArray:
    """Who has as many rows as somebody else, and the same in the middle and at both ends."""
    enough = np.flatnonzero((votes.annotator_count >= _ENOUGH) & (np.diff(votes.offsets) > 0))
    first, last = votes.offsets[enough], votes.offsets[enough + 1] - 1
    rows = np.stack((first, (first + last) // 2, last))
    glance = np.vstack((last - first, votes.left[rows], votes.right[rows], votes.choice[rows]))
    _, place, times = np.unique(glance, axis=1, return_inverse=True, return_counts=True)
    who: IntArray = enough[times[place.ravel()] > 1]
    return who


def _log_chance(votes: Votes, u: int, scores: FloatArray) -> float:
    """How likely the choices of somebody are, given what they were shown and did not tie."""
    rows = np.arange(votes.offsets[u], votes.offsets[u + 1])
    rows = rows[votes.choice[rows] != 0]
    left, right, n = votes.left[rows], votes.right[rows], votes.count[rows].astype(float)
    shown, place = number_keys(left.astype(np.int64) * votes.n_items + right, votes.n_items**2)
    sign = np.sign(votes.choice[rows])
    clicks = np.array([n[sign > 0].sum(), n[sign < 0].sum()])
    by_sides = float(xlogy(clicks, clicks / max(clicks.sum(), 1.0)).sum())
    chosen = max(float(n @ log_expit(sign * (scores[left] - scores[right]))), by_sides)
    cast, won = (np.bincount(place, each, len(shown)) for each in (n, n * (sign > 0)))
    orders = gammaln(cast + 1.0) - gammaln(won + 1.0) - gammaln(cast - won + 1.0)
    return chosen + float(orders.sum())


def check_copies(votes: Votes) -> tuple[TrustCheck, ...]:
    """A warning where somebody's ballot is there twice; nothing to show where none is."""
    found = find_copies(votes)
    if not len(found.who):
        return ()
    alike = votes.annotators[found.who].tolist()
    return (TrustCheck("copied votes", "warn", same_votes(votes, found), ONE_VOICE, tuple(alike)),)


ONE_VOICE = (
    "intervals and verdicts take each for a voice of its own and are too sure: if they copy, or "
    "are one under several names, keep one of them"
)


def same_votes(votes: Votes, found: Copies) -> str:
    """What was found, in words."""
    n, largest = len(found.who), listed(votes.annotators[found.largest], 3)
    if n == len(found.largest):
        return f"{n:,} {votes.voter}s cast exactly the same votes ({largest})"
    return (
        f"{n:,} {votes.voter}s cast exactly the votes of another; the most alike are "
        f"{len(found.largest):,} ({largest})"
    )
