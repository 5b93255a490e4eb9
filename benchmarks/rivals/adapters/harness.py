"""What the Python adapters share; needs NumPy alone, because each runs in its rival's environment.

An adapter is called as `python with_X.py TASK FOLDER`. It reads votes from binary files, makes the
rival's own input (not timed), runs the rival once on a few votes (compiles), then on all of them,
and prints one line of JSON. What counts is the second run alone.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

A_FEW, MANY = 2_000, 200_000  # votes of a first run; many where large input has its own kernels


class Votes(NamedTuple):
    """Codes from 0; a choice is 1 (left won) or -1."""

    annotator: np.ndarray
    left: np.ndarray
    right: np.ndarray
    choice: np.ndarray
    n_annotators: int
    n_items: int

    def first(self, n: int) -> Votes:
        """The first n votes, the same items and annotators."""
        return self._replace(
            annotator=self.annotator[:n],
            left=self.left[:n],
            right=self.right[:n],
            choice=self.choice[:n],
        )

    def winners_and_losers(self) -> tuple[np.ndarray, np.ndarray]:
        won = self.choice > 0
        return np.where(won, self.left, self.right), np.where(won, self.right, self.left)


def _as_given(votes: Votes, _: Path) -> Votes:
    return votes


def _as_found(_: Any, found: Any) -> dict[str, Any]:
    return found


class Task(NamedTuple):
    """How an adapter does a task."""

    work: Callable[[Any], Any]  # timed
    prepare: Callable[[Votes, Path], Any] = _as_given  # the rival's own input
    judge: Callable[[Any, Any], dict[str, Any]] = _as_found  # not timed
    warm: int = 0  # votes of a first run, where one compiles something


def read(folder: Path, prefix: str = "") -> Votes:
    """Votes as `crowds_on_disk.write` wrote them; the prefix "fresh_" gives those held back."""
    sizes = json.loads((folder / "sizes.json").read_text())
    columns = [
        np.fromfile(folder / f"{prefix}{name}.bin", dtype=np.int32)
        for name in ("annotator", "left", "right", "choice")
    ]
    return Votes(*columns, sizes["n_annotators"], sizes["n_items"])


def main(tasks: dict[str, Task]) -> None:
    """Run one task and print what it cost and found; arrays go into files beside the votes."""
    name, folder = sys.argv[1], Path(sys.argv[2])
    if name not in tasks:
        print(json.dumps({"left_out": "it has nothing for this task"}))
        return
    task, votes = tasks[name], read(folder)
    if task.warm:
        task.work(task.prepare(votes.first(task.warm), folder))
    ready = task.prepare(votes, folder)
    _forget_peak()
    before, wall, cpu = _memory("VmRSS"), time.perf_counter(), time.process_time()
    found = task.work(ready)
    cost = {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "memory": _memory("VmHWM") - before,
    }
    figures = task.judge(ready, found)
    for key in [key for key, value in figures.items() if isinstance(value, np.ndarray)]:
        figures.pop(key).astype(float).tofile(folder / f"{key}.out")
    print(json.dumps({**cost, **figures}))


def best_on_path(margins: Iterable[np.ndarray], choice: np.ndarray) -> dict[str, float]:
    """Least share of fresh votes wrong along a path, and least log-loss (each at its own point)."""
    wrong, loss = [], []
    for margin in margins:
        signed = margin * choice
        wrong.append(float(np.mean(signed < 0) + np.mean(signed == 0) / 2))
        loss.append(float(np.mean(np.logaddexp(0, -signed))))
    return {"wrong": min(wrong), "log_loss": min(loss), "points": len(wrong)}


def _memory(field: str) -> float:
    """MiB now (VmRSS) or at the peak since it was forgotten (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")
