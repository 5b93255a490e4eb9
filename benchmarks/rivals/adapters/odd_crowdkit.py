"""crowd-kit's noisy Bradley-Terry on odd votes: the label is the winner's name."""

from __future__ import annotations

import pandas as pd
from crowdkit.aggregation import NoisyBradleyTerry
from odd_harness import main


def rank(votes: list[list[str]]) -> dict[str, float]:
    names = {"left": 1, "right": 2}
    rows = [(u, a, b, (u, a, b)[names[v]] if v in names else v) for u, a, b, v in votes]
    frame = pd.DataFrame(rows, columns=["worker", "left", "right", "label"])
    return dict(NoisyBradleyTerry().fit_predict(frame))


if __name__ == "__main__":
    main(rank)
