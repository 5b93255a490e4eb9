"""CPU seconds and evaluations of a path without attention, for another version to be run with.

    PYTHONPATH=../v010/src python benchmarks/plain_path.py votes.npz --ratio 50 --repeats 3

The file has arrays `annotator`, `left`, `right`, `choice` and `weight`, and `features` if items
have any. What this imports, 0.1.0 has, too. `attention_cost.py --beside ../v010` writes the file
and reads what is printed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

import numpy as np

from prefpath import Votes
from prefpath.model.problem import Problem
from prefpath.solver.flow import solve_flow
from prefpath.solver.grid import make_grid


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--ratio", type=float, default=50.0)
    parser.add_argument("--repeats", type=int, default=1)
    asked = parser.parse_args()
    file = np.load(asked.file)
    who, left, right = file["annotator"], file["left"], file["right"]
    items = np.arange(len(file["features"])) if "features" in file else None
    votes = Votes.from_arrays(who, left, right, file["choice"], file["weight"], items=items)
    problem = Problem.build(votes, features=file.get("features"))
    first = solve_flow(problem, make_grid(None, 2, 1.01), n_threads=1).times[0]
    times = np.geomspace(first, asked.ratio * first, 50)
    seconds = []
    for _ in range(asked.repeats):
        start = time.process_time()
        path = solve_flow(problem, make_grid(times, 2, 2.0), n_threads=1)
        seconds.append(time.process_time() - start)
    print(json.dumps({"cpu": statistics.median(seconds), "evaluations": path.n_evaluations}))


if __name__ == "__main__":
    main()
