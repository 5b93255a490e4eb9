"""arena-rank on odd votes: its own data set, ratings with sandwich intervals."""

from __future__ import annotations

import pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset
from odd_harness import main


def rank(votes: list[list[str]]) -> dict[str, float]:
    words = {"left": "model_a", "right": "model_b"}
    rows = [(a, b, words.get(v, v)) for _, a, b, v in votes]
    data = PairDataset.from_pandas(pd.DataFrame(rows, columns=["model_a", "model_b", "winner"]))
    model = BradleyTerry(n_competitors=len(data.competitors))
    found = model.compute_ratings_and_cis(data)
    return dict(zip(data.competitors, found["ratings"], strict=True))


if __name__ == "__main__":
    main(rank)
