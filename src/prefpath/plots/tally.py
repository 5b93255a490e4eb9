"""Counting for figures and tables: sums of what is there, nothing estimated."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from prefpath.model.design import Floats, Ints
from prefpath.pairs import pool_votes
from prefpath.path import Path
from prefpath.votes import Votes


def deviation_size(path: Path, t: float) -> Floats:
    """Euclidean size of every annotator's deviation at time t."""
    size: Floats = np.zeros(len(path.annotators))
    who, values = path.active_deviations(t)
    size[who] = [np.linalg.norm(value) for value in values]
    return size


def pair_tables(votes: Votes, codes: ArrayLike) -> tuple[Floats, Floats]:
    """Share of votes the row's item won against the column's, and votes on the pair.

    Parameters
    ----------
    codes : array of int
        Items of the rows and columns, by position in `votes.items`.

    Returns
    -------
    share, battles : array (n, n)
        The share is NaN where a pair was never compared; a tie is half a win.

    Examples
    --------
    >>> votes = Votes.from_arrays(["ann"] * 2, ["x", "y"], ["y", "x"], ["left", "tie"])
    >>> pair_tables(votes, [0, 1])[0]
    array([[ nan, 0.75],
           [0.25,  nan]])
    """
    rows: Ints = np.asarray(codes, dtype=np.int64)
    place = np.full(votes.n_items, -1)
    place[rows] = np.arange(len(rows))
    flow = pool_votes(votes)
    first, second = place[flow.first], place[flow.second]
    kept = (first >= 0) & (second >= 0)
    first, second = first[kept], second[kept]
    won = (1.0 + np.clip(flow.choice[kept], -1.0, 1.0)) / 2.0
    share: Floats = np.full((len(rows), len(rows)), np.nan)
    battles: Floats = np.zeros_like(share)
    share[first, second], share[second, first] = won, 1.0 - won
    battles[first, second] = battles[second, first] = flow.weight[kept]
    return share, battles


def top_feature_shares(scores: ArrayLike, features: ArrayLike, n_top: int) -> Floats:
    """Mean of each feature over the `n_top` items with the highest scores.

    >>> top_feature_shares([3.0, 1.0, 2.0], [[1, 0], [1, 1], [0, 1]], n_top=2)
    array([0.5, 0.5])
    """
    best = np.argsort(-np.asarray(scores), kind="stable")[:n_top]
    shares: Floats = np.asarray(features, dtype=np.float64)[best].mean(axis=0)
    return shares
