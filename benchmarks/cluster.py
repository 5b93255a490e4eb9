"""A path on worker processes of this machine: rounds, their share of the time, 1 and 2 workers.

    python benchmarks/cluster.py                   2 million votes in 8 files
    python benchmarks/cluster.py --votes 20000000 --files 20
    python benchmarks/cluster.py --quick           200,000 votes

Workers read Parquet files into shards and hold who waits; the same path is fitted on this machine
alone (read and followed by two threads). Ratios mean something on a quiet machine only.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from distributed import Client, LocalCluster

from prefpath import Path as VotePath
from prefpath import fit_path, read_votes, simulate_crowd
from prefpath.distributed import shard_votes
from prefpath.distributed.flow import begin_path
from prefpath.distributed.paths import model_of
from prefpath.model.problem import Problem
from prefpath.solver.flow import follow_grid
from prefpath.solver.grid import make_grid
from prefpath.tables import write_table

_RATIO = 10.0


class Run(NamedTuple):
    """Seconds of reading and of the path, its rounds and the seconds waited in them."""

    reading: float
    following: float
    n_rounds: int
    waited: float
    path: VotePath

    @property
    def total(self) -> float:
        return self.reading + self.following


def write_files(folder: Path, n_votes: int, n_files: int) -> None:
    """A crowd of one annotator for 100 votes on 200 items, its rows dealt out to Parquet files."""
    votes = simulate_crowd(
        n_votes, max(20, n_votes // 100), 200, deviants=20, clickers=20, seed=0
    ).votes
    who = votes.annotators[votes.annotator]
    for k in range(n_files):
        rows = slice(k, None, n_files)
        columns = {
            "annotator": who[rows],
            "left": votes.items[votes.left[rows]],
            "right": votes.items[votes.right[rows]],
            "choice": np.where(votes.choice[rows] > 0, "left", "right"),
            "weight": votes.weight[rows],
        }
        write_table(columns, folder / f"part-{k:03d}.parquet")


def on_workers(pattern: str, n_workers: int, folder: Path, memory: str) -> Run:
    """Read and follow on a cluster of so many processes."""
    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            memory_limit=memory,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        start = time.perf_counter()
        sharded = shard_votes(pattern, client, folder)
        read = time.perf_counter()
        model = model_of(Problem.build(sharded.read(0)))
        under_way = begin_path(client, sharded, model)
        follow_grid(under_way.solver, make_grid(None, 20, _RATIO))
        path, rounds = under_way.path(), under_way.rooms.fleet.rounds
        end = time.perf_counter()
        under_way.close()
    return Run(read - start, end - read, rounds.number, rounds.seconds, path)


def here(pattern: str) -> Run:
    """Read and follow on this machine."""
    start = time.perf_counter()
    votes = read_votes(pattern)
    read = time.perf_counter()
    path = fit_path(votes, n_times=20, t_ratio=_RATIO)
    return Run(read - start, time.perf_counter() - read, 0, 0.0, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--votes", type=int, default=2_000_000)
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--memory", default="3GiB", help="of each worker")
    parser.add_argument("--quick", action="store_true", help="200,000 votes")
    asked = parser.parse_args()
    n_votes = 200_000 if asked.quick else asked.votes
    with tempfile.TemporaryDirectory() as own:
        folder = Path(own)
        (folder / "votes").mkdir()
        write_files(folder / "votes", n_votes, asked.files)
        pattern = str(folder / "votes" / "*.parquet")
        runs = {"this machine": here(pattern)}
        for n in (1, 2):
            runs[f"{n} worker{'s' * (n > 1)}"] = on_workers(
                pattern, n, folder / f"shards-{n}", asked.memory
            )
    print(f"{n_votes:,} votes in {asked.files} files; path to {_RATIO:g} times the first entry")
    for name, run in runs.items():
        rounds = ""
        if run.n_rounds:
            each = 1_000 * run.waited / run.n_rounds
            share = run.waited / run.following
            rounds = f", {run.n_rounds} rounds of {each:.1f} ms, {share:.0%} of the path's time"
        print(f"{name:14} reading {run.reading:6.1f} s, path {run.following:6.1f} s{rounds}")
    one, two = runs["1 worker"], runs["2 workers"]
    print(f"2 workers against 1: {one.total / two.total:.2f} times as fast, reading included")
    apart = np.abs(two.path.common - runs["this machine"].path.common).max()
    same = np.array_equal(one.path.common, two.path.common)
    print(
        f"1 and 2 workers: {'the same bits' if same else 'DIFFERENT BITS'}; "
        f"this machine: {apart:.1e} apart"
    )


if __name__ == "__main__":
    main()
