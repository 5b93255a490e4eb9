"""What the benchmarks share: verdicts against targets, interleaved timing, data, memory."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from prefpath.model.problem import Problem
from prefpath.solver.executors import make_executor, split_annotators
from prefpath.solver.iteration import State
from prefpath.solver.lbi import default_step
from prefpath.solver.stepper import Stepper
from prefpath.votes import Votes

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
DATA = Path(os.environ.get("PREFPATH_DATA", _BESIDE))
GOLDEN = DATA.parent / "golden"
LOSSES = {"linear": "linear", "BT": "bradley-terry", "TM": "thurstone-mosteller"}


@dataclass(frozen=True)
class Check:
    """A figure beside its target: at most or at least so much."""

    what: str
    found: float
    target: float
    unit: str = ""
    at_least: bool = False

    @property
    def passed(self) -> bool:
        return self.found >= self.target if self.at_least else self.found <= self.target

    def __str__(self) -> str:
        bound = "at least" if self.at_least else "at most"
        mark = "pass" if self.passed else "FAIL"
        shown = f"{self.found:,.0f}" if self.found >= 1_000 else f"{self.found:.3g}"
        return f"{mark}  {self.what:54} {shown:>8} {self.unit:11} {bound} {self.target:,g}"


def print_checks(checks: Sequence[Check]) -> None:
    """The table; the exit code is 1 if a target was missed."""
    print()
    for check in checks:
        print(check)
    missed = sum(not check.passed for check in checks)
    print(f"{len(checks) - missed} of {len(checks)} targets met", flush=True)
    if missed:
        sys.exit(1)


def interleave(repeats: int, *works: Callable[[], object]) -> list[float]:
    """Median seconds of each work, run turn and turn about: a busy machine slows all of them."""
    seconds: list[list[float]] = [[] for _ in works]
    for _ in range(repeats):
        for spent, work in zip(seconds, works, strict=True):
            start = time.perf_counter()
            work()
            spent.append(time.perf_counter() - start)
    return [statistics.median(spent) for spent in seconds]


class LbiIterations:
    """Our LBI, to be run for any number of iterations; the state goes on."""

    def __init__(self, problem: Problem, n_threads: int, step: float | None = None) -> None:
        shards = split_annotators(problem.design.cells)
        self._executor = make_executor(n_threads, len(shards))
        self.step = default_step(problem, self._executor) if step is None else step
        self._stepper = Stepper(problem, self._executor, shards, self.step, "flow")
        self._state = State.zero(problem)

    def advance(self, n_iterations: int) -> None:
        self._stepper.advance(self._state, n_iterations)


def golden_file(name: str) -> Any:
    """Arrays of a path computed by the paper's published code."""
    file = GOLDEN / f"{name}.npz"
    if not file.is_file():
        sys.exit(f"no file {file}: set PREFPATH_DATA to a folder with the folder golden beside it")
    return np.load(file)


def golden_problem(name: str) -> tuple[Problem, Any]:
    """A problem as the published code had it, and the file it is from."""
    file = golden_file(name)
    n_annotators, n_items = int(file["n_user"]), int(file["n_item"])
    is_movie = name.startswith("movie")
    votes = Votes.from_arrays(
        file["user"],
        file["item_i"],
        file["item_j"],
        file["y"],
        items=np.arange(1, n_items + 1),
        annotators=np.arange(1, n_annotators + 1),
        position_known=not is_movie,
    )
    loss = LOSSES[name.split("_")[-2]]
    features = file.get("Phi")
    return Problem.build(votes, loss=loss, features=features, position_bias=not is_movie), file


def forget_peak() -> None:
    """Start to measure the peak of memory anew (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")


def memory_now() -> int:
    """Bytes in memory."""
    return _status("VmRSS")


def memory_peak() -> int:
    """Most bytes in memory since `forget_peak`."""
    return _status("VmHWM")


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {name} in /proc/self/status")
