"""What attention adds to a Bradley-Terry path by flow: evaluations, and CPU time turn about.

    python benchmarks/attention_cost.py             WorldCollege, the paper's simulation, 10^7 votes
    python benchmarks/attention_cost.py --quick     10^6 votes, no simulation
    python benchmarks/attention_cost.py --rows college --repeats 1

The path without attention is followed to its ratio; the one with attention to the same last time
(its first entry may come earlier).
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np
from checks import Check, golden_problem
from checks import print_checks as finish

from prefpath import simulate_crowd
from prefpath.model.design import Floats
from prefpath.model.problem import Problem
from prefpath.path import Path
from prefpath.solver.flow import solve_flow
from prefpath.solver.grid import make_grid

MOST = 1.5
ROWS = ("college", "simulation", "crowd")


def timed(problem: Problem, times: Floats) -> tuple[float, Path]:
    """CPU seconds of a path in one thread, its scale of attention included."""
    fresh = replace(problem)  # a problem remembers its pooled fit
    start = time.process_time()
    path = solve_flow(fresh, make_grid(times, 2, 2.0), n_threads=1)
    return time.process_time() - start, path


def compare(what: str, problem: Problem, ratio: float, repeats: int) -> list[Check]:
    """Both paths to the same time, turn and turn about."""
    first = solve_flow(problem, make_grid(None, 2, 1.01), n_threads=1).times[0]
    times = np.geomspace(first, ratio * first, 50)
    both = [replace(problem, attention=attention) for attention in (False, True)]
    timed(both[1], times[:2])  # compiled
    runs = [[timed(one, times) for one in both] for _ in range(repeats)]
    seconds = np.median([[spent for spent, _ in run] for run in runs], axis=0)
    plain, attentive = (path for _, path in runs[0])
    print(
        f"{what}: {plain.n_evaluations:,} evaluations in {seconds[0]:.2f} s without, "
        f"{attentive.n_evaluations:,} in {seconds[1]:.2f} s with attention of "
        f"{attentive.attention_count(times[-1]):,} of {len(plain.annotators):,} annotators",
        flush=True,
    )
    return [
        Check(f"{what}, evaluations", attentive.n_evaluations / plain.n_evaluations, MOST, "times"),
        Check(f"{what}, CPU time", seconds[1] / seconds[0], MOST, "times"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a smaller crowd, no simulation")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", nargs="+", choices=ROWS, help="some of these only")
    asked = parser.parse_args()
    rows = asked.rows or [row for row in ROWS if not (asked.quick and row == "simulation")]
    checks: list[Check] = []
    if "college" in rows:
        college = golden_problem("univer_BT_full")[0]
        checks += compare("WorldCollege to ratio 50", college, 50.0, asked.repeats)
    if "simulation" in rows:
        simulation = golden_problem("sim_short_BT_full")[0]
        checks += compare("the paper's simulation to ratio 100", simulation, 100.0, 1)
    if "crowd" in rows:
        n = 1_000_000 if asked.quick else 10_000_000
        crowd = simulate_crowd(n, n // 100, 1_000, deviants=0.02, clickers=0.02, seed=0)
        problem = Problem.build(crowd.votes)
        checks += compare(f"{n:,} votes to ratio 50", problem, 50.0, asked.repeats)
    finish(checks)


if __name__ == "__main__":
    main()
