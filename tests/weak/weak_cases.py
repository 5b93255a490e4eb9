"""Small crowds and posteriors that the tests of the weak part share."""

from __future__ import annotations

import numpy as np

from prefpath.model.problem import Problem
from prefpath.votes import Votes
from prefpath.weak.layout import Ballots, Coefficients
from prefpath.weak.mode import Posterior
from prefpath.weak.strengths import GROUPS, Entered, groups_of, scale_of

LOSSES = ("bradley-terry", "thurstone-mosteller", "linear")


def small_votes(n_votes: int = 80, n_annotators: int = 5, n_items: int = 6, seed: int = 0) -> Votes:
    """Random votes, ties and weights among them."""
    rng = np.random.default_rng(seed)
    left = rng.integers(0, n_items, n_votes)
    right = (left + rng.integers(1, n_items, n_votes)) % n_items
    choice = rng.choice([-1.0, 0.0, 1.0], n_votes, p=[0.35, 0.1, 0.55])
    who = rng.integers(0, n_annotators, n_votes)
    return Votes.from_arrays(
        [f"a{u}" for u in who],
        [f"i{k}" for k in left],
        [f"i{k}" for k in right],
        choice,
        rng.choice([0.5, 1.0, 2.0], n_votes),
        annotators=[f"a{u}" for u in range(n_annotators)],
        items=[f"i{k}" for k in range(n_items)],
    )


def small_problem(loss: str = "bradley-terry", *, features: bool = False, seed: int = 0) -> Problem:
    votes = small_votes(seed=seed)
    phi = np.random.default_rng(seed + 1).normal(size=(votes.n_items, 2)) if features else None
    return Problem.build(votes, loss=loss, features=phi, common_position=True)


def nobody_but_two(n_annotators: int) -> Entered:
    """The first annotator has a taste, the second leans and looks away."""
    first, second = np.arange(n_annotators) == 0, np.arange(n_annotators) == 1
    return Entered(first, second, second)


def small_posterior(problem: Problem) -> tuple[Posterior, Coefficients]:
    """A posterior with a strength of its own for every group."""
    ballots = Ballots.of(problem)
    groups = groups_of(ballots, nobody_but_two(problem.votes.n_annotators))
    tau = np.linspace(0.4, 1.3, len(GROUPS))
    return Posterior(ballots, scale_of(ballots, groups, tau)), groups
