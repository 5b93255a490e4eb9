"""evalica: Bradley-Terry in Rust; lists of labels and winners are prepared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import evalica
import numpy as np
from harness import Task, Votes, main


def prepare(votes: Votes, _: Path) -> tuple[Any, ...]:
    winner = [evalica.Winner.X if won else evalica.Winner.Y for won in votes.choice > 0]
    return votes.left.tolist(), votes.right.tolist(), winner, votes.n_items


def rank(ready: tuple[Any, ...]) -> Any:
    return evalica.bradley_terry(*ready[:3]).scores


def judge(ready: tuple[Any, ...], found: Any) -> dict[str, np.ndarray]:
    strength = found.reindex(range(ready[3])).to_numpy()
    return {"scores": np.log(np.maximum(strength, 1e-300))}


if __name__ == "__main__":
    main({"rank": Task(rank, prepare, judge)})
