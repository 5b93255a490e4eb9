"""Do one annotator's votes on the same pair agree more than separate votes would?

Intervals and verdicts take votes as independent given somebody's ranking. A vote that was written
three times, or a judge whose answer to a question was recorded for each of its repetitions, gives
votes that always agree. A taste makes votes on one pair agree, too, but also those on two pairs
that share an item: with `s` a vote's residual at the pooled scores and `c = p (1 - p)`, normal
tastes of variance tau^2 give

    E[s_r s_q]  =  tau^2 c_r c_q x_r.x_q,       x_r.x_q = 2 on the same pair, 1 or -1 on neighbours.

So neighbours tell tau^2, and what repetitions agree beyond it is no taste.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from prefpath.pairs import PairCounts, fit_bradley_terry
from prefpath.pairs.keys import items_of_keys, number_keys, pair_keys
from prefpath.trust.panel import TrustCheck
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray, FloatArray, IntArray
from prefpath.votes.remote import RemoteVotes
from prefpath.votes.segments import rows_of

_RIDGE = 0.01  # a score that nothing bounds stays finite
_SURE = 5.0  # standard errors, and
_FEWER = 0.75  # of the disagreements expected: circles in somebody's taste make some agree
_ENOUGH = 20  # rows no one of which was written once: chance does not do that
_MOST_ROWS = 200_000  # of annotators evenly drawn: more tell no more


class Repeats(NamedTuple):
    """How often two votes of one annotator on one pair disagree, and would if they were separate.

    `surely` is by how many standard errors they disagree less often. `times` is how often every
    single vote is there, be it on few items or many: 1 where some are there once.
    """

    disagree: float
    expected: float
    surely: float
    times: int = 1

    @property
    def hang_together(self) -> bool:
        fewer = self.surely > _SURE and self.disagree < _FEWER * self.expected
        return fewer or self.times > 1


class _Cells(NamedTuple):
    """Decisive votes of one annotator on one pair: how many, and how many for its first item."""

    who: IntArray
    first: IntArray
    second: IntArray
    n: FloatArray
    wins: FloatArray


def find_repeats(votes: Votes) -> Repeats:
    """Compare votes on the same pair with those on pairs that share an item."""
    nothing = Repeats(0.0, 0.0, 0.0)
    if isinstance(votes, RemoteVotes) or votes.anonymous:
        return nothing
    enough = votes.n_rows >= _ENOUGH
    nothing = nothing._replace(times=int(np.gcd.reduce(votes.count)) if enough else 1)
    cells = _cells(votes)
    again = cells.n > 1.0
    if not again.any():
        return nothing
    p = _chance_of_first(cells, votes.n_items)
    c = p * (1.0 - p)
    pull, bend = cells.wins - cells.n * p, cells.n * c
    own = cells.wins * (1.0 - p) ** 2 + (cells.n - cells.wins) * p**2
    taste = _taste(cells, pull, bend, votes.n_items)
    if taste is None:
        return nothing
    beyond = (pull**2 - own - 2.0 * taste * (bend**2 - cells.n * c**2))[again]
    surely = float(beyond.sum() / np.sqrt(max(float(beyond @ beyond), 1e-300)))
    two = (cells.n * (cells.n - 1.0))[again]
    disagree = 2.0 * (cells.wins * (cells.n - cells.wins))[again].sum() / two.sum()
    expected = disagree + 2.0 * beyond.sum() / two.sum()
    return Repeats(float(disagree), float(expected), surely, nothing.times)


def _cells(votes: Votes) -> _Cells:
    rows = rows_of(votes.offsets, _some(np.diff(votes.offsets)))
    rows = rows[votes.choice[rows] != 0]
    pair, swapped = pair_keys(votes.left[rows], votes.right[rows], votes.n_items)
    key = votes.annotator[rows].astype(np.int64) * votes.n_items**2 + pair
    distinct, place = number_keys(key, votes.n_annotators * votes.n_items**2)
    who, of = np.divmod(distinct, votes.n_items**2)
    n = votes.count[rows].astype(np.float64)
    won: BoolArray = (votes.choice[rows] > 0) != swapped
    first, second = items_of_keys(of, votes.n_items)
    cast, wins = (np.bincount(place, each, len(distinct)).astype(float) for each in (n, n * won))
    return _Cells(who, first.astype(np.int64), second.astype(np.int64), cast, wins)


def _some(n_rows: IntArray) -> IntArray:
    """Annotators, evenly many of each activity, with about as many rows as are looked at."""
    order = np.argsort(n_rows, kind="stable")
    every = max(1, -(-int(n_rows.sum()) // _MOST_ROWS))
    return np.sort(order[::-1][::every]).astype(np.int64)


def _chance_of_first(cells: _Cells, n_items: int) -> FloatArray:
    key, place = number_keys(cells.first * n_items + cells.second, n_items**2)
    n, wins = (np.bincount(place, of, len(key)).astype(float) for of in (cells.n, cells.wins))
    counts = PairCounts(n_items, *items_of_keys(key, n_items), n, 2.0 * wins / n - 1.0)
    scores = fit_bradley_terry(counts, ridge=_RIDGE).scores
    chance: FloatArray = expit(scores[cells.first] - scores[cells.second])
    return chance


def _taste(cells: _Cells, pull: FloatArray, bend: FloatArray, n_items: int) -> float | None:
    """tau^2 by neighbours; None without any (two items): all that agrees may be taste."""
    at = np.concatenate((cells.first, cells.second)) + np.tile(cells.who * n_items, 2)
    _, place = number_keys(at, int(cells.who.max() + 1) * n_items)
    up, told = (np.bincount(place, np.tile(each, 2)) for each in (bend, bend**2))
    along = np.bincount(place, np.concatenate((pull, -pull)))
    norm = float((up**2 - told).sum())
    if norm <= 1e-9 * float((up**2).sum()):
        return None
    return max(float(along @ along - 2.0 * (pull @ pull)) / norm, 0.0)


def check_repeats(votes: Votes) -> tuple[TrustCheck, ...]:
    """A warning where repeated votes are no separate votes; nothing to show where they are.

    Of votes that stayed on a cluster it is not asked: that takes two rounds of the shards.
    """
    found = find_repeats(votes)
    if not found.hang_together:
        return ()
    return (TrustCheck("repeated votes", "warn", hanging_together(found, votes.voter), AS_ONE),)


AS_ONE = (
    "intervals and verdicts take each for a vote of its own and are too sure: if rows were written "
    "twice, keep one of them; if a question was asked again, keep one vote for each question"
)


def hanging_together(found: Repeats, voter: str) -> str:
    """What was found, in words."""
    if found.times > 1:
        return f"every vote is there {found.times:,} times or a multiple of it"
    return (
        f"two votes of one {voter} on the same pair disagree in {found.disagree:.0%}, where "
        f"separate votes would in {found.expected:.0%}"
    )
