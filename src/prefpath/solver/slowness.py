"""What makes a path slow, said once it has cost more than paths do."""

from __future__ import annotations

import warnings

import numpy as np

from prefpath.errors import VoteWarning
from prefpath.model.problem import Problem
from prefpath.solver.work import Work

# The paper's simulation, with features and hundreds of active annotators, takes 20,000.
_MANY_EVALUATIONS = 50_000
_MANY_ITERATIONS = 5_000_000  # of LBI; the same simulation takes 1.6 million
# Kappas and ratios of spreads from which they alone may be the reason.
_LARGE_KAPPA, _UNLIKE = 1_000.0, 30.0


def say_if_slow(problem: Problem, work: Work) -> None:
    """Warn once when a path by `flow` has used up what paths need."""
    if work.evaluations <= _MANY_EVALUATIONS or work.said_slow:
        return
    work.said_slow = True
    if problem.votes.choice.any():  # that all votes are ties is said elsewhere
        _say(f"the path has taken {_MANY_EVALUATIONS:,} evaluations and goes on", problem)


def say_if_many(problem: Problem, n_iterations: float) -> None:
    """Warn before a path by LBI that takes more iterations than paths do."""
    if n_iterations > _MANY_ITERATIONS:
        _say(f"the path takes {n_iterations:,.0f} iterations", problem)


def _say(what: str, problem: Problem) -> None:
    warnings.warn(f"{what}: {_reason(problem)}", VoteWarning, stacklevel=4)


def _reason(problem: Problem) -> str:
    """Why the equation is stiff, with the remedy."""
    if problem.features is not None:
        spread = np.ptp(problem.features, axis=0)
        spread = spread[spread > 0.0]
        if len(spread) and spread.max() > _UNLIKE * spread.min():
            return (
                f"the spreads of the features differ by a factor of "
                f"{spread.max() / spread.min():.2g}, and the widest sets the step; centre and "
                f"scale them (PreferenceModel does, by standardise=True)"
            )
    if problem.kappa >= _LARGE_KAPPA:
        return f"steps shrink as kappa grows, and it is {problem.kappa:g}; a kappa of 20 is usual"
    return (
        "so many annotators stand out, each at a moment of their own; a smaller t_ratio, folds "
        "that stop it (cv=5) or balance=False make it shorter"
    )
