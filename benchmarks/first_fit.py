"""What the first fit ever on a machine costs: nothing compiled yet, then everything.

    python benchmarks/first_fit.py             # CPU seconds, cold and warm, and of the import
    python benchmarks/first_fit.py --large     # of a problem that is too large for plain NumPy
    python benchmarks/first_fit.py --command   # of `prefpath fit` on a file: intervals and verdicts
    python benchmarks/first_fit.py --kernels   # which compiled functions took how long
    python benchmarks/first_fit.py --files     # of `prefpath fit` on three real crowds
    python benchmarks/first_fit.py --files llmfao_crowd --report --kernels
    python benchmarks/first_fit.py --ahead             # wall seconds, with and without helpers
    python benchmarks/first_fit.py --ahead llmfao_crowd --runs 3

Numba keeps what it compiled in a folder; an empty one (NUMBA_CACHE_DIR) is a new machine. Small
problems compile nothing (docs/solvers.md).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

HERE = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("PREFPATH_DATA", HERE.parent / "shared" / "data"))
LIMITS = {"import": 0.8, "cold": 12.0}
FILES = ("llmfao_crowd", "worldcollege", "llm_position_bias")
FILE_LIMIT = 12.0

IMPORT = """
import time
start = time.process_time()
from prefpath import PreferenceModel
print(time.process_time() - start)
"""

FIT = """
import time, warnings
start = time.process_time()
warnings.simplefilter("ignore")
from prefpath import PreferenceModel, simulate_crowd
votes = simulate_crowd(SIZE, deviants=1, clickers=1, seed=0).votes
PreferenceModel(n_threads=1).fit(votes)
print(time.process_time() - start)
"""

SIZES = {"small": "1_500, 20, 6", "large": "12_000, 60, 40"}

COMMAND = """
import sys, time
from prefpath import simulate_crowd
from prefpath.cli import app
import tempfile, os
folder = tempfile.mkdtemp()
file = os.path.join(folder, "votes.csv")
sys.argv = ["prefpath", "simulate", file, "--votes", "1500", "--annotators", "20", "--items", "6"]
try: app()
except SystemExit: pass
start = time.process_time()
sys.argv = ["prefpath", "fit", file, "--json"]
try: app()
except SystemExit: pass
print()
print(time.process_time() - start)
"""

FILE = """
import sys, time
start = time.process_time()
from prefpath.cli import app
try: app(sys.argv[1:])
except SystemExit as end: assert not end.code, end.code
print()
print(time.process_time() - start)
"""

KERNELS = """
from numba.core import event
class Listener(event.Listener):
    def __init__(self): self.open, self.spent, self.stack = {}, {}, []
    def on_start(self, e):
        self.stack.append([time.process_time(), 0.0])
    def on_end(self, e):
        began, inside = self.stack.pop()
        whole = time.process_time() - began
        name = e.data["dispatcher"].py_func.__qualname__
        self.spent[name] = self.spent.get(name, 0.0) + whole - inside
        if self.stack: self.stack[-1][1] += whole
listener = Listener()
event.register("numba:compile", listener)
"""

TELL = """
for name, seconds in sorted(listener.spent.items(), key=lambda item: -item[1])[:40]:
    print(f"{seconds:7.2f} {name}")
print(f"{sum(listener.spent.values()):7.2f} in {len(listener.spent)} compiled functions")
"""


def run(code: str, cache: str, *arguments: str, helpers: int = 0) -> str:
    """What a new process prints; without helpers, all that is compiled is its own CPU time."""
    own = {"NUMBA_CACHE_DIR": cache, "PREFPATH_COMPILE_AHEAD": str(helpers)}
    environment = {**os.environ, "PYTHONPATH": str(HERE / "src"), **own}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def with_kernels(code: str) -> str:
    """The same, with what each compiled function took at the end."""
    began = "start = time.process_time()\n"
    return code.replace(began, began[:-1] + KERNELS) + TELL


def fit_file(name: str, *, report: bool, kernels: bool) -> bool:
    """Print what the first and the second `prefpath fit` of a file cost; was the first cheap?"""
    with tempfile.TemporaryDirectory() as cache:
        arguments = ["fit", str(DATA / f"{name}.csv")]
        arguments += ["--report", str(Path(cache) / "report.html")] if report else []
        if kernels:
            lines = run(with_kernels(FILE), cache, *arguments).splitlines()
            print("\n".join([name, *lines[-41:]]))
            return True
        cold, warm = (float(run(FILE, cache, *arguments).split()[-1]) for _ in range(2))
    verdict = "pass" if cold <= FILE_LIMIT else "FAIL"
    print(f"{name:18} cold {cold:6.2f} (at most {FILE_LIMIT:g}: {verdict}) warm {warm:6.2f} CPU s")
    return cold <= FILE_LIMIT


class Timed(NamedTuple):
    """Seconds of a first `prefpath fit`: by the clock, CPU of its own and of helpers."""

    wall: float
    own: float
    helpers: float
    printed: str


def timed_fit(name: str, helpers: int) -> Timed:
    """The first `prefpath fit` of a file on a machine."""
    code = FILE + "print(sum(os.times()[2:4]))\n"
    with tempfile.TemporaryDirectory() as cache:
        began = time.perf_counter()
        printed = run("import os" + code, cache, "fit", str(DATA / f"{name}.csv"), helpers=helpers)
        wall = time.perf_counter() - began
    result, own, others = printed.rstrip().rsplit("\n", 2)
    return Timed(wall, float(own), float(others), result)


def compare_ahead(name: str, runs: int, helpers: int) -> bool:
    """Print seconds of a first fit alone and with helpers, in turns; is it the same fit?"""
    ratios, same = [], True
    for _ in range(runs):
        alone, helped = timed_fit(name, 0), timed_fit(name, helpers)
        ratios.append(helped.wall / alone.wall)
        same &= alone.printed == helped.printed
        print(
            f"{name:18} cold alone {alone.wall:6.1f} s ({alone.own:5.1f} CPU), with {helpers} "
            f"{helped.wall:6.1f} s ({helped.own:5.1f} CPU of its own, {helped.helpers:5.1f} of "
            f"helpers), ratio {ratios[-1]:.2f}, load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
    results = "the same" if same else "DIFFER"
    print(f"{name:18} median ratio {median(ratios):.2f}, results {results}")
    return same


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--command", action="store_true")
    parser.add_argument("--files", nargs="*", choices=FILES)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--ahead", nargs="*", choices=FILES)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--helpers", type=int, default=max(1, min(4, (os.cpu_count() or 1) - 1)))
    asked = parser.parse_args()
    if asked.ahead is not None:
        same = [compare_ahead(name, asked.runs, asked.helpers) for name in asked.ahead or FILES]
        sys.exit(0 if all(same) else 1)
    if asked.files is not None:
        names = asked.files or FILES
        met = [fit_file(name, report=asked.report, kernels=asked.kernels) for name in names]
        sys.exit(0 if all(met) else 1)
    fit = FIT.replace("SIZE", SIZES["large" if asked.large else "small"])
    if asked.command:
        fit = COMMAND
    with tempfile.TemporaryDirectory() as cache:
        run(IMPORT, cache)
        found = {"import": float(run(IMPORT, cache))}
        if asked.kernels:
            print(run(with_kernels(fit), cache))
            return
        found["cold"], found["warm"] = (float(run(fit, cache).split()[-1]) for _ in range(2))
    met = True
    for what, seconds in found.items():
        limit = LIMITS.get(what)
        met &= limit is None or seconds <= limit
        target = (
            ""
            if limit is None
            else f" (at most {limit:g}: {'pass' if seconds <= limit else 'FAIL'})"
        )
        print(f"{what:8} {seconds:6.2f} CPU s{target}")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
