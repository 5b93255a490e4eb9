"""Planted crowds for the baselines."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import expit

from prefpath import Votes

MakeVotes = Callable[..., Votes]


@pytest.fixture(scope="session")
def planted_votes() -> MakeVotes:
    """Votes on items with given scores, by annotators who all agree up to logistic noise."""

    def make(
        scores: np.ndarray, n_votes: int = 1500, seed: int = 0, tie_share: float = 0.1
    ) -> Votes:
        rng = np.random.default_rng(seed)
        n = len(scores)
        left = rng.integers(n, size=n_votes)
        right = (left + rng.integers(1, n, size=n_votes)) % n
        wins = rng.random(n_votes) < expit(scores[left] - scores[right])
        choice = np.where(rng.random(n_votes) < tie_share, 0, np.where(wins, 1, -1))
        names = np.array([f"item {k:02d}" for k in range(n)])
        annotator = np.array([f"u{k}" for k in rng.integers(12, size=n_votes)])
        return Votes.from_arrays(annotator, names[left], names[right], choice, items=names)

    return make


@pytest.fixture(scope="session")
def true_scores() -> np.ndarray:
    return np.random.default_rng(7).permutation(np.linspace(-2.5, 2.5, 10))


@pytest.fixture(scope="session")
def votes(planted_votes: MakeVotes, true_scores: np.ndarray) -> Votes:
    return planted_votes(true_scores)
