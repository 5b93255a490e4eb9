"""What attention adds to a Bradley-Terry path by flow: evaluations, and CPU time turn about.

    python benchmarks/attention_cost.py             WorldCollege, the paper's simulation, 10^7 votes
    python benchmarks/attention_cost.py --quick     10^6 votes, no simulation
    python benchmarks/attention_cost.py --rows college --repeats 1
    python benchmarks/attention_cost.py --beside ../v010    # and the path without it in 0.1.0

The path without attention is followed to its ratio; the one with attention to the same last time
(its first entry may come earlier). `--beside` names the folder of another version, in which the
path without attention is followed as well (`plain_path.py`).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path as Folder

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


def without_in(folder: Folder, problem: Problem, ratio: float, repeats: int) -> dict[str, float]:
    """CPU seconds and evaluations of the path without attention, by the sources of a folder."""
    with tempfile.TemporaryDirectory() as made:
        file = Folder(made) / "votes.npz"
        names = ("annotator", "left", "right", "choice", "weight")
        arrays = {name: getattr(problem.votes, name) for name in names}
        if problem.features is not None:
            arrays["features"] = problem.features
        np.savez(file, **arrays)
        script = Folder(__file__).with_name("plain_path.py")
        command = [sys.executable, str(script), str(file), f"--ratio={ratio}"]
        environment = {**os.environ, "PYTHONPATH": str(folder.resolve() / "src")}
        command.append(f"--repeats={repeats}")
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def compare(
    what: str, problem: Problem, ratio: float, repeats: int, beside: Folder | None
) -> list[Check]:
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
    checks = [
        Check(f"{what}, evaluations", attentive.n_evaluations / plain.n_evaluations, MOST, "times"),
        Check(f"{what}, CPU time", seconds[1] / seconds[0], MOST, "times"),
    ]
    if beside is not None:
        other = without_in(beside, problem, ratio, repeats)
        print(f"    without, by {beside.name}: {other['evaluations']:,} in {other['cpu']:.2f} s")
        more, longer = attentive.n_evaluations / other["evaluations"], seconds[1] / other["cpu"]
        checks.append(Check(f"{what}, evaluations, to {beside.name}", more, MOST, "times"))
        checks.append(Check(f"{what}, CPU time, to {beside.name}", longer, MOST, "times"))
    return checks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a smaller crowd, no simulation")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", nargs="+", choices=ROWS, help="some of these only")
    parser.add_argument("--beside", type=Folder, help="folder of another version")
    asked = parser.parse_args()
    rows = asked.rows or [row for row in ROWS if not (asked.quick and row == "simulation")]
    checks: list[Check] = []
    if "college" in rows:
        college = golden_problem("univer_BT_full")[0]
        checks += compare("WorldCollege to ratio 50", college, 50.0, asked.repeats, asked.beside)
    if "simulation" in rows:
        simulation = golden_problem("sim_short_BT_full")[0]
        checks += compare("the paper's simulation to ratio 100", simulation, 100.0, 1, asked.beside)
    if "crowd" in rows:
        n = 1_000_000 if asked.quick else 10_000_000
        crowd = simulate_crowd(n, n // 100, 1_000, deviants=0.02, clickers=0.02, seed=0)
        problem = Problem.build(crowd.votes)
        checks += compare(f"{n:,} votes to ratio 50", problem, 50.0, asked.repeats, asked.beside)
    finish(checks)


if __name__ == "__main__":
    main()
