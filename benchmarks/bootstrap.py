"""What a cluster bootstrap costs, beside a consensus fit.

    python benchmarks/bootstrap.py            # WorldCollege, and 10 million votes
    python benchmarks/bootstrap.py --quick    # a million votes

WorldCollege: 1,000 resamples of its common scores, in seconds. Large: 100 resamples, against
the time of 30 consensus fits (pooling the votes and Newton's method), and what memory they
add, against the size of the votes.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from dataclasses import replace

import numpy as np
from checks import DATA, Check, print_checks
from threadpoolctl import threadpool_limits

from prefpath import Path, Votes, fit_path, read_votes, simulate_crowd
from prefpath.fitted import Fitted
from prefpath.inference.bootstrap import bootstrap_coefficients
from prefpath.inference.consensus import fit_consensus
from prefpath.inference.evidence import Evidence, gather_evidence
from prefpath.inference.sandwich import cluster_covariance
from prefpath.model.problem import Problem

_SECONDS = 10.0


class Watch:
    """Seconds on the wall and of all processors; on a busy machine the second is the fair one."""

    def __init__(self) -> None:
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def read(self, times: int = 1) -> tuple[float, str]:
        """Seconds of processors, and both in words."""
        wall = times * (time.perf_counter() - self.wall)
        cpu = times * (time.process_time() - self.cpu)
        return cpu, f"{wall:6.1f} s, {cpu:6.1f} s of processors"


def world_college() -> Check:
    votes = read_votes(DATA / "worldcollege.csv")
    path = fit_path(votes, n_times=4, t_ratio=4.0)
    evidence = gather(votes, path)
    clustered = cluster_covariance(evidence)
    bootstrap_coefficients(evidence, clustered, n_resamples=20)  # compiles
    watch = Watch()
    bootstrap_coefficients(evidence, clustered, n_resamples=1_000)
    spent, words = watch.read()
    print(f"WorldCollege: 1,000 resamples {words}")
    return Check("1,000 resamples of WorldCollege", spent, _SECONDS, "s")


def large(n_votes: int, n_annotators: int, n_items: int) -> list[Check]:
    votes = simulate_crowd(n_votes, n_annotators, n_items, seed=0).votes
    path = social_path(votes)
    problem = Problem.build(votes)
    fitted = Fitted.of(problem, path, float(path.times[0]))
    evidence = gather_evidence(fitted)
    clustered = cluster_covariance(evidence)
    bootstrap_coefficients(evidence, clustered, n_resamples=20)
    watch = Watch()
    # One BLAS thread, as the bootstrap has: on a busy machine several wait for each other, and
    # the fits would look dearer than they are.
    with threadpool_limits(1, user_api="blas"):
        for _ in range(3):
            fresh = gather_evidence(fitted)
            fit_consensus(replace(fresh, coefficient=np.zeros(fresh.n_coefficients)))
    fits, fits_in_words = watch.read(times=10)
    tracemalloc.start()
    watch = Watch()
    bootstrap_coefficients(evidence, clustered, n_resamples=100)
    resamples, resamples_in_words = watch.read()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    columns = (votes.left, votes.right, votes.choice, votes.weight, votes.count)
    size = sum(column.nbytes for column in columns)
    print(f"{n_votes:,} votes, {n_annotators:,} annotators, {n_items:,} items:")
    print(f"  100 resamples        {resamples_in_words}")
    print(f"  30 consensus fits    {fits_in_words} (3 fits, times 10)")
    print(f"  memory of resampling {peak / 2**20:8.0f} MB; the votes are {size / 2**20:.0f} MB")
    return [
        Check("100 resamples against 30 consensus fits", resamples / fits, 1.0, "times"),
        Check("memory of resampling against the votes", peak / size, 1.0, "times"),
    ]


def gather(votes: Votes, path: Path) -> Evidence:
    return gather_evidence(Fitted.of(Problem.build(votes), path))


def social_path(votes: Votes) -> Path:
    """The path up to the first entry: what is timed here does not depend on who is active."""
    return fit_path(votes, n_times=2, t_ratio=1.0001)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a million votes, 200 items")
    asked = parser.parse_args()
    checks = [world_college()]
    checks += large(*((1_000_000, 10_000, 200) if asked.quick else (10_000_000, 100_000, 1_000)))
    print_checks(checks)


if __name__ == "__main__":
    main()
