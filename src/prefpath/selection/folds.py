"""Folds as weight vectors: what each row of the votes weighs in training and in testing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from sklearn.model_selection import KFold

from prefpath.errors import SettingError, VoteError
from prefpath.model.design import Floats, Ints
from prefpath.votes import Votes

Over = Literal["votes", "items", "annotators"]


@dataclass(frozen=True)
class Fold:
    """Weights of the votes' rows in training and in testing; no vote is copied."""

    train: Floats
    test: Floats


def make_folds(
    votes: Votes, n_folds: int = 5, *, over: Over = "votes", random_state: int | None = 0
) -> list[Fold]:
    """Split votes into folds at random.

    Over votes, each vote is held out once (a row of three identical votes may be split). Over
    items, a vote is held out if it touches a held-out item: prediction for newcomers. Over
    annotators, all votes of a held-out annotator are held out.
    """
    if over not in ("votes", "items", "annotators"):
        raise SettingError(f"folds over {over!r}", expected="votes, items or annotators")
    units = {"votes": votes.n_votes, "items": votes.n_items, "annotators": votes.n_annotators}[over]
    if not 2 <= n_folds <= units:
        raise VoteError(
            f"{n_folds} folds over {units:,} {over}",
            expected=f"between 2 and {units:,} folds" if units >= 2 else f"at least 2 {over}",
            remedy="ask for fewer folds, or choose t yourself",
        )
    splitter = KFold(n_folds, shuffle=True, random_state=random_state)
    held_out = (test for _, test in splitter.split(np.zeros(units)))
    folds = [fold for fold in _weigh(votes, held_out, over) if fold.test.any() and fold.train.any()]
    if not folds:
        raise VoteError(
            f"no fold over {over} leaves votes both to learn from and to test on",
            expected=f"more {over}",
            remedy="ask for more folds, hold out something else, or choose t yourself",
        )
    return folds


def split_votes(votes: Votes, test_share: float, random_state: int | None = 0) -> Fold:
    """One random split of the votes; each is held out with the same chance, exactly in number."""
    if not 0 < test_share < 1:
        raise SettingError(f"test_share is {test_share}", expected="a share between 0 and 1")
    rng = np.random.default_rng(random_state)
    n_test = round(test_share * votes.n_votes)
    held_out = rng.permutation(votes.n_votes)[:n_test]
    return next(_weigh(votes, iter([held_out]), "votes"))


def _weigh(votes: Votes, held_out: Iterator[Ints], over: Over) -> Iterator[Fold]:
    row_of_vote = np.repeat(np.arange(votes.n_rows), votes.count) if over == "votes" else None
    annotator = votes.annotator if over == "annotators" else None
    for units in held_out:
        if row_of_vote is not None:
            out = np.bincount(row_of_vote[units], minlength=votes.n_rows)
            test = votes.weight * (out / votes.count)
        elif annotator is not None:
            test = votes.weight * np.isin(annotator, units)
        else:
            test = votes.weight * (np.isin(votes.left, units) | np.isin(votes.right, units))
        yield Fold(train=votes.weight - test, test=test)
