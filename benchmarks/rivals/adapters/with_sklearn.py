"""scikit-learn: logistic regression without penalty on differences, wins pooled by pair."""

from __future__ import annotations

import numpy as np
from harness import Task, Votes, main
from scipy import sparse
from sklearn.linear_model import LogisticRegression


def rank(votes: Votes) -> dict[str, np.ndarray]:
    winner, loser = votes.winners_and_losers()
    n = votes.n_items
    key, count = np.unique(winner.astype(np.int64) * n + loser, return_counts=True)
    rows, one = np.arange(len(key)), np.ones(len(key))
    columns = np.concatenate([key // n, key % n])
    values = np.concatenate([one, -one])
    half = sparse.csr_matrix((values, (np.tile(rows, 2), columns)), shape=(len(key), n))
    design = sparse.vstack([half, -half], format="csr")  # both orders: two classes are needed
    target = np.concatenate([one, -one])
    model = LogisticRegression(C=np.inf, fit_intercept=False, max_iter=1_000)
    model.fit(design, target, sample_weight=np.tile(count, 2) / 2)
    return {"scores": model.coef_[0]}


if __name__ == "__main__":
    main({"rank": Task(rank)})
