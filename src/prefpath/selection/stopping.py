"""When cross-validation knows enough: the held-out error has risen for sure, or stands still."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from prefpath.model.design import Floats, Ints
from prefpath.solver.flow import SHARE_TO_SEE
from prefpath.solver.grid import FIRST_RATIO, LAST_RATIO


@dataclass(frozen=True)
class Stopping:
    """When to stop following a path beside its folds; ratios are of the first entry.

    Attributes
    ----------
    first_ratio : float
        How far to go before anything is asked.
    stretch_ratio : float
        How much further at a time from there on, three knots at most.
    sure : float
        A rise over the least error is sure above so many of its standard errors.
    settled_ratio, settled_from : float
        The error counts as settled where its least lies a factor of `settled_ratio` back, but
        not before `settled_from`, however unsure its rise.
    entered : float
        Share of the annotators who must have come in before either counts: where a few vote far
        more than all others, the error may rise long before it falls.
    standstill : float
        Relative change of the error over a factor of two that is none, once everybody is in.
    last_ratio : float
        Where to stop in any case.
    most_evaluations : int
        Of the path: beyond, it ends at the next decision, and says so.
    fold_tolerance : float
        Local error of the folds' steps: they only tell where to stop, and need not be followed
        as closely as the path (docs/selection.md has what that changes).
    fold_tolerance_with_attention : float
        The same with attention, whose steps are held to a fraction of their tolerance.
    """

    first_ratio: float = 2.0
    stretch_ratio: float = 1.25
    sure: float = 2.0
    settled_ratio: float = 4.0
    settled_from: float = FIRST_RATIO
    entered: float = SHARE_TO_SEE
    standstill: float = 1e-4
    last_ratio: float = LAST_RATIO
    most_evaluations: int = 200_000
    fold_tolerance: float = 2e-2
    fold_tolerance_with_attention: float = 6e-2

    def tolerance_of_folds(self, *, attention: bool) -> float:
        """Local error of the steps of folds, of a model with or without attention."""
        return self.fold_tolerance_with_attention if attention else self.fold_tolerance


class HasWho(Protocol):
    """Whose votes are held out, by number."""

    @property
    def who(self) -> Ints: ...


class Costs(Protocol):
    """What a fold's scorer tells: errors at all knots, and costs by annotator at the last ones."""

    times: list[float]
    errors: list[float]
    wrong: list[float]
    costs: list[Floats]

    @property
    def held_out(self) -> HasWho: ...

    def forget(self) -> None: ...


class WatchState(NamedTuple):
    """How many knots were seen, of how many at the end the rise was sure, and the best one."""

    n_seen: int
    n_sure: int
    least: float
    best: Floats


class RiseWatch:
    """Pairs the held-out costs of each knot with those of the best one, annotator by annotator.

    Votes of one annotator go right or wrong together, so that annotators, not votes, are what the
    standard error counts. A rise that is the doing of one or two is therefore never sure:
    whoever votes far more than all others cannot end the path before the others come in.
    """

    def __init__(self, n_annotators: int) -> None:
        self.n_seen, self.n_sure = 0, 0
        self._n_annotators = n_annotators
        self._least = np.inf
        self._best = np.zeros(0)

    def see(self, scorers: Sequence[Costs], sure: float) -> None:
        """Take in the knots the scorers have passed since the last call."""
        n_knots = len(scorers[0].errors)
        for k in range(self.n_seen - n_knots, 0):  # from the end: folds may have forgotten some
            mean = _mean_error(scorers, k)
            cost = self._cost_by_annotator(scorers, k)
            if mean < self._least:
                self._least, self._best, self.n_sure = mean, cost, 0
            else:
                self.n_sure = self.n_sure + 1 if surely_above(cost, self._best, sure) else 0
        self.n_seen = n_knots
        for scorer in scorers:
            scorer.forget()

    def state(self) -> WatchState:
        """What has been seen, as plain arrays and numbers."""
        return WatchState(self.n_seen, self.n_sure, self._least, self._best)

    def restore(self, state: WatchState) -> None:
        """Go on after what a state has seen."""
        self.n_seen, self.n_sure = state.n_seen, state.n_sure
        self._least, self._best = state.least, state.best

    def _cost_by_annotator(self, scorers: Sequence[Costs], k: int) -> Floats:
        cost = np.zeros(self._n_annotators)
        for scorer in scorers:
            cost[scorer.held_out.who] += scorer.costs[k]
        return cost


def _mean_error(scorers: Sequence[Costs], k: int) -> float:
    return float(np.mean([scorer.errors[k] for scorer in scorers]))


def surely_above(cost: Floats, best: Floats, sure: float) -> bool:
    """Whether the sum of the paired differences exceeds its standard error that often.

    >>> surely_above(np.full(9, 2.0), np.full(9, 1.0), 2.0)
    True
    >>> surely_above(np.array([9.0, 1.0, 1.0]), np.full(3, 1.0), 2.0)
    False
    """
    difference = cost - best
    return bool(difference.sum() > sure * np.sqrt(np.sum(difference**2)))


def stands_still(times: Floats, mean: Floats, standstill: float) -> bool:
    """Whether the error over the last factor of two in time is all the same."""
    late = mean[times >= times[-1] / 2.0]
    return len(late) > 1 and bool(np.ptp(late) <= standstill * late.min())
