"""arena-rank: Bradley-Terry in JAX; a data frame is prepared, pooling by pair is its own work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset
from harness import A_FEW, Task, Votes, main


def prepare(votes: Votes, _: Path) -> tuple[pd.DataFrame, int]:
    winner = np.where(votes.choice > 0, "model_a", "model_b")
    frame = pd.DataFrame({"model_a": votes.left, "model_b": votes.right, "winner": winner})
    return frame, votes.n_items


def rank(ready: tuple[pd.DataFrame, int]) -> tuple[Any, Any]:
    data = PairDataset.from_pandas(ready[0])
    model = BradleyTerry(n_competitors=len(data.competitors))
    model.fit(data)
    return data.competitors, np.asarray(model.params["ratings"])


def judge(ready: tuple[pd.DataFrame, int], found: tuple[Any, Any]) -> dict[str, np.ndarray]:
    scores = np.zeros(ready[1])
    scores[np.asarray(found[0], dtype=int)] = found[1]
    return {"scores": scores}


if __name__ == "__main__":
    main({"rank": Task(rank, prepare, judge, warm=A_FEW)})
