"""`compare_methods`: all methods on the same random splits."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prefpath.compare.contenders import Contender, Task, find_contenders
from prefpath.compare.jobs import run_jobs
from prefpath.compare.results import Comparison, Outcome
from prefpath.compare.splits import HeldOut, make_splits
from prefpath.errors import PrefpathError, SettingError
from prefpath.model.design import Floats
from prefpath.selection.criteria import mismatch_ratio, probability_log_loss
from prefpath.selection.folds import Fold
from prefpath.votes import Votes
from prefpath.votes.check import check_features

Progress = Callable[[str, float], None]


class Pairing(NamedTuple):
    """One method on one split."""

    contender: Contender
    split: int


def compare_methods(
    votes: Votes,
    *,
    features: ArrayLike | None = None,
    methods: Sequence[str] | None = None,
    over: HeldOut = "votes",
    n_splits: int = 10,
    test_share: float = 0.3,
    random_state: int = 0,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
) -> Comparison:
    """Held-out error of our models and their rivals, each tuned on the training votes alone.

    Parameters
    ----------
    votes : Votes
    features : array-like of shape (n_items, d), optional
        In the order of `votes.items`.
    methods : sequence of str, optional
        Keys of `CONTENDERS`; all of them by default.
    over : {"votes", "items"}
        What is held out; items need features.
    n_splits : int
    test_share : float
        Share of votes or items held out.
    n_jobs : int, optional
        Processes; None is one for each processor. A script that asks for more than one must
        guard its own start by `if __name__ == "__main__"`.
    progress : callable, optional
        Called with what is being done and the share of it that is done.

    Returns
    -------
    Comparison
        A method that cannot be run on these votes is named there, with the reason.

    Examples
    --------
    >>> from prefpath.simulate import simulate_crowd
    >>> crowd = simulate_crowd(2000, 20, 5, seed=0)
    >>> found = compare_methods(crowd.votes, methods=["borda", "hodgerank"], n_splits=2)
    >>> sorted(summary.method for summary in found.summaries())
    ['Borda', 'HodgeRank']
    """
    phi = None if features is None else check_features(features, votes.n_items)
    if over == "items" and phi is None:
        raise SettingError(
            "items held out without features",
            expected="features of the items, from which a newcomer's score follows",
            remedy="give features, or hold out votes",
        )
    contenders = find_contenders(methods)
    splits = make_splits(
        votes, n_splits, over=over, test_share=test_share, random_state=random_state
    )
    pairings = [Pairing(one, k) for k in range(n_splits) for one in contenders.values()]
    work = partial(_try_pairing, votes, splits, phi, over, random_state)
    outcomes, failures = [], {}
    for done, (pairing, result) in enumerate(run_jobs(work, pairings, n_jobs), start=1):
        if isinstance(result, Outcome):
            outcomes.append(result)
        else:
            failures[pairing.contender.name] = result
        if progress is not None:
            progress("comparing", done / len(pairings))
    kept = [outcome for outcome in outcomes if outcome.method not in failures]
    kept.sort(key=lambda outcome: (outcome.method, outcome.split))
    return Comparison(tuple(kept), failures, _least_mismatch(votes, splits))


def judge(contender: Contender, task: Task, split: int = 0) -> Outcome:
    """Fit a method on a task's training votes and judge it on those held out.

    The time is processor time, so that it means the same on a busy machine.
    """
    start = time.process_time()
    found = contender.predict(task)
    seconds = time.process_time() - start
    asked = task.held_out
    cost = None
    if found.probability is not None:
        cost = probability_log_loss(found.probability, asked.choice, asked.weight)
    error = mismatch_ratio(found.margin, asked.choice, asked.weight)
    return Outcome(contender.name, split, error, cost, seconds)


def _try_pairing(
    votes: Votes,
    splits: Sequence[Fold],
    features: Floats | None,
    over: HeldOut,
    random_state: int,
    pairing: Pairing,
) -> Outcome | str:
    """The outcome, or why there is none: one method's trouble is not the others'."""
    task = Task(votes, splits[pairing.split], features, over, random_state + pairing.split)
    try:
        return judge(pairing.contender, task, pairing.split)
    except PrefpathError as error:
        return str(error)


def _least_mismatch(votes: Votes, splits: Sequence[Fold]) -> float:
    tied = votes.choice == 0
    return float(np.mean([0.5 * fold.test[tied].sum() / fold.test.sum() for fold in splits]))
