"""crowd-kit: its noisy Bradley-Terry, which knows workers; a data frame is prepared."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from crowdkit.aggregation import NoisyBradleyTerry
from harness import Task, Votes, main


class Ready(NamedTuple):
    frame: pd.DataFrame
    n_items: int
    n_annotators: int


def prepare(votes: Votes, _: Path) -> Ready:
    columns = {"worker": votes.annotator, "left": votes.left, "right": votes.right}
    frame = pd.DataFrame({**columns, "label": votes.winners_and_losers()[0]})
    return Ready(frame, votes.n_items, votes.n_annotators)


def rank(ready: Ready) -> NoisyBradleyTerry:
    return NoisyBradleyTerry(random_state=0).fit(ready.frame)


def scores(ready: Ready, model: NoisyBradleyTerry) -> dict[str, np.ndarray]:
    share = np.clip(model.scores_.reindex(range(ready.n_items)).to_numpy(), 1e-12, 1 - 1e-12)
    return {"scores": np.log(share / (1 - share))}


def oddness(ready: Ready, model: NoisyBradleyTerry) -> dict[str, np.ndarray]:
    """How far a worker's skill or bias lies from the middle of the crowd's, in its own spread."""
    odd = np.zeros(ready.n_annotators)
    for values in (model.skills_, model.biases_):
        value = values.reindex(range(ready.n_annotators)).to_numpy()
        away = np.abs(value - np.nanmedian(value))
        odd = np.fmax(odd, away / max(float(np.nanmedian(away)), 1e-12))
    return {**scores(ready, model), "oddness": odd}


if __name__ == "__main__":
    main({"rank": Task(rank, prepare, scores), "find": Task(rank, prepare, oddness)})
