"""What the driver holds of each annotator where votes and verdicts stay on the workers.

    python benchmarks/cluster_table.py                  40,000 and 160,000 annotators of 12 votes
    python benchmarks/cluster_table.py --annotators 20000 80000

Fits with `collect=False`, asks for everything that is said of the fit, and writes the table of all
annotators. Each size is a process of its own with two workers; what an annotator costs is the
difference between the two peaks.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from cluster import peak_memory, write_files
from distributed import Client, LocalCluster

from prefpath import PreferenceModel
from prefpath.distributed import shard_votes
from prefpath.export import write_results
from prefpath.findings import find

_VOTES_EACH, _MIB = 12, 2.0**20


class Peaks(NamedTuple):
    """Peak memory of the driver in bytes: when all is loaded, after the fit, after the table."""

    loaded: float
    fitted: float
    written: float


def measure(n_annotators: int, folder: Path) -> Peaks:
    """Peaks of a fit whose table is written, in this process."""
    votes = folder / "votes"
    votes.mkdir()
    write_files(votes, _VOTES_EACH * n_annotators, 4, people=n_annotators)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        loaded = peak_memory()
        sharded = shard_votes(str(votes / "*.parquet"), client, folder / "shards")
        model = PreferenceModel(cv=0, n_times=5, t_ratio=3.0, attention=False)
        model.fit(sharded, client=client, collect=False)
        fitted = peak_memory()
        found = find(model)
        write_results(folder / "results", {"annotators": found.annotator_parts()})
        n_rows = (folder / "results" / "annotators.csv").read_bytes().count(b"\n") - 1
        assert n_rows == found.headline.n_annotators
        found.diagnosis.close()
        return Peaks(loaded, fitted, peak_memory())


def in_a_process(n_annotators: int) -> Peaks:
    """The same in a process of its own, whose peak is of this alone."""
    command = [sys.executable, __file__, "--one", str(n_annotators)]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return Peaks(*map(float, said.split()[-3:]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--annotators", type=int, nargs=2, default=[40_000, 160_000])
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one is not None:
        with tempfile.TemporaryDirectory() as own:
            print(*measure(asked.one, Path(own)))
        return
    found = [in_a_process(n) for n in asked.annotators]
    for n, peaks in zip(asked.annotators, found, strict=True):
        loaded, fitted, written = (peak / _MIB for peak in peaks)
        print(
            f"{n:,} annotators: peak of the driver {loaded:.0f} MiB when loaded, {fitted:.0f} "
            f"after the fit, {written:.0f} after the table"
        )
    small, large = found
    apart = asked.annotators[1] - asked.annotators[0]
    fit, table = (large.fitted - small.fitted) / apart, (large.written - small.written) / apart
    print(f"an annotator costs the driver {fit:,.0f} bytes in the fit, {table:,.0f} in all")


if __name__ == "__main__":
    main()
