"""A path on worker processes of this machine: time, rounds, memory; 1 worker and 2.

    python benchmarks/cluster.py                   2 million votes in 8 files
    python benchmarks/cluster.py --votes 20000000 --files 20
    python benchmarks/cluster.py --votes 50000000 --files 50 --workers 2 --memory 3GiB --limit 5400
    python benchmarks/cluster.py --quick           200,000 votes
    python benchmarks/cluster.py --rounds          what a round costs, beside Dask tasks; no votes

Workers of one thread read Parquet files into shards and hold who waits; up to two million votes
the same path is fitted on this machine alone, too. Seconds of the clock mean something on a quiet
machine only. Beside them: the processor seconds of the driver (with the scheduler) and of the
busiest worker, whose sum is what the clock would show if each had a processor of its own and they
took turns. What the driver does while all workers wait for it (its main thread while files are
read, all of it along the path) is the serial share, from which Amdahl's law says what more workers
can give at most. After `--limit` seconds the benchmark ends and says how far it came.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
from distributed import Client, LocalCluster

from prefpath import Path as VotePath
from prefpath import fit_path, read_votes
from prefpath.distributed import shard_votes
from prefpath.distributed.fleet import Fleet
from prefpath.distributed.flow import begin_path
from prefpath.distributed.paths import model_of
from prefpath.model.problem import Problem
from prefpath.solver.flow import follow_grid
from prefpath.solver.grid import make_grid

_RATIO, _GIB = 10.0, 2.0**30
_MOST_ALONE = 2_000_000

# 200 items, an annotator for 100 votes; 40 busy ones who click left and 60 who want the opposite.
_CROWD = """
copy (
    with drawn as (
        select case when random() < .02 then (100 * random())::int
                    else 100 + ({people} * random())::int end as who,
               (199 * random())::int as a, (198 * random())::int as b, random() as chance
        from range({rows})
    ),
    pairs as (select who, a, case when b >= a then b + 1 else b end as b, chance from drawn)
    select 'worker ' || who as annotator, 'item ' || a as "left", 'item ' || b as "right",
        case when chance < case when who < 40 then .9
                                when who < 100 then 1 / (1 + exp((b - a) / 40.0))
                                else 1 / (1 + exp((a - b) / 40.0)) end
             then 'left' else 'right' end as choice
    from pairs
) to '{file}' (format parquet)
"""


class Stage(NamedTuple):
    """Seconds by the clock; of the processor: driver, its main thread, busiest worker, all."""

    clock: float
    driver: float
    main: float
    worker: float
    workers: float

    @property
    def processor(self) -> float:
        return self.driver + self.worker


class Run(NamedTuple):
    """What reading and the path took; rounds; peak memory of driver and workers in bytes."""

    reading: Stage
    following: Stage
    n_rounds: int
    waited: float
    peaks: list[float]
    path: VotePath

    @property
    def serial(self) -> float:
        """Processor seconds of the driver for which all workers wait."""
        return self.reading.main + self.following.driver

    @property
    def shared(self) -> float:
        """Processor seconds of all workers."""
        return self.reading.workers + self.following.workers


def write_files(folder: Path, n_votes: int, n_files: int, people: int | None = None) -> None:
    """A crowd in Parquet files, drawn by DuckDB; an annotator for 100 votes unless told."""
    connection = duckdb.connect(config={"threads": 1, "memory_limit": "2GB"})
    connection.execute("select setseed(.5)")
    for k in range(n_files):
        file, crowd = folder / f"part-{k:03d}.parquet", people or max(20, n_votes // 100)
        connection.execute(_CROWD.format(rows=n_votes // n_files, people=crowd, file=file))


def processor_seconds() -> float:
    return sum(os.times()[:2])


def peak_memory() -> float:
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@contextmanager
def staged(client: Client, found: dict[str, Stage], name: str) -> Iterator[None]:
    """Note what a block takes."""
    before = client.run(processor_seconds)
    start = time.perf_counter(), time.process_time(), time.thread_time()
    yield
    end = time.perf_counter(), time.process_time(), time.thread_time()
    clock, driver, main = (b - a for a, b in zip(start, end, strict=True))
    after = client.run(processor_seconds)
    own = [seconds - before.get(worker, 0.0) for worker, seconds in after.items()]
    found[name] = Stage(clock, driver, main, max(own), sum(own))
    print(f"    {name} done after {clock:.0f} s", flush=True)


def on_workers(pattern: str, n_workers: int, folder: Path, memory: str) -> Run:
    """Read and follow on a cluster of so many processes."""
    stages: dict[str, Stage] = {}
    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            memory_limit=memory,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        with staged(client, stages, "reading"):
            sharded = shard_votes(pattern, client, folder)
        with staged(client, stages, "following"):
            model = model_of(Problem.build(sharded.read(0)))
            under_way = begin_path(client, sharded, model)
            follow_grid(under_way.solver, make_grid(None, 20, _RATIO))
            path, rounds = under_way.path(), under_way.rooms.fleet.rounds
        peaks = [peak_memory(), *client.run(peak_memory).values()]
        under_way.close()
    return Run(**stages, n_rounds=rounds.number, waited=rounds.seconds, peaks=peaks, path=path)


class Idle:
    """A part that has nothing to say."""

    def answer(self, _: object) -> None:
        return None


def say_rounds(n_rounds: int = 100) -> None:
    """Processor time of a round of two workers: as calls, which we use, and as tasks of Dask."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        fleet = Fleet(client, 4, lambda _: Idle(), lambda _: [])
        workers = sorted(client.scheduler_info()["workers"])
        question = [np.zeros(200) for _ in range(5)]

        def tasks() -> None:
            asked = [
                client.submit(len, question, workers=[worker], pure=False) for worker in workers
            ]
            client.gather(asked)

        for name, one_round in (("calls", lambda: fleet.ask(question)), ("tasks", tasks)) * 2:
            stages: dict[str, Stage] = {}
            one_round()
            with staged(client, stages, name):
                for _ in range(n_rounds):
                    one_round()
            clock, driver, _, worker, _ = (1_000 * s / n_rounds for s in stages[name])
            print(
                f"a round as {name}: {clock:.1f} ms by the clock; processor: driver {driver:.1f} "
                f"ms, busier worker {worker:.1f} ms"
            )
        fleet.close()


def say_alone(pattern: str) -> VotePath:
    """Read and follow on this machine."""
    start = time.perf_counter()
    votes = read_votes(pattern)
    read = time.perf_counter()
    path = fit_path(votes, n_times=20, t_ratio=_RATIO)
    end = time.perf_counter()
    print(f"this machine: reading {read - start:.1f} s, path {end - read:.1f} s", flush=True)
    return path


def say(n_workers: int, run: Run) -> None:
    for name, stage in (("reading", run.reading), ("path", run.following)):
        print(
            f"{n_workers} worker{'s' * (n_workers > 1)}: {name:7} {stage.clock:6.1f} s; processor: "
            f"driver {stage.driver:5.1f} s, busiest worker {stage.worker:5.1f} s"
        )
    each, share = 1_000 * run.waited / run.n_rounds, run.waited / run.following.clock
    print(f"    {run.n_rounds} rounds of {each:.1f} ms, {share:.0%} of the path's time")
    driver, *others = (f"{peak / _GIB:.2f}" for peak in run.peaks)
    print(f"    peak memory: driver {driver} GiB, workers {', '.join(others)} GiB", flush=True)
    serial, shared = run.serial, run.shared
    print(
        f"    workers wait for {serial:.1f} s of the driver's processor and share out "
        f"{shared:.1f} s: by Amdahl's law 2 workers are at most "
        f"{(serial + shared) / (serial + shared / 2):.2f} times as fast as 1",
        flush=True,
    )


def compare(one: Run, two: Run) -> None:
    clock = [run.reading.clock + run.following.clock for run in (one, two)]
    processor = [run.reading.processor + run.following.processor for run in (one, two)]
    print(
        f"2 workers against 1, reading included: {clock[0] / clock[1]:.2f} times as fast by the "
        f"clock, {processor[0] / processor[1]:.2f} by the processor seconds of driver and "
        "busiest worker"
    )
    same = np.array_equal(one.path.common, two.path.common)
    print(f"1 and 2 workers: {'the same bits' if same else 'DIFFERENT BITS'}")


@contextmanager
def ended_after(seconds: int | None) -> Iterator[None]:
    """End the program after so many seconds, workers and files included."""

    def end(*_: object) -> None:
        raise SystemExit(f"not done after {seconds} s")

    if seconds is not None:
        signal.signal(signal.SIGALRM, end)
        signal.alarm(seconds)
    yield
    signal.alarm(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--votes", type=int, default=2_000_000)
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--memory", default="3GiB", help="of each worker")
    parser.add_argument("--limit", type=int, help="seconds after which it is ended")
    parser.add_argument("--quick", action="store_true", help="200,000 votes")
    parser.add_argument("--rounds", action="store_true", help="only what a round costs")
    asked = parser.parse_args()
    if asked.rounds:
        say_rounds()
        return
    n_votes = 200_000 if asked.quick else asked.votes
    runs: dict[int, Run] = {}
    print(f"{n_votes:,} votes in {asked.files} files; path to {_RATIO:g} times the first entry")
    with ended_after(asked.limit), tempfile.TemporaryDirectory() as own:
        folder = Path(own)
        (folder / "votes").mkdir()
        write_files(folder / "votes", n_votes, asked.files)
        pattern = str(folder / "votes" / "*.parquet")
        alone = say_alone(pattern) if n_votes <= _MOST_ALONE else None
        for n in asked.workers:
            runs[n] = on_workers(pattern, n, folder / f"shards-{n}", asked.memory)
            say(n, runs[n])
    if {1, 2} <= set(runs):
        compare(runs[1], runs[2])
    if alone is not None:
        apart = max(np.abs(run.path.common - alone.common).max() for run in runs.values())
        print(f"this machine and the cluster: {apart:.1e} apart")


if __name__ == "__main__":
    main()
