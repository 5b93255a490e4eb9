"""Inner cross-validation: one function tunes every baseline, on the same folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import expit

from prefpath.baselines.training import Training
from prefpath.selection.criteria import mismatch_ratio, probability_log_loss
from prefpath.votes.encode import BoolArray, FloatArray

Folds = Literal["auto", "votes", "items"]
Criterion = Literal["mismatch", "log-loss"]
Fits = Sequence[Any]  # one fit for each setting, in the order of the settings


@dataclass(frozen=True)
class Tuning:
    """Mean held-out error of each setting; the first least one is chosen."""

    errors: tuple[float, ...]
    n_folds: int

    @property
    def best(self) -> int:
        return int(np.argmin(self.errors))


def cross_validate(
    fit_path: Callable[[Training], Fits],
    margins: Callable[[Any, Training, BoolArray], FloatArray],
    training: Training,
    *,
    n_folds: int,
    folds: Folds,
    random_state: int,
    criterion: Criterion = "mismatch",
) -> Tuning | None:
    """Fit the whole path of settings without each fold, and predict that fold.

    Parameters
    ----------
    fit_path : callable
        Training data to one fit a setting.
    margins : callable
        `(fit, training, rows)` to the margins of these rows.
    folds : {"auto", "votes", "items"}
        What is held out. "auto" is items where there are features (they are there to predict
        newcomers), votes otherwise. A vote on a held-out item is held out.

    Returns
    -------
    Tuning or None
        None where there are too few votes to hold any out.
    """
    errors = []
    for held_out in _held_out_rows(training, n_folds, folds, random_state):
        kept = np.where(held_out, 0.0, training.weight)
        judged = held_out & (training.weight > 0)
        if criterion == "mismatch":
            # A tie is half wrong whatever is predicted: it cannot tell settings apart.
            judged &= training.votes.choice != 0
        if not kept.any() or not judged.any():
            continue
        choice, weight = training.votes.choice[judged], training.weight[judged]
        fits = fit_path(training.reweighted(kept))
        errors.append(
            [_error(margins(fit, training, judged), choice, weight, criterion) for fit in fits]
        )
    if not errors:
        return None
    mean = np.mean(errors, axis=0)
    return Tuning(errors=tuple(mean.tolist()), n_folds=len(errors))


def _error(
    margin: FloatArray, choice: FloatArray, weight: FloatArray, criterion: Criterion
) -> float:
    if criterion == "mismatch":
        return mismatch_ratio(margin, choice, weight)
    return probability_log_loss(expit(margin), choice, weight)


def _held_out_rows(
    training: Training, n_folds: int, folds: Folds, random_state: int
) -> Iterator[BoolArray]:
    rng = np.random.default_rng(random_state)
    votes, by_items = training.votes, folds == "items"
    if folds == "auto":
        by_items = training.features is not None
    if by_items:
        fold = _assign(training.item_weight > 0, n_folds, rng)
        left, right = fold[votes.left], fold[votes.right]
    else:
        # Identical votes share a row, so they are never in training and held out at once.
        left = right = _assign(training.weight > 0, n_folds, rng)
    for k in range(n_folds):
        yield (left == k) | (right == k)


def _assign(eligible: BoolArray, n_folds: int, rng: np.random.Generator) -> Any:
    """A fold for each eligible entry, in sizes that differ by one at most; -1 for the others."""
    fold = np.full(len(eligible), -1)
    n = int(eligible.sum())
    fold[eligible] = rng.permutation(np.arange(n) % n_folds)
    return fold
