"""evalica on odd votes: verdicts read as its own command reads them (`evalica -i votes.csv`)."""

from __future__ import annotations

import math

import evalica
import pandas as pd
from evalica.__main__ import WINNERS
from odd_harness import main


def rank(votes: list[list[str]]) -> dict[str, float]:
    frame = pd.DataFrame(votes, columns=["who", "left", "right", "winner"])
    frame["winner"] = frame["winner"].str.lower().map(WINNERS)
    frame = frame[~frame["winner"].isna()]
    found = evalica.bradley_terry(
        frame["left"].tolist(), frame["right"].tolist(), frame["winner"].tolist()
    )
    return {item: math.log(score) for item, score in found.scores.items()}


if __name__ == "__main__":
    main(rank)
