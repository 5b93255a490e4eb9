"""What a cluster needs for 10 million to 10 billion votes, computed from costs measured here.

    python benchmarks/cluster_sizing.py                         measures 1 and 4 million votes
    python benchmarks/cluster_sizing.py --small 200000 --large 800000
    python benchmarks/cluster_sizing.py --worker-memory 32 --worker-threads 8

A cost is the difference between two sizes of the crowd of `cluster.py` on one worker process of one
thread, so that what a worker costs without votes is no part of it; for the path, whose passes over
the votes vary from crowd to crowd, it is all of the larger crowd's. The table is arithmetic: no
such cluster was there, and the driver, networks and shared disks are left out of it.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import NamedTuple

import psutil
from cluster import _RATIO, processor_seconds, write_files
from distributed import Client, LocalCluster

from prefpath import fit_path, simulate_crowd
from prefpath.distributed import shard_votes
from prefpath.distributed.collected import Cluster
from prefpath.distributed.flow import begin_path
from prefpath.distributed.paths import begin_fold, model_of
from prefpath.distributed.settings import FoldOf
from prefpath.distributed.shuffle import number_of_shards
from prefpath.model.problem import Problem
from prefpath.solver.flow import follow_grid
from prefpath.solver.grid import make_grid

_GIB, _FOLDS = 2.0**30, 5
_SIZES = (10**7, 10**8, 10**9, 10**10)


class Costs(NamedTuple):
    """Of a crowd, or of one vote: processor seconds of a worker, bytes on disk, bytes it holds."""

    reading: float
    path: float
    disk: float
    path_memory: float
    fold_memory: float


def memory_held() -> int:
    import gc

    gc.collect()
    return int(psutil.Process().memory_info().rss)


def measure(n_votes: int, folder: Path) -> Costs:
    """Read and follow a crowd on one worker."""
    votes, shards = folder / f"votes-{n_votes}", folder / f"shards-{n_votes}"
    votes.mkdir()
    write_files(votes, n_votes, 4)
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):

        def ask(function):  # type: ignore[no-untyped-def]
            return next(iter(client.run(function).values()))

        # What a worker compiles or loads once is no cost of votes.
        fit_path(
            simulate_crowd(5_000, 50, 20, deviants=5, seed=0).votes, client=client, t_ratio=3.0
        )
        start = ask(processor_seconds)
        sharded = shard_votes(str(votes / "*.parquet"), client, shards)
        read, empty = ask(processor_seconds), ask(memory_held)
        model = model_of(Problem.build(sharded.read(0)))
        under_way = begin_path(client, sharded, model)
        follow_grid(under_way.solver, make_grid(None, 20, _RATIO))
        followed, held = ask(processor_seconds), ask(memory_held)
        fold, _ = begin_fold(Cluster(client, sharded), model, FoldOf(_FOLDS, 0, 0), "log-loss")
        with_fold = ask(memory_held)
        for one in (fold, under_way):
            one.close()
    disk = sum(file.stat().st_size for file in shards.iterdir())
    return Costs(read - start, followed - read, disk, held - empty, with_fold - held)


def say_costs(each: Costs) -> None:
    million = Costs(*(1e6 * cost for cost in each))
    print(
        f"measured, for a million votes: reading {million.reading:.2f} and path to "
        f"{_RATIO:g} times the first entry {million.path:.2f} processor seconds; "
        f"{million.disk / 1e6:.0f} MB on disk; a worker holds {million.path_memory / 1e6:.0f} MB "
        f"for the path and {million.fold_memory / 1e6:.0f} MB for each fold"
    )


def say_table(each: Costs, memory: float, threads: int) -> None:
    print(f"computed, for workers of {memory:g} GiB and {threads} threads, {_FOLDS} folds:")
    print("| votes | shards | disk | memory of all workers | workers | reading | path and folds |")
    print("|---|---|---|---|---|---|---|")
    for n in _SIZES:
        held = n * (each.path_memory + _FOLDS * each.fold_memory) / _GIB
        # A third is left for reading and for what comes and goes.
        workers = max(1, -int(-held // (memory * 2 / 3)))
        processors = min(workers * threads, number_of_shards(n))
        reading = n * each.reading / processors
        following = n * each.path * (1 + _FOLDS) / processors
        print(
            f"| {n:,} | {number_of_shards(n)} | {n * each.disk / _GIB:,.1f} GiB "
            f"| {held:,.1f} GiB | {workers:,} | {reading / 60:,.1f} min "
            f"| {following / 60:,.1f} min |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", type=int, default=1_000_000)
    parser.add_argument("--large", type=int, default=4_000_000)
    parser.add_argument("--worker-memory", type=float, default=16.0, help="GiB")
    parser.add_argument("--worker-threads", type=int, default=4)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as own:
        small, large = (measure(n, Path(own)) for n in (asked.small, asked.large))
    for n, found in ((asked.small, small), (asked.large, large)):
        seconds = f"reading {found.reading:.1f} s, path {found.path:.1f} s of a worker's processor"
        print(f"{n:,} votes: {seconds}")
    apart = asked.large - asked.small
    each = Costs(*((b - a) / apart for a, b in zip(small, large, strict=True)))
    each = each._replace(path=large.path / asked.large)
    say_costs(each)
    say_table(each, asked.worker_memory, asked.worker_threads)


if __name__ == "__main__":
    main()
