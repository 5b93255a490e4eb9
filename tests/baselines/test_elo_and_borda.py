"""Elo against the chess federation's formula and a plain loop; Borda by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from prefpath import Votes
from prefpath.baselines import Borda, BradleyTerry, Elo
from prefpath.baselines.elo import POINTS_PER_LOGIT, _games, play
from prefpath.baselines.training import Training


@pytest.mark.parametrize(
    ("opponent", "expected"), [(1609, 0.51), (1477, 0.69), (1388, 0.79), (1586, 0.54), (1720, 0.35)]
)
def test_expected_scores_of_the_textbook_tournament(opponent: float, expected: float) -> None:
    """Wikipedia, "Elo rating system": a player rated 1613 and what he may expect."""
    votes = Votes.from_arrays(["u"], ["a"], ["b"], [1])
    elo = Elo(K=16.0).fit(votes)
    gap = (1613 - opponent) / POINTS_PER_LOGIT
    object.__setattr__(elo._fitted.fit, "scores", np.array([gap, 0.0]))
    assert elo.predict_proba(votes)[0] == pytest.approx(expected, abs=0.006)


def test_one_game_moves_half_of_k() -> None:
    votes = Votes.from_arrays(["u"], ["a"], ["b"], [1])
    points = Elo(K=32.0).fit(votes).scores() * POINTS_PER_LOGIT
    assert_allclose(points, [16, -16])


def test_games_in_order_equal_a_plain_loop() -> None:
    rng = np.random.default_rng(0)
    left = rng.integers(5, size=200).astype(np.int32)
    right = ((left + rng.integers(1, 5, size=200)) % 5).astype(np.int32)
    result = rng.choice([0.0, 0.5, 1.0], size=200)
    rating = dict.fromkeys(range(5), 1500.0)
    for i, j, won in zip(left.tolist(), right.tolist(), result, strict=True):
        expected = 1 / (1 + 10 ** ((rating[j] - rating[i]) / 400))
        rating[i] += 20 * (won - expected)
        rating[j] -= 20 * (won - expected)
    found = play(left, right, result, np.full(200, 20 / POINTS_PER_LOGIT), 5)
    assert_allclose(found * POINTS_PER_LOGIT + 1500, list(rating.values()))


def test_small_steps_and_many_games_approach_bradley_terry(planted_votes) -> None:
    truth = np.linspace(-1, 1, 6)
    votes = planted_votes(truth, n_votes=30_000, tie_share=0.0)
    elo = Elo(K=2.0, n_shuffles=10).fit(votes).scores()
    assert_allclose(elo, BradleyTerry().fit(votes).scores(), atol=0.05)


def test_heavy_rows_are_played_in_pieces_of_at_most_one() -> None:
    votes = Votes.from_arrays(list("uvwx"), ["a"] * 4, ["b"] * 4, [1] * 4)
    rows, share = _games(Training.from_votes(votes, weight=[2.5, 1.0, 0.25, 0.0]))
    assert rows.tolist() == [0, 0, 0, 1, 2]
    assert_allclose(share, [2.5 / 3, 2.5 / 3, 2.5 / 3, 1.0, 0.25])


def test_shuffles_average_the_order_away(votes: Votes) -> None:
    def spread(n_shuffles: int) -> float:
        runs = [
            Elo(K=32.0, n_shuffles=n_shuffles, random_state=s).fit(votes).scores() for s in range(8)
        ]
        return float(np.std(runs, axis=0).mean())

    assert spread(25) < spread(1) / 3


def test_borda_counts_shares() -> None:
    votes = Votes.from_arrays(
        ["u", "u", "v", "w"], list("aaab"), list("bbcc"), [1, -1, 0, 1], items=list("abcd")
    )
    # a: 1 win, 1 loss, 1 tie; b: 1 win, 1 loss, 1 win; c: 1 tie, 1 loss; d: nothing
    assert_allclose(Borda().fit(votes).scores(), [1.5 / 3, 2 / 3, 0.5 / 2, 0.5])
