"""What a user runs: default fits, beside those of another version, in CPU seconds.

    python benchmarks/default_fits.py --beside ../v010           # the rows up to 250,000 votes
    python benchmarks/default_fits.py --beside ../v010 --all     # and the large ones
    python benchmarks/default_fits.py --quick                    # this version alone, a minute
    python benchmarks/default_fits.py --rows college real        # some rows

Each fit runs in a process of its own, one thread, after small fits that compile; the two
versions take turns. A tenth of the votes is held out beforehand and judged at the t chosen.
`--beside` is the folder of another version (its `src` is put first on the path).
"""

from __future__ import annotations

import argparse
import inspect
import json
import math
import os
import resource
import signal
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("PREFPATH_DATA", HERE.parent / "shared" / "data"))
HELD_OUT = 0.1


@dataclass(frozen=True)
class Case:
    """A row of the table: votes, and by how much or in what time this version must do."""

    what: str
    votes: Callable[[], Any]
    faster: float = 0.0
    seconds: float = 0.0
    large: bool = False
    path_to: float = 0.0  # one path to this ratio instead of a default fit
    balance: bool = False  # of a path
    plain: bool = False  # a fit that is not balanced, as fits are by default
    n_features: int = 0


def crowd(n_votes: int, n_annotators: int, n_items: int, **how: Any) -> Callable[[], Any]:
    """Votes of a simulated crowd, a tenth more than `n_votes` to hold out."""

    def simulate() -> Any:
        from prefpath import simulate_crowd

        total = round(n_votes / (1.0 - HELD_OUT))
        return simulate_crowd(total, n_annotators, n_items, **{"seed": 0, **how}).votes

    return simulate


def college() -> Any:
    """WorldCollege."""
    from prefpath import read_votes

    return read_votes(DATA / "worldcollege.csv")


def real_shape() -> Any:
    """84,000 votes, a fifth ties, of 3,800 annotators on 12,000 items, most with few votes."""
    from prefpath import Votes

    rng = np.random.default_rng(0)
    n_votes, n_people, n_items = round(84_000 / (1.0 - HELD_OUT)), 3_800, 12_000
    activity = 1.0 / np.arange(1, n_people + 1) ** 0.8
    fame = 1.0 / np.arange(10, n_items + 10) ** 0.9
    who = rng.choice(n_people, n_votes, p=activity / activity.sum())
    left = rng.choice(n_items, n_votes, p=fame / fame.sum())
    right = rng.choice(n_items, n_votes, p=fame / fame.sum())
    right = np.where(left == right, (right + 1) % n_items, right)
    score, lean = rng.normal(size=n_items), rng.normal(size=n_people) * (rng.random(n_people) < 0.1)
    odd = rng.random(n_people) < 0.1
    taste = 1.5 * np.sin(np.outer(np.arange(1, n_people + 1), [1.0]) + np.arange(n_items) % 97)
    margin = score[left] - score[right] + 1.5 * lean[who]
    margin += np.where(odd[who], taste[who, left] - taste[who, right], 0.0)
    choice = np.where(rng.random(n_votes) < 1.0 / (1.0 + np.exp(-margin)), 1.0, -1.0)
    choice[rng.random(n_votes) < 0.2] = 0.0
    return Votes.from_arrays(who, left, right, choice)


CASES = {
    "small": Case("20,000 votes of 2,000 on 50", crowd(20_000, 2_000, 50), faster=8),
    "middle": Case("10^5 votes of 10^3 on 100", crowd(100_000, 1_000, 100), faster=4),
    "college": Case("WorldCollege", college, faster=4),
    "quarter": Case("250,000 votes of 2,500 on 100", crowd(250_000, 2_500, 100), faster=4),
    "plain": Case("the same, not balanced", crowd(250_000, 2_500, 100), large=True, plain=True),
    "real": Case("a real crowd's shape: 84,000 of 3,800 on 12,000", real_shape, faster=8),
    "path": Case(
        "balanced path to 50 t0, 10^5 votes of 10^4",
        crowd(100_000, 10_000, 100),
        faster=5,
        path_to=50.0,
        balance=True,
    ),
    "features": Case(
        "16,000 votes of 2,000 on 60 items with 5 features",
        crowd(16_000, 2_000, 60),
        n_features=5,
    ),
    "even": Case(
        "path to 50 t0, 10^4 with 100 votes each",
        crowd(1_000_000, 10_000, 100, activity="even"),
        seconds=60,
        large=True,
        path_to=50.0,
    ),
    "few": Case(
        "path to 50 t0, 10^5 with 10 votes each",
        crowd(1_000_000, 100_000, 100, activity="even"),
        seconds=60,
        large=True,
        path_to=50.0,
    ),
    "short": Case(
        "path to 50 t0, 10^6 votes of 10^4 on 200",
        crowd(1_000_000, 10_000, 200),
        large=True,
        path_to=50.0,
    ),
    "long": Case(
        "the same to 400 t0 (at most 8 times the time)",
        crowd(1_000_000, 10_000, 200),
        large=True,
        path_to=400.0,
    ),
    "million": Case(
        "10^6 votes of 10^4 on 300", crowd(1_000_000, 10_000, 300), seconds=60, large=True
    ),
    "ten million": Case(
        "10^7 votes of 10^5 on 1,000", crowd(10_000_000, 100_000, 1_000), seconds=300, large=True
    ),
}


def run_case(name: str, limit: float) -> dict[str, float]:
    """Fit one case in this process and say what it cost and what it found."""
    from prefpath import PreferenceModel, VoteWarning, fit_path, simulate_crowd

    warnings.simplefilter("ignore", VoteWarning)
    small = simulate_crowd(8_000, 80, 12, seed=0).votes  # large enough for compiled kernels
    _warm_up(small)
    case = CASES[name]
    votes = case.votes()
    if case.path_to:
        fit_path(small, balance=case.balance, t_ratio=8.0, n_threads=1)
        stop_after(limit)
        start = time.process_time()
        path = fit_path(votes, balance=case.balance, t_ratio=case.path_to, n_threads=1)
        spent = time.process_time() - start
        return {"cpu": spent, "evaluations": path.n_evaluations, "t": 0.0, "t0": 1.0}
    out = np.random.default_rng(1).random(votes.n_rows) < HELD_OUT
    training, test = votes.take(~out), votes.take(out)
    del votes
    features = _features(training.n_items, case.n_features)
    if features is not None:
        PreferenceModel(features=features[: small.n_items], n_threads=1).fit(small)
    stop_after(limit)
    start = time.process_time()
    balance = False if case.plain else "auto"
    model = PreferenceModel(features=features, balance=balance, n_threads=1).fit(training)
    spent = time.process_time() - start
    return {"cpu": spent, **_found(model, test)}


def _warm_up(votes: Any) -> None:
    """Load or compile what fits use, with attention where a version has it."""
    from prefpath import PreferenceModel

    PreferenceModel(n_threads=1).fit(votes)
    if "attention" in inspect.signature(PreferenceModel).parameters:
        PreferenceModel(attention=True, n_threads=1).fit(votes)


def _features(n_items: int, n_features: int) -> Any:
    if not n_features:
        return None
    return np.random.default_rng(2).standard_normal((n_items, n_features))


def _found(model: Any, test: Any) -> dict[str, float]:
    left = np.clip(model.predict_proba(test)[:, 1], 1e-6, 1 - 1e-6)
    share = (1.0 + test.choice) / 2.0
    cost = -share * np.log(left) - (1.0 - share) * np.log1p(-left)
    mean, best = model.cv_.mean, int(np.argmin(model.cv_.mean))
    within = model.cv_.times[mean <= mean[best] + model.cv_.standard_error[best]]
    return {
        "loss": float(np.sum(test.weight * cost) / test.weight.sum()),
        "t": model.t_,
        "t0": float(model.path_.times[0]),
        "last": float(model.path_.times[-1]),
        "low": float(within[0]),
        "high": float(within[-1]),
        "evaluations": model.path_.n_evaluations,
        "balanced": float(model.balanced_),
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2,
    }


def elsewhere(name: str, folder: Path, limit: float) -> dict[str, float] | None:
    """The same in its own process with the sources of `folder`; None where it spent too much."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder / "src"),
        "OPENBLAS_NUM_THREADS": "1",
        "PREFPATH_DATA": str(DATA),
    }
    command = [sys.executable, __file__, "--run", name, "--limit", str(limit)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode == -signal.SIGXCPU:
        return None
    if done.returncode:
        sys.exit(f"{' '.join(command)} in {folder} failed:\n{done.stderr}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def stop_after(seconds: float) -> None:
    """Let the system end this process after so many more seconds of the processor."""
    most = math.ceil(time.process_time() + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 10))


def compare(name: str, beside: Path | None, repeats: int, limit: float) -> bool:
    """Print a row of the table; tell whether its target was met."""
    folders = [HERE] if beside is None else [HERE, beside]
    runs: list[list[dict[str, float] | None]] = [[] for _ in folders]
    for _ in range(repeats):
        for k, folder in enumerate(folders):
            runs[k].append(elsewhere(name, folder, limit))
    ours, theirs = _median(runs[0]), _median(runs[1]) if beside is not None else None
    return _print_row(CASES[name], ours, theirs, limit, beside is not None)


def _median(runs: list[dict[str, float] | None]) -> dict[str, float] | None:
    done = [run for run in runs if run is not None]
    if not done:
        return None
    return {**done[-1], "cpu": statistics.median(run["cpu"] for run in done)}


def _print_row(
    case: Case,
    ours: dict[str, float] | None,
    theirs: dict[str, float] | None,
    limit: float,
    compared: bool,
) -> bool:
    if ours is None:
        print(f"{case.what:50} over {limit:g} s: FAIL", flush=True)
        return False
    line = f"{case.what:50} {ours['cpu']:7.2f} s, t/t0 {ours['t'] / ours['t0']:6.1f}"
    line += f", {ours['evaluations']:.0f} evaluations, {ours.get('gigabytes', 0.0):.2f} GB"
    met = not case.seconds or ours["cpu"] <= case.seconds
    if theirs is not None:
        ratio = theirs["cpu"] / ours["cpu"]
        met = met and ratio >= case.faster
        line += f"; other {theirs['cpu']:7.2f} s = {ratio:.1f} times"
        line += f", t/t0 {theirs['t'] / theirs['t0']:.1f}"
        if "loss" in ours:
            t = ours["t"] * theirs["t0"] / ours["t0"]  # knots may differ in their last digits
            inside = theirs["low"] * 0.999 <= t <= theirs["high"] * 1.001
            worse = ours["loss"] - theirs["loss"]
            met = met and worse <= 5e-4
            line += f" (ours {'inside' if inside else 'OUTSIDE'} its band)"
            line += f", held-out log-loss {worse:+.4f}"
    elif compared:
        met = met and limit / ours["cpu"] >= case.faster
        line += f"; other over {limit:g} s = more than {limit / ours['cpu']:.1f} times"
    print(f"{line}: {'pass' if met else 'FAIL'}", flush=True)
    return met


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--beside", type=Path, help="folder of another version")
    parser.add_argument("--all", action="store_true", help="the large rows too")
    parser.add_argument("--quick", action="store_true", help="two small rows")
    parser.add_argument("--rows", nargs="*", choices=CASES)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--limit", type=float, default=900.0, help="CPU seconds of one fit")
    parser.add_argument("--run", choices=CASES, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.run:
        print(json.dumps(run_case(asked.run, asked.limit)))
        return
    names = asked.rows or (["small", "college"] if asked.quick else None)
    names = names or [name for name, case in CASES.items() if asked.all or not case.large]
    beside = asked.beside.resolve() if asked.beside else None
    met = [compare(name, beside, asked.repeats, asked.limit) for name in names]
    print(f"{sum(met)} of {len(met)} targets met")
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
