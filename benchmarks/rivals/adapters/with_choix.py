"""choix: wins counted by one `bincount`, then its dense iterative Luce spectral ranking."""

from __future__ import annotations

import choix
import numpy as np
from harness import Task, Votes, main


def rank(votes: Votes) -> dict[str, np.ndarray]:
    winner, loser = votes.winners_and_losers()
    n = votes.n_items
    key = winner.astype(np.int64) * n + loser
    wins = np.bincount(key, minlength=n * n).reshape(n, n)
    return {"scores": choix.ilsr_pairwise_dense(wins.astype(float))}


if __name__ == "__main__":
    main({"rank": Task(rank)})
