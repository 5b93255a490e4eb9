"""Elo: ratings that move a step after every vote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from prefpath.baselines.base import Baseline, Fit, Grid, as_grid
from prefpath.baselines.training import Training
from prefpath.compiling import kernel
from prefpath.votes.encode import CodeArray, FloatArray, IntArray

POINTS_PER_LOGIT = 400.0 / np.log(10.0)


@dataclass(frozen=True, kw_only=True)
class Elo(Baseline):
    """After each vote the winner takes `K * (1 - P(win))` points from the loser.

    `Votes` keeps no time, and identical votes are one row: they are played in random order,
    `n_shuffles` times from the start, and the final ratings are averaged. A tie is half a win.
    A row that weighs w is played max(count, ceil(w)) times with an equal share of w each.
    Features are not used; an item nobody compared keeps rating 0.

    Scores are in logits, as in Bradley-Terry; `1000 + 173.7 * score` is the usual display.

    Parameters
    ----------
    K : float or tuple of float
        Largest step, in points of 400 for odds of 10 to 1.
    n_shuffles : int

    References
    ----------
    A. E. Elo (1978). The rating of chessplayers, past and present.
    """

    name: ClassVar[str] = "Elo"
    probabilistic: ClassVar[bool] = True
    uses_features: ClassVar[bool] = False

    K: Grid = (4.0, 8.0, 16.0, 32.0, 64.0)
    n_shuffles: int = 20

    def _fit_path(self, training: Training) -> Sequence[Fit]:
        rows, share = _games(training)
        votes = training.votes
        result = (np.sign(votes.choice) + 1.0) / 2.0
        rng = np.random.default_rng(self.random_state)
        steps = np.array(as_grid(self.K)) / POINTS_PER_LOGIT
        total = np.zeros((len(steps), training.n_items))
        for _ in range(self.n_shuffles):
            order = rng.permutation(len(rows))
            played = rows[order]
            for rating, step in zip(total, steps, strict=True):
                rating += play(
                    votes.left[played],
                    votes.right[played],
                    result[played],
                    step * share[order],
                    training.n_items,
                )
        return [
            Fit(rating / self.n_shuffles, {"K": K})
            for rating, K in zip(total, as_grid(self.K), strict=True)
        ]


def _games(training: Training) -> tuple[IntArray, FloatArray]:
    """The rows to play, repeated ones repeatedly, and the weight of each game (at most 1)."""
    weight = training.weight
    n_games = np.where(weight > 0, np.maximum(training.votes.count, np.ceil(weight)), 0).astype(int)
    rows = np.repeat(np.arange(len(weight)), n_games)
    return rows, weight[rows] / n_games[rows]


@kernel()
def play(
    left: CodeArray, right: CodeArray, result: FloatArray, step: FloatArray, n_items: int
) -> FloatArray:
    """Ratings (in logits) after all games, in the order given; result 1 is a win of the left."""
    rating = np.zeros(n_items)
    for game in range(len(left)):
        i, j = left[game], right[game]
        surprise = result[game] - 1.0 / (1.0 + np.exp(rating[j] - rating[i]))
        rating[i] += step[game] * surprise
        rating[j] -= step[game] * surprise
    return rating
