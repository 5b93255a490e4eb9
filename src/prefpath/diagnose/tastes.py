"""What the path says of each annotator's taste, and how often votes go with the crowd."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prefpath.model.design import Floats, Ints
from prefpath.path import Path
from prefpath.votes import Votes
from prefpath.votes.segments import sums_between

_ITEMS_AT_ONCE = 512  # compared with all others: some megabytes for thousands of items


def agreement_with(votes: Votes, scores: Floats) -> Floats:
    """Share of each annotator's decisive votes that go with the scores; equal ones count half.

    Not a number for those who only gave ties.
    """
    agrees = scores[votes.left] - scores[votes.right]
    np.sign(agrees, out=agrees)
    agrees *= np.sign(votes.choice)
    agrees += 1.0
    weight = votes.weight * (votes.choice != 0)
    agrees *= weight
    share, total = (sums_between(votes.offsets, each) for each in (agrees, weight))
    return np.divide(0.5 * share, total, out=np.full(len(total), np.nan), where=total > 0)


@dataclass(frozen=True, eq=False)
class Tastes:
    """Deviations at one time on the path, of those who have one.

    Attributes
    ----------
    size : array (n_annotators,)
        2-norm of the deviation's coefficients; 0 without one.
    most_up, most_down : array of int (n_annotators,)
        Item moved most; -1 without a deviation or a move in that direction.
    distance : array (n_annotators,)
        Share of the pairs of items seen that the personal ranking orders the other way
        (Kendall's distance); 0 without a deviation.
    """

    size: Floats
    most_up: Ints
    most_down: Ints
    distance: Floats


def describe_tastes(votes: Votes, path: Path, t: float) -> Tastes:
    """Size, extremes and effect on the ranking of every deviation at time t."""
    n = votes.n_annotators
    tastes = Tastes(
        np.zeros(n), np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64), np.zeros(n)
    )
    common, deviation, attention = path.scores(t), path.deviation(t), path.attention(t)
    coefficient = np.zeros(deviation.shape[1])
    for u in np.flatnonzero(np.diff(deviation.indptr)):
        entries = slice(deviation.indptr[u], deviation.indptr[u + 1])
        coefficient[:] = 0.0
        coefficient[deviation.indices[entries]] = deviation.data[entries]
        rows = slice(votes.offsets[u], votes.offsets[u + 1])
        seen = np.unique(np.concatenate((votes.left[rows], votes.right[rows])))
        own = coefficient[seen] if path.features is None else path.features[seen] @ coefficient
        move = own - own.mean()
        up, down = int(move.argmax()), int(move.argmin())
        tastes.size[u] = np.linalg.norm(coefficient)
        tastes.most_up[u] = seen[up] if move[up] > 0 else -1
        tastes.most_down[u] = seen[down] if move[down] < 0 else -1
        personal = (1.0 + attention[u]) * common[seen] + own
        tastes.distance[u] = discordant_share(common[seen], personal)
    return tastes


def discordant_share(first: Floats, second: Floats) -> float:
    """Share of pairs that two scores order differently; equal in one of them counts half.

    >>> float(discordant_share(np.array([3.0, 2.0, 1.0]), np.array([2.0, 3.0, 1.0])))
    0.3333333333333333
    """
    n, different = len(first), 0.0
    for begin in range(0, n, _ITEMS_AT_ONCE):
        rows = slice(begin, begin + _ITEMS_AT_ONCE)
        a, b = (np.sign(each[rows, None] - each) for each in (first, second))
        different += 0.5 * float(np.abs(a - b).sum())
    return 0.5 * different / max(1, n * (n - 1) // 2)  # each pair was met twice
