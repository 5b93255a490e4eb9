"""Splits of votes into what is learnt from and what is predicted."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from prefpath.errors import SettingError, VoteError
from prefpath.model.design import Floats
from prefpath.selection.folds import Fold, split_votes
from prefpath.text import counted
from prefpath.votes import Votes

HeldOut = Literal["votes", "items"]


def make_splits(
    votes: Votes,
    n_splits: int = 10,
    *,
    over: HeldOut = "votes",
    test_share: float = 0.3,
    random_state: int = 0,
) -> list[Fold]:
    """Random splits, each by a seed of its own: the first ones do not depend on their number.

    Parameters
    ----------
    over : {"votes", "items"}
        Hold out votes, or items with every vote that touches one of them.
    test_share : float
        Share of the votes, or of the items, that is held out.
    """
    if n_splits < 1:
        raise SettingError(f"n_splits is {n_splits}", expected="at least 1")
    if over not in ("votes", "items"):
        raise SettingError(f"held out are {over!r}", expected="votes or items")
    split = split_votes if over == "votes" else split_items
    splits = [split(votes, test_share, random_state + k) for k in range(n_splits)]
    if not all(fold.train.any() and fold.test.any() for fold in splits):
        raise VoteError(
            f"a split of {counted(votes.n_votes, 'vote')} leaves one side empty",
            expected="votes on both sides of every split",
            remedy="use more votes, or another share to hold out",
        )
    return splits


def split_items(votes: Votes, test_share: float, random_state: int | None = 0) -> Fold:
    """One random split of the items; a vote is held out if it touches a held-out item."""
    if not 0 < test_share < 1:
        raise SettingError(f"test_share is {test_share}", expected="a share between 0 and 1")
    rng = np.random.default_rng(random_state)
    held_out = rng.permutation(votes.n_items)[: round(test_share * votes.n_items)]
    touched = np.isin(votes.left, held_out) | np.isin(votes.right, held_out)
    test = votes.weight * touched
    return Fold(train=votes.weight - test, test=test)


def keep(votes: Votes, weight: Floats) -> Votes:
    """The votes with other weights, and counts to match; labels are kept."""
    rows = np.flatnonzero(weight > 0)
    share = weight[rows] / votes.weight[rows]
    count = np.round(votes.count[rows] * share).astype(votes.count.dtype)
    return replace(votes.take(rows), weight=weight[rows], count=count)


def forget_items_without_votes(votes: Votes) -> Votes:
    """The same votes on the items they touch: the others become newcomers."""
    used, code = np.unique(np.concatenate((votes.left, votes.right)), return_inverse=True)
    left, right = np.split(code.astype(np.int32), 2)
    return replace(votes, items=votes.items[used], left=left, right=right)
