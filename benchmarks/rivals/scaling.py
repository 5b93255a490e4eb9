"""How our own path grows: votes, annotators, items, features, threads, kappa; and one pass.

    python benchmarks/rivals/scaling.py            # the selection
    python benchmarks/rivals/scaling.py --all      # to 10^8 votes

Each setting is a process of its own; from votes in memory to the path, compiled beforehand. The
last record compares one LBI iteration with `numpy.sum` over the bytes it reads: its share
of the memory bandwidth that one thread of numpy reaches.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Record = dict[str, Any]

_ONE = "--one"
_MIDDLE = {"votes": 100_000, "annotators": 1_000, "items": 100}
_WITH_FEATURES = {"votes": 10_000, "annotators": 100, "items": 50}  # far more steps a path
_LONGEST = 900.0


def settings(everything: bool) -> Iterator[Record]:
    """One thing varied at a time, around 100,000 votes of 1,000 annotators on 100 items."""
    most = 8 if everything else 6
    for power in range(4, most + 1):
        votes = 10**power
        yield {"varied": "votes", **_MIDDLE, "votes": votes, "annotators": votes // 100}
    for annotators in (100, 1_000, 10_000):
        yield {"varied": "annotators", **_MIDDLE, "annotators": annotators}
    for items in (10, 100, 1_000):
        yield {"varied": "items", **_MIDDLE, "items": items}
    for features in (5, 20, 50) if everything else (5, 20):
        yield {"varied": "features", **_WITH_FEATURES, "features": features}
    for threads in (1, 2):
        yield {"varied": "threads", **_MIDDLE, "threads": threads}
    for kappa in (5.0, 20.0, 80.0):
        yield {"varied": "kappa", **_MIDDLE, "kappa": kappa}


def scaling(everything: bool) -> Iterator[Record]:
    """All records, each from a fresh process."""
    for setting in [*settings(everything), {"varied": "one pass", "votes": 1_000_000}]:
        command = [sys.executable, __file__, _ONE, json.dumps(setting)]
        found = _apart(command)
        print(f"  {setting} {found}", flush=True)
        yield {"task": "scaling", **setting, **found}


def _apart(command: list[str]) -> Record:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LONGEST)
    except subprocess.TimeoutExpired:
        return {"failure": f"ended by us after {_LONGEST:.0f} s"}
    if done.returncode:
        return {"failure": done.stderr.strip().splitlines()[-1]}
    found: Record = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(setting: Record) -> Record:
    """One setting, in this process."""
    import time

    import numpy as np
    from checks import forget_peak, memory_now, memory_peak

    from prefpath import fit_path, simulate_crowd

    how: dict[str, Any] = {"n_threads": setting.get("threads", 1)}
    how["kappa"] = setting.get("kappa", 20.0)
    features = None
    if "features" in setting:
        rng = np.random.default_rng(0)
        features = rng.normal(size=(setting["items"], setting["features"]))
        how["features"] = features
    sizes = (setting["votes"], setting["annotators"], setting["items"])
    warm = simulate_crowd(20_000, 200, setting["items"], features=features, seed=1)
    fit_path(warm.votes, **how, n_times=5)
    votes = simulate_crowd(*sizes, features=features, seed=0).votes
    forget_peak()
    before, wall, cpu = memory_now(), time.perf_counter(), time.process_time()
    path = fit_path(votes, **how)
    return {
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
        "memory": (memory_peak() - before) / 2**20,
        "evaluations": path.n_evaluations,
        "entered": int(sum(path.active_count(float(path.times[-1])))),
    }


def one_pass(setting: Record) -> Record:
    """An LBI iteration beside `numpy.sum` of the same bytes, both on one thread."""
    from checks import LbiIterations, interleave
    from lbi_iteration import arrays_read

    from prefpath import simulate_crowd
    from prefpath.model.problem import Problem

    n_votes = setting["votes"]
    problem = Problem.build(simulate_crowd(n_votes, n_votes // 100, 1_000, seed=0).votes)
    arrays, ours = arrays_read(problem), LbiIterations(problem, 1)
    works = (lambda: [array.sum() for array in arrays], lambda: ours.advance(1))
    interleave(1, *works)
    numpy_pass, iteration = interleave(9, *works)
    size = sum(array.nbytes for array in arrays)
    return {
        "bytes": size,
        "numpy_gb_s": size / numpy_pass / 1e9,
        "ours_gb_s": size / iteration / 1e9,
        "share": numpy_pass / iteration,
    }


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parents[1]))
    if sys.argv[1:2] == [_ONE]:
        asked = json.loads(sys.argv[2])
        work = one_pass if asked["varied"] == "one pass" else measure
        print(json.dumps(work(asked)))
    else:
        list(scaling("--all" in sys.argv))
