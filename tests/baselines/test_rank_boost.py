"""RankBoost against a literal transcription of the algorithm, and its guarantee."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from prefpath import Votes
from prefpath.baselines import RankBoost
from prefpath.baselines.rank_boost import threshold_rankers
from prefpath.baselines.training import Training


def literal_rank_boost(
    rankers: np.ndarray, pairs: list[tuple[int, int, float]], n_rounds: int, smoothing: float
) -> np.ndarray:
    """Figure 1 of Freund et al.: a distribution over pairs, no potentials, no arrays of pairs."""
    distribution = {(w, j): c for w, j, c in pairs}
    total = sum(distribution.values())
    distribution = {pair: c / total for pair, c in distribution.items()}
    scores = np.zeros(rankers.shape[1])
    for _ in range(n_rounds):
        gains = [
            sum(d * (float(h[w]) - float(h[j])) for (w, j), d in distribution.items())
            for h in rankers
        ]
        h = rankers[int(np.argmax(np.abs(gains)))].astype(float)
        right = sum(d for (w, j), d in distribution.items() if h[w] > h[j])
        wrong = sum(d for (w, j), d in distribution.items() if h[w] < h[j])
        step = 0.5 * np.log((right + smoothing) / (wrong + smoothing))
        scores += step * h
        distribution = {
            (w, j): d * np.exp(step * (h[j] - h[w])) for (w, j), d in distribution.items()
        }
        z = sum(distribution.values())
        distribution = {pair: d / z for pair, d in distribution.items()}
    return scores


def test_equals_the_published_algorithm(votes: Votes) -> None:
    features = np.random.default_rng(0).normal(size=(votes.n_items, 3))
    training = Training.from_votes(votes, features)
    rankers = threshold_rankers(training, 32)
    assert rankers is not None
    counts = training.counts
    pairs = [
        *zip(counts.first, counts.second, counts.wins, strict=True),
        *zip(counts.second, counts.first, counts.losses, strict=True),
    ]
    decided = float(votes.without_ties().total_weight)
    expected = literal_rank_boost(rankers, pairs, 25, 0.5 / decided)
    found = RankBoost(rounds=25).fit(votes, features).scores()
    assert_allclose(found, expected - expected.mean(), atol=1e-10)


def test_thresholds_are_all_the_splits_of_a_feature() -> None:
    votes = Votes.from_arrays(["u"] * 3, list("abc"), list("bca"), [1, 1, 1], items=list("abcd"))
    features = np.array([[1.0], [2.0], [4.0], [9.0]])  # nobody compared d
    rankers = threshold_rankers(Training.from_votes(votes, features), 32)
    assert rankers is not None
    splits = {tuple(row) for row in rankers.tolist()}
    assert splits == {(False, True, True, True), (False, False, True, True)}


def test_every_round_lowers_the_exponential_loss(votes: Votes) -> None:
    counts = Training.from_votes(votes).counts
    losses = []
    for rounds in (1, 2, 4, 8, 16, 32, 64):
        s = RankBoost(rounds=rounds).fit(votes).scores()
        gap = s[counts.first] - s[counts.second]
        losses.append(counts.wins @ np.exp(-gap) + counts.losses @ np.exp(gap))
    assert (np.diff(losses) < 0).all()


def test_snapshots_are_runs_of_that_length(votes: Votes) -> None:
    path = RankBoost(rounds=(3, 10))._fit_path(Training.from_votes(votes))
    assert_allclose(path[0].scores, RankBoost(rounds=3).fit(votes).scores())
    assert_allclose(path[1].scores, RankBoost(rounds=10).fit(votes).scores())
