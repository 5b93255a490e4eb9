"""How time and memory grow with the votes: 1, 10 and 100 million, a hundred votes an annotator.

    python benchmarks/growth.py                      1e6, 1e7, 1e8 (many minutes, 12 GiB)
    python benchmarks/growth.py --quick              1e5, 1e6
    python benchmarks/growth.py --votes 1e6 1e7

Each size is a process of its own: a crowd with Zipf activity and 1,000 items is simulated, and
its Bradley-Terry path followed by flow to ratio 50 on all processors. Time and peak memory are
of the fit (votes to path); the whole process, which also makes the votes, has a peak of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from itertools import pairwise

from checks import Check, forget_peak, memory_now, memory_peak
from checks import print_checks as finish

GIB = 2**30
_TENFOLD = 12.0
_MOST_MEMORY = 12.0
_ONE_SIZE = "--one-size"


def measure(n_votes: int) -> dict[str, float]:
    """Fit one crowd, in this process."""
    from prefpath import fit_path, simulate_crowd

    warm = simulate_crowd(20_000, 200, 100, seed=0)
    fit_path(warm.votes, t_ratio=2.0)  # compiled
    crowd = simulate_crowd(n_votes, n_votes // 100, 1_000, deviants=0.02, clickers=0.02, seed=0)
    votes = crowd.votes
    del crowd
    making, holds = memory_peak(), memory_now()
    forget_peak()
    start = time.perf_counter()
    path = fit_path(votes, t_ratio=50.0)
    seconds = time.perf_counter() - start
    fitting = memory_peak()
    return {
        "votes": votes.n_votes,
        "annotators": votes.n_annotators,
        "seconds": seconds,
        "evaluations": path.n_evaluations,
        "entered": sum(path.active_count(float(path.times[-1]))),
        "before": holds,
        "fit_peak": fitting,
        "peak": max(making, fitting),
    }


def measure_apart(n_votes: int) -> dict[str, float]:
    """The same in a fresh process, so that no size sees another's memory."""
    command = [sys.executable, __file__, _ONE_SIZE, str(n_votes)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="100,000 and 1 million votes")
    parser.add_argument("--votes", type=float, nargs="+", default=[1e6, 1e7, 1e8])
    parser.add_argument(_ONE_SIZE, type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one_size:
        print(json.dumps(measure(asked.one_size)))
        return
    sizes = [int(size) for size in ([1e5, 1e6] if asked.quick else asked.votes)]
    print(f"{'votes':>12} {'annotators':>11} {'seconds':>9} {'us/vote':>8} {'evaluations':>11} "
          f"{'before':>8} {'fit peak':>9} {'peak':>8}")  # fmt: skip
    found = []
    for size in sizes:
        one = measure_apart(size)
        found.append(one)
        memory = [f"{one[name] / GIB:6.2f} G" for name in ("before", "fit_peak", "peak")]
        print(
            f"{one['votes']:12,.0f} {one['annotators']:11,.0f} {one['seconds']:9.1f} "
            f"{one['seconds'] / one['votes'] * 1e6:8.2f} {one['evaluations']:11,.0f} "
            f"{memory[0]:>8} {memory[1]:>9} {memory[2]:>8}",
            flush=True,
        )
    checks = [
        Check(
            f"{b['votes']:,.0f} votes against {a['votes']:,.0f}, per tenfold",
            per_tenfold(a, b),
            _TENFOLD,
            "times",
        )
        for a, b in pairwise(found)
    ]
    most = max(one["peak"] for one in found) / GIB
    checks.append(Check("peak memory of the whole process", most, _MOST_MEMORY, "GiB"))
    finish(checks)


def per_tenfold(small: dict[str, float], large: dict[str, float]) -> float:
    """By what time grows where the votes grow tenfold, whatever the two sizes."""
    from math import log

    power = log(large["seconds"] / small["seconds"]) / log(large["votes"] / small["votes"])
    return float(10**power)


if __name__ == "__main__":
    main()
