"""Plain Bradley-Terry rankings beside the fastest exact rivals: CPU time in one run, memory.

    python benchmarks/plain_ranking.py                        # all sizes: arrays and CSV
    python benchmarks/plain_ranking.py --votes 1e5 1e6 --items 100 1000
    python benchmarks/plain_ranking.py --memory --evalica ENV/bin/python

Arrays: whole numbers for the items, 1 and -1 for the choices. The rival counts wins by one
`bincount` and calls `choix.ilsr_pairwise_dense`; where that needs more than 3,000 items it is not
run (its matrices are dense, its time cubic), and evalica's Bradley-Terry is, if given. CSV: names
of items, with a column of annotators; the rival reads with `pandas.read_csv`, factorizes and calls
choix. Ours is `prefpath.rank(..., interval=None)`: scores, as the rival gives; with the intervals
that `rank` gives by default (clustered by annotator) in the last column. Best of three rounds, turn
and turn about, one thread, compiled beforehand. The target is a ratio of at most 1.2.

Memory is the peak beyond the interpreter with its imports and the votes as arrays, in a process of
its own. evalica needs an environment of its own: python -m venv, pip install evalica.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import choix
import numpy as np
import pandas as pd

from prefpath import VoteWarning, rank

TARGET = 1.2
DENSE_RIVAL_UP_TO = 3_000
ROUNDS = 3

_COMMON = """
import sys, time
import numpy as np
m, n = int(float(sys.argv[1])), int(sys.argv[2])
rng = np.random.default_rng(0)
theta = rng.normal(size=n)
left = rng.integers(0, n, m).astype(np.int32)
right = ((left + rng.integers(1, n, m)) % n).astype(np.int32)
won = rng.random(m) < 1 / (1 + np.exp(theta[right] - theta[left]))
def memory(field):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))
def forget_the_peak():  # what drawing the votes took is no part of ranking them
    open("/proc/self/clear_refs", "w").write("5")
    return memory("VmRSS")
"""
_OURS = (
    _COMMON
    + """
from prefpath import rank
rank((None, left[:100_000], right[:100_000], np.where(won[:100_000], 1, -1)), interval=None)
choice = np.where(won, 1, -1).astype(np.int8)
del won
before, start = forget_the_peak(), time.process_time()
rank((None, left, right, choice), interval=None)
print(memory('VmHWM') - before, time.process_time() - start)
"""
)
_EVALICA = (
    _COMMON
    + """
import evalica
winner = [evalica.Winner.X if w else evalica.Winner.Y for w in won]
before, start = forget_the_peak(), time.process_time()
evalica.bradley_terry(left.tolist(), right.tolist(), winner)
print(memory('VmHWM') - before, time.process_time() - start)
"""
)


def make_votes(n_votes: int, n_items: int) -> tuple[np.ndarray, ...]:
    """Left, right and choice of votes on items with scores N(0, 1)."""
    rng = np.random.default_rng(0)
    theta = rng.normal(size=n_items)
    left = rng.integers(0, n_items, n_votes).astype(np.int32)
    right = ((left + rng.integers(1, n_items, n_votes)) % n_items).astype(np.int32)
    won = rng.random(n_votes) < 1 / (1 + np.exp(theta[right] - theta[left]))
    return left, right, np.where(won, 1, -1).astype(np.int8)


def choix_scores(winner: np.ndarray, loser: np.ndarray, n_items: int) -> np.ndarray:
    key = winner.astype(np.int64) * n_items + loser
    wins = np.bincount(key, minlength=n_items * n_items).reshape(n_items, n_items)
    scores = choix.ilsr_pairwise_dense(wins.astype(float))
    return scores - scores.mean()


def rival_of_arrays(left: np.ndarray, right: np.ndarray, choice: np.ndarray) -> np.ndarray:
    n_items = int(max(left.max(), right.max())) + 1
    won = choice > 0
    return choix_scores(np.where(won, left, right), np.where(won, right, left), n_items)


def rival_of_file(file: Path) -> np.ndarray:
    frame = pd.read_csv(file, usecols=["left", "right", "choice"])
    code, names = pd.factorize(pd.concat([frame["left"], frame["right"]]), sort=True)
    left, right = code[: len(frame)], code[len(frame) :]
    won = (frame["choice"] == "left").to_numpy()
    return choix_scores(np.where(won, left, right), np.where(won, right, left), len(names))


def write_file(folder: str, left: np.ndarray, right: np.ndarray, choice: np.ndarray) -> Path:
    names = np.array([f"model-{k:05d}" for k in range(int(max(left.max(), right.max())) + 1)])
    who = np.random.default_rng(1).integers(0, max(len(left) // 100, 2), len(left))
    table = {
        "annotator": who,
        "left": names[left],
        "right": names[right],
        "choice": np.where(choice > 0, "left", "right"),
    }
    file = Path(folder) / "votes.csv"
    pd.DataFrame(table).to_csv(file, index=False)
    return file


def seconds(work: Callable[[], object]) -> tuple[float, object]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def compare(what: str, ours: Callable, rival: Callable | None, with_intervals: Callable) -> bool:
    """One line: ours, the rival, their ratio; whether it is within the target."""
    mine, theirs, apart = [], [], float("nan")
    for _ in range(ROUNDS):
        spent, found = seconds(ours)
        mine.append(spent)
        if rival is not None:
            spent, expected = seconds(rival)
            theirs.append(spent)
            apart = float(np.abs(found.scores - expected).max())
    full = seconds(with_intervals)[0]
    if rival is None:
        print(f"{what}{min(mine):>9.3f}{'-':>9}{'-':>8}{'':>10}{full:>12.2f}", flush=True)
        return True
    ratio = min(mine) / min(theirs)
    verdict = "" if ratio <= TARGET else "  above 1.2"
    print(f"{what}{min(mine):>9.3f}{min(theirs):>9.3f}{ratio:>8.2f}{apart:>10.0e}{full:>12.2f}"
          f"{verdict}", flush=True)  # fmt: skip
    return ratio <= TARGET


def one_size(n_votes: int, n_items: int, with_files: bool) -> list[bool]:
    left, right, choice = make_votes(n_votes, n_items)
    who = np.random.default_rng(1).integers(0, max(n_votes // 100, 2), n_votes).astype(np.int32)
    dense = n_items <= DENSE_RIVAL_UP_TO
    label = f"{n_votes:>10,}{n_items:>8,}"
    results = [
        compare(
            f"{label}  arrays",
            lambda: rank((None, left, right, choice), interval=None),
            (lambda: rival_of_arrays(left, right, choice)) if dense else None,
            lambda: rank((who, left, right, choice)),
        )
    ]
    if with_files:
        with tempfile.TemporaryDirectory() as folder:
            file = write_file(folder, left, right, choice)
            results.append(
                compare(
                    f"{label}  CSV   ",
                    lambda: rank(file, interval=None),
                    (lambda: rival_of_file(file)) if dense else None,
                    lambda: rank(file),
                )
            )
    return results


def memory(evalica: str | None) -> None:
    """Peak memory at 10 million votes on 1,000 items."""
    print("\npeak memory beyond the votes, and CPU seconds, 10,000,000 votes on 1,000 items")
    for name, python, code in (
        ("prefpath.rank", sys.executable, _OURS),
        ("evalica", evalica, _EVALICA),
    ):
        if python is None:
            print(f"{name:>16}  not given (--evalica PYTHON)")
            continue
        done = subprocess.run([python, "-c", code, "1e7", "1000"], capture_output=True, text=True)
        if done.returncode:
            print(f"{name:>16}  failed: {done.stderr.strip().splitlines()[-1]}")
            continue
        megabytes, spent = map(float, done.stdout.split())
        print(f"{name:>16}{megabytes:>10,.0f} MB{spent:>10.2f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--votes", nargs="+", type=float, default=[1e5, 1e6, 1e7])
    parser.add_argument("--items", nargs="+", type=int, default=[100, 1000, 2000, 10_000])
    parser.add_argument("--no-files", action="store_true")
    parser.add_argument("--memory", action="store_true", help="memory only")
    parser.add_argument("--evalica", help="a Python that has evalica")
    given = parser.parse_args()
    warnings.simplefilter("ignore", VoteWarning)
    if given.memory:
        memory(given.evalica)
        return
    one_size_quietly()
    print(f"{'votes':>10}{'items':>8}  from  {'ours':>9}{'rival':>9}{'ratio':>8}{'apart':>10}"
          f"{'intervals':>12}")  # fmt: skip
    within = []
    for n_votes in given.votes:
        for n_items in given.items:
            within += one_size(int(n_votes), n_items, not given.no_files)
    print(f"{sum(within)} of {len(within)} within {TARGET}")


def one_size_quietly() -> None:
    """Compile what the timings use."""
    left, right, choice = make_votes(200_000, 50)
    rank((None, left, right, choice))
    with tempfile.TemporaryDirectory() as folder:
        rank(write_file(folder, left, right, choice))


if __name__ == "__main__":
    main()
