"""What one iteration of LBI costs: beside a pass over the same bytes, over threads, in memory.

    python benchmarks/lbi_iteration.py            10 million votes
    python benchmarks/lbi_iteration.py --quick    1 million

100 votes an annotator on the mean (Zipf), 1,000 items, Bradley-Terry. The pass is
`numpy.sum` over each array an iteration reads (votes, who saw what, z), on one thread. All are
run turn and turn about, and medians taken: ratios stand on a busy machine, though fewer free
processors than threads make threads look worse than they are.
"""

from __future__ import annotations

import argparse
import os

import numpy as np
from checks import Check, LbiIterations, forget_peak, interleave, memory_now, memory_peak
from checks import print_checks as finish

from prefpath import Votes, fit_path, simulate_crowd
from prefpath.model.problem import Problem


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="1 million votes")
    parser.add_argument("--votes", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=9)
    asked = parser.parse_args()
    n_votes = 1_000_000 if asked.quick else asked.votes
    crowd = simulate_crowd(n_votes, n_votes // 100, 1_000, deviants=0.02, clickers=0.02, seed=0)
    votes = crowd.votes
    print(votes)
    extra = memory_of_fit(votes)
    problem = Problem.build(votes)
    one, two = LbiIterations(problem, 1), LbiIterations(problem, 2)
    arrays = arrays_read(problem)
    size = sum(array.nbytes for array in arrays)
    works = (
        lambda: [array.sum() for array in arrays],
        lambda: [array.view(np.uint8)[: array.nbytes // 8 * 8].view(np.uint64).sum()
                 for array in arrays],
        lambda: one.advance(1),
        lambda: two.advance(1),
    )  # fmt: skip
    interleave(1, *works)  # compiled and warm
    typed, raw, serial, threads = interleave(asked.repeats, *works)
    print(
        f"an iteration reads {size / 2**20:,.0f} MiB; load {os.getloadavg()[0]:.1f} "
        f"on {os.cpu_count()} processors"
    )
    for what, seconds in (
        ("numpy.sum of each array", typed),
        ("the same bytes summed as 64-bit words", raw),
        ("LBI iteration, 1 thread", serial),
        ("LBI iteration, 2 threads", threads),
    ):
        print(f"{what:40} {seconds * 1e3:8.1f} ms {seconds / n_votes * 1e9:6.2f} ns a vote")
    finish(
        [
            Check("LBI iteration on 2 threads / numpy pass", threads / typed, 10, "times"),
            Check("2 threads against 1", serial / threads, 1.6, "times", at_least=True),
            Check("peak memory of the fit beyond the votes", extra, 60, "bytes/vote"),
        ]
    )


def arrays_read(problem: Problem) -> list[np.ndarray]:
    """What an iteration reads, once each: the votes, who saw what, and everybody's z."""
    design, target = problem.design, problem.target
    z = np.ones(int(design.blocks[-1]))
    votes = [design.left_at, design.right_at, design.position, target.choice, target.weight]
    return [*votes, design.seen_item, z]


def memory_of_fit(votes: Votes) -> float:
    """Bytes a vote that a short LBI path needs at its peak, beyond what was there before."""
    short = {"solver": "lbi", "times": [1e-3, 2e-3]}
    fit_path(simulate_crowd(200_000, 2_000, 100, seed=0).votes, **short)  # compiled code counts not
    forget_peak()
    before = memory_now()
    fit_path(votes, **short)
    return (memory_peak() - before) / votes.n_votes


if __name__ == "__main__":
    main()
