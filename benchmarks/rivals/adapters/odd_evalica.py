"""evalica on odd votes, through its own reader of CSV files (`evalica -i votes.csv`)."""

from __future__ import annotations

import io
import math

import evalica
import pandas as pd
from evalica.__main__ import read_csv
from odd_harness import main


def rank(votes: list[list[str]]) -> dict[str, float]:
    frame = pd.DataFrame(votes, columns=["who", "left", "right", "winner"])
    columns = read_csv(io.StringIO(frame.to_csv(index=False)))
    scores = evalica.bradley_terry(*columns).scores
    return {item: math.log(score) for item, score in scores.items()}


if __name__ == "__main__":
    main(rank)
