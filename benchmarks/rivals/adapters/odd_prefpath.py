"""prefpath on odd votes, read from a CSV file as a user's are."""

from __future__ import annotations

import csv
import tempfile
import warnings
from pathlib import Path

from odd_harness import main

from prefpath import rank as rank_votes


def rank(votes: list[list[str]]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "votes.csv"
        with file.open("w", newline="") as target:
            csv.writer(target).writerows([["annotator", "left", "right", "choice"], *votes])
        found = rank_votes(file)
    warnings.warn(" ".join(found.notes), stacklevel=1)
    return dict(zip(found.items, found.scores, strict=True))


if __name__ == "__main__":
    main(rank)
