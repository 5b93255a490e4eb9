"""Many votes: Parquet in parts, a plain ranking, a path without intervals, a save and a load.

A hundred thousand votes here, so that it runs in seconds; `python examples/large_data.py 1e7`
takes as many as your memory holds (about 50 bytes a vote).
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import duckdb

from prefpath import fit_path, rank, read_votes
from prefpath.path import Path as PreferencePath

n_votes = int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000

# Votes as a warehouse writes them: several Parquet files of one table. u0 to u9 see it backwards.
MAKE = """
COPY (
    SELECT 'u' || who AS annotator, 'item ' || l AS left, 'item ' || r AS right,
           CASE WHEN random() < 1 / (1 + exp(if(who < 10, l - r, r - l) / 25.0))
                THEN 'left' ELSE 'right' END AS choice
    FROM (SELECT k % 1000 AS who, floor(random() * 100)::INT AS l, floor(random() * 100)::INT AS r
          FROM range({n}) t(k))
    WHERE l <> r
) TO '{file}' (FORMAT parquet)
"""


def say(what: str, start: float) -> None:
    print(f"{what}: {time.process_time() - start:.1f} s CPU")


with tempfile.TemporaryDirectory() as folder:
    for part in range(4):
        file = Path(folder) / f"part{part}.parquet"
        duckdb.sql(MAKE.format(n=n_votes // 4, file=file))

    start = time.process_time()
    ranking = rank(Path(folder), interval=None)  # a folder is one table
    say(f"plain ranking of {len(ranking.scores)} items", start)

    start = time.process_time()
    votes = read_votes(Path(folder))
    say(f"{votes.n_votes:,} votes read", start)

    start = time.process_time()
    path = fit_path(votes, n_times=20, t_ratio=2.0)  # up to twice the first entry
    say(f"a path of {len(path.times)} times", start)
    first = path.entry_times().argsort()[:5]
    print("first to have a ranking of their own:", ", ".join(votes.annotators[first]))

    path.save(Path(folder) / "path.npz")
    again = PreferencePath.load(Path(folder) / "path.npz")
    print("saved and loaded:", (again.times == path.times).all())
