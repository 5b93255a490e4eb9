"""Gradient evaluations of one Bradley-Terry path, by flow and by LBI.

    python benchmarks/flow_evaluations.py            WorldCollege, IQA, the paper's simulation
    python benchmarks/flow_evaluations.py --quick    without the simulation

The data are those of the published code. LBI's evaluations are its last time over its step.
"""

from __future__ import annotations

import argparse

from checks import Check, golden_problem
from checks import print_checks as finish

from prefpath.solver.executors import Serial
from prefpath.solver.flow import solve_flow
from prefpath.solver.grid import make_grid
from prefpath.solver.lbi import default_step

CASES = {
    "WorldCollege to ratio 50": ("univer_BT_full", 50.0, 1_200),
    "IQA to ratio 50": ("iqa_BT_full", 50.0, 1_000),
    "the paper's simulation to ratio 100": ("sim_short_BT_full", 100.0, 20_000),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="without the simulation")
    asked = parser.parse_args()
    checks = []
    for what, (name, ratio, target) in list(CASES.items())[: 2 if asked.quick else 3]:
        problem, _ = golden_problem(name)
        path = solve_flow(problem, make_grid(None, 50, ratio), n_threads=1)
        lbi = path.times[-1] / default_step(problem, Serial())
        print(
            f"{what:36} flow {path.n_evaluations:7,}   LBI {lbi:11,.0f}   "
            f"{lbi / path.n_evaluations:5.1f} times fewer",
            flush=True,
        )
        checks.append(Check(what, path.n_evaluations, target, "evaluations"))
    finish(checks)


if __name__ == "__main__":
    main()
