"""Folds as weight vectors: what each row of the votes weighs in training and in testing.

Who is held out together is drawn from the votes alone (`refinement`): other names, another order
of rows, sides swapped throughout or a weight of 2 as two rows give the same folds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np

from prefpath.errors import SettingError, VoteError
from prefpath.model.design import Floats, Ints
from prefpath.selection.refinement import refine_votes
from prefpath.selection.sampling import Sampling
from prefpath.settings import as_number, check_seed
from prefpath.text import counted
from prefpath.votes import Votes

Over = Literal["votes", "items", "annotators"]

# Of so many held-out rows the standard error of the mean log-loss is below .001, and times are
# compared row by row: more folds would cost, and choose the same time.
_ENOUGH_HELD_OUT = 500_000
_LEAST_FOLDS = 2  # for a standard error

# A weight this near to a whole number is that number.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Fold:
    """Weights of the votes' rows in training and in testing; no vote is copied.

    With `stands_for` only a sample of the annotators is followed, each for so many (`sampling`);
    votes in testing weigh as many times as much.
    """

    train: Floats
    test: Floats
    stands_for: Floats | None = None

    def of_sample(self, stands_for: Floats, offsets: Ints) -> Fold:
        """The same of a sample of the annotators, whose rows begin at `offsets`."""
        number = np.repeat(stands_for, np.diff(offsets))
        return Fold(np.where(number > 0.0, self.train, 0.0), self.test * number, stands_for)


def enough_folds(n_rows: int, n_folds: int) -> int:
    """How many of the folds over votes tell where to stop: two at least, of small data all.

    >>> [enough_folds(n_rows, 5) for n_rows in (10_000, 1_000_000, 10_000_000)]
    [5, 3, 2]
    """
    _check_whole(n_folds)
    needed = math.ceil(n_folds * _ENOUGH_HELD_OUT / max(n_rows, 1))
    return min(n_folds, max(_LEAST_FOLDS, needed))


def make_folds(
    votes: Votes,
    n_folds: int = 5,
    *,
    over: Over = "votes",
    random_state: int | None = 0,
    most: int | None = None,
    sampling: Sampling | None = None,
) -> list[Fold]:
    """Split votes into folds at random; `most` returns only so many of them.

    Over votes, each vote is held out once; where all weights are whole numbers, a row of weight 3
    is three votes, which may be held out apart. Other weights say how much a vote counts: it is
    held out whole, or its own other part would predict it. Over items, a vote is held out if it
    touches a held-out item: prediction for newcomers. Over annotators, all votes of a held-out
    annotator are held out. `sampling` follows a sample of the annotators in each fold.
    """
    if over not in ("votes", "items", "annotators"):
        raise SettingError(f"folds over {over!r}", expected="votes, items or annotators")
    pieces = _pieces(votes)
    units = {"votes": int(pieces.sum()), "items": votes.n_items, "annotators": votes.n_annotators}
    _check_number(n_folds, units[over], over)
    check_seed("random_state", random_state)
    seed = int(np.random.SeedSequence(random_state).generate_state(1, np.uint64)[0])
    refined = refine_votes(votes)
    if over == "votes":
        held_out = _hold_out_votes(votes, pieces, refined.vote_keys(seed), n_folds)
    else:
        held_out = _hold_out_units(votes, refined.keys(over, seed), n_folds, over)
    held_out = islice(held_out, most)
    folds = [Fold(train=votes.weight - test, test=test) for test in held_out]
    if sampling is not None:
        key, activity = refined.keys("annotators", seed), votes.annotator_weight
        folds = [
            fold.of_sample(sampling.stands_for(activity, key, k), votes.offsets)
            for k, fold in enumerate(folds)
        ]
    folds = [fold for fold in folds if fold.test.any() and fold.train.any()]
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
    row_of_vote = np.repeat(np.arange(votes.n_rows), votes.count)
    out = np.bincount(row_of_vote[held_out], minlength=votes.n_rows)
    test = votes.weight * (out / votes.count)
    return Fold(train=votes.weight - test, test=test)


def _check_whole(n_folds: int) -> None:
    if not as_number(n_folds).is_integer():
        raise SettingError(f"the number of folds is {n_folds!r}", expected="a whole number")


def _check_number(n_folds: int, units: int, over: Over) -> None:
    _check_whole(n_folds)
    if not 2 <= n_folds <= units:
        raise VoteError(
            f"{counted(n_folds, 'fold')} over {counted(units, over.removesuffix('s'))}",
            expected=f"from 2 to {units:,} folds"
            if units > 2
            else f"2 folds over at least 2 {over}",
            remedy="ask for fewer folds with --cv (cv), or for none with --cv 0 (cv=0)",
        )


def _pieces(votes: Votes) -> Ints:
    """How many votes a row is: as many as it weighs; where weights are no counts, as were cast."""
    whole = np.rint(votes.weight)
    if np.any(np.abs(votes.weight - whole) > _ROUNDING * votes.weight):
        return votes.count.astype(np.int64)
    # Past any number of folds it makes no difference; a count of 1e300 would overflow.
    return np.clip(whole, 1, 1_000_000).astype(np.int64)


def _hold_out_votes(votes: Votes, pieces: Ints, key: np.ndarray, n_folds: int) -> Iterator[Floats]:
    """Deal the votes out in the order of their keys, one to each fold in turn."""
    order = np.argsort(key, kind="stable")
    before = np.empty(votes.n_rows, dtype=np.int64)
    before[order] = np.cumsum(pieces[order]) - pieces[order]
    for k in range(n_folds):
        first = (k - before) % n_folds
        count = np.maximum(0, (pieces - first + n_folds - 1) // n_folds)
        yield np.minimum(votes.weight, votes.weight * (count / pieces))


def _hold_out_units(votes: Votes, key: np.ndarray, n_folds: int, over: Over) -> Iterator[Floats]:
    """Deal annotators or items with votes out in the order of their keys."""
    sides = (votes.annotator,) if over == "annotators" else (votes.left, votes.right)
    present = np.unique(np.concatenate(sides))
    fold_of = np.full(len(key), -1)
    fold_of[present[np.argsort(key[present])]] = np.arange(len(present)) % n_folds
    for k in range(n_folds):
        touched = np.zeros(votes.n_rows, dtype=bool)
        for side in sides:
            touched |= fold_of[side] == k
        yield votes.weight * touched
