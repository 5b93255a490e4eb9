"""Does a judge favour its own? How often that is said of judges that do not, and of those that do.

    python benchmarks/own_items.py             60 crowds a row
    python benchmarks/own_items.py --crowds 10

Judges are items themselves. All have a lean (standard deviation .4) and an attention (.3); in some
rows tastes of their own for every item, and a favour for their own that is the same for all.
Printed: p-values below .05 (without a favour, 5 % are right), judges that are named, the mean
favour, and how often intervals hold the true one, the taste for one's own item included.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np

from prefpath import PreferenceModel, Votes
from prefpath.diagnose import OwnItems, own_items_favoured


class Row(NamedTuple):
    """Judges, items, votes of each judge, what they add to their own, and other tastes' size."""

    judges: int
    items: int
    votes: int
    favour: float
    tastes: float


ROWS = (
    Row(8, 8, 300, 0.0, 0.0),
    Row(8, 8, 300, 0.5, 0.0),
    Row(8, 8, 300, 0.0, 0.3),
    Row(8, 8, 300, 1.0, 0.3),
    Row(4, 12, 600, 0.0, 0.0),
    Row(4, 12, 600, 0.5, 0.0),
    Row(3, 6, 400, 0.0, 0.3),
    Row(30, 10, 100, 0.0, 0.3),
    Row(100, 10, 60, 0.0, 0.0),
    Row(100, 10, 60, 1.0, 0.3),
)


def crowd(row: Row, seed: int) -> tuple[Votes, np.ndarray]:
    """Votes, and what each judge that is an item has for itself beyond the common score."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(0.0, 1.0, row.items)
    own = rng.normal(0.0, row.tastes, (row.judges, row.items))
    both = np.arange(min(row.judges, row.items))
    relative = own - own.mean(axis=1, keepdims=True)  # a taste for everything is none,
    relative -= relative.mean(axis=0)  # and what all judges have is the score
    own[both, both] += row.favour
    seen = (1.0 + rng.normal(0.0, 0.3, (row.judges, 1))) * theta + own
    judge = np.repeat(np.arange(row.judges), row.votes)
    left = rng.integers(0, row.items, len(judge))
    right = (left + rng.integers(1, row.items, len(judge))) % row.items
    lean = rng.normal(0.0, 0.4, row.judges)[judge]
    margin = seen[judge, left] - seen[judge, right] + lean
    choice = np.where(rng.random(len(judge)) < 1.0 / (1.0 + np.exp(-margin)), 1, -1)
    names = np.array([f"m{k}" for k in range(max(row.judges, row.items))])
    true = row.favour + relative[both, both]
    return Votes.from_arrays(names[judge], names[left], names[right], choice), true


def measure(row: Row, n_crowds: int) -> str:
    """A line of the table."""
    p, favour, named, held = [], [], [], []
    for seed in range(n_crowds):
        votes, true = crowd(row, seed)
        found = own_items_favoured(PreferenceModel(cv=0, n_times=2, t_ratio=1.1).fit(votes))
        assert isinstance(found, OwnItems)
        at = [int(name[1:]) for name in found.columns["annotator"]]
        columns = {name: np.array(values) for name, values in found.columns.items()}
        p.append(columns["p_value"])
        favour.append(columns["favour"])
        named.append(columns["verdict"] != "no favour shown")
        held.append((columns["favour_low"] <= true[at]) & (true[at] <= columns["favour_high"]))
    parts = [np.concatenate(part) for part in (p, named, favour, held)]
    small = float((parts[0] < 0.05).mean())
    shape = f"{row.judges:>6}{row.items:>6}{row.votes:>6}{row.favour:>8}{row.tastes:>8}"
    means = "".join(f"{float(part.mean()):>9.3f}" for part in parts[1:])
    return f"{shape}{small:>9.3f}{means}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--crowds", type=int, default=60)
    asked = parser.parse_args()
    print("judges items votes  favour  tastes    p<.05    named   favour     held")
    for row in ROWS:
        print(measure(row, asked.crowds), flush=True)


if __name__ == "__main__":
    main()
