"""prefpath beside its rivals: `make bench` (a selection, ten minutes), `make bench-all` (hours).

    python benchmarks/rivals/environments.py                     # once: an environment a rival
    python benchmarks/rivals/bench.py --out benchmarks/rivals/results/selection.json
    python benchmarks/rivals/bench.py --all --out all.json       # every size, ten crowds a kind
    python benchmarks/rivals/bench.py --tasks rank path          # some; others stay in the file
    python benchmarks/rivals/bench.py --rivals glmnet adelie     # the same
    python benchmarks/rivals/page.py                             # docs/rivals.md from the JSON

Every run is a process of its own on one thread, after a run on a few votes where a first run
compiles. Each rival's own input (lists, frames, design matrices) is prepared beforehand; time runs
from that input to scores or a path. Runs of one size go turn and turn about, the least of their CPU
seconds counts. A rival that a limit ended is not tried on more votes.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from crowds_on_disk import (
    FILES,
    ODD,
    odd_crowd,
    path_crowd,
    plain_crowd,
    real_votes,
    who_is_odd,
    write,
    write_design,
)
from environments import PYTHON_RIVALS
from harness import read
from run import Limits, run
from scaling import scaling
from scipy.stats import kendalltau, rankdata

from prefpath import Votes, __version__

Method = tuple[str, str, str]  # as tables call it, the rival, its task
Record = dict[str, Any]

RANKERS: tuple[Method, ...] = tuple(
    (rival, rival, "rank")
    for rival in (
        "prefpath",
        "choix",
        "evalica",
        "scikit-learn",
        "arena-rank",
        "BradleyTerry2",
        "crowd-kit",
    )
)
PATHS: tuple[Method, ...] = (
    ("prefpath", "prefpath", "path"),
    ("prefpath, L1", "prefpath", "path-l1"),
    ("prefpath, least squares", "prefpath", "path-quadratic"),
    ("glmnet, L1", "glmnet", "path"),
    ("skglm, L1", "skglm", "path"),
    ("adelie, group", "adelie", "path"),
    ("adelie, group, least squares", "adelie", "path-quadratic"),
    ("lme4, leans only, no path", "lme4", "path"),
)
FINDERS: tuple[Method, ...] = (
    ("prefpath", "prefpath", "find"),
    ("choix", "choix", "rank"),
    ("crowd-kit", "crowd-kit", "find"),
    ("lme4, leans", "lme4", "find"),
    ("glmnet, L1, order of entry", "glmnet", "find"),
    ("adelie, group, order of entry", "adelie", "find"),
)
TASKS = ("rank", "path", "find", "scaling")


class Plan(NamedTuple):
    """Which sizes are run, and how often."""

    rank: tuple[tuple[int, int], ...]  # votes, items
    path: tuple[tuple[int, int, int], ...]  # votes, annotators, items
    shares: tuple[float, ...]
    crowds: int
    rounds: int
    limits: Limits
    rivals: tuple[str, ...] = ()  # all, if none is named

    def of(self, methods: tuple[Method, ...]) -> tuple[Method, ...]:
        return tuple(one for one in methods if not self.rivals or one[1] in self.rivals)


SELECTION = Plan(
    rank=((10**4, 100), (10**6, 100), (10**6, 1_000), (10**7, 1_000)),
    path=((10**4, 100, 20), (10**5, 1_000, 100)),
    shares=(0.1, 0.3),
    crowds=1,
    rounds=2,
    limits=Limits(30.0, 6.0),
)
EVERYTHING = Plan(
    rank=tuple(
        (votes, items) for items in (100, 1_000, 10_000) for votes in (10**4, 10**5, 10**6, 10**7)
    ),
    path=(
        (10**4, 100, 20),
        (10**5, 1_000, 100),
        (10**6, 1_000, 20),
        (10**6, 10_000, 200),
    ),
    shares=(0.05, 0.1, 0.3),
    crowds=10,
    rounds=3,
    limits=Limits(600.0, 12.0),
)


def rank_task(plan: Plan) -> Iterator[Record]:
    """Plain rankings: cost, and how near the truth and the maximum of the likelihood."""
    given_up: dict[str, str] = {}
    for n_votes, n_items in plan.rank:
        print(f" {n_votes:,} votes, {n_items:,} items")
        crowd = plain_crowd(n_votes, n_items)
        size = {"task": "rank", "votes": n_votes, "items": n_items}
        with _on_disk(crowd.votes, fresh=False) as folder:
            judge = partial(_scored, truth=crowd.scores)
            found = _compare(RANKERS, folder, plan, given_up, judge)
        yield from ({**size, **record} for record in _with_excess(found))


def path_task(plan: Plan) -> Iterator[Record]:
    """Whole paths: cost, and the least error on a fifth of the votes held back."""
    given_up: dict[str, str] = {}
    sets = [(name, partial(real_votes, name)) for name in FILES]
    sets += [("simulated", partial(_path_votes, *sizes)) for sizes in plan.path]
    for name, make in sets:
        votes = make()
        with _on_disk(votes, fresh=True) as folder:
            size = {
                "task": "path",
                "data": name,
                "votes": len(read(folder).left),
                "annotators": votes.n_annotators,
                "items": votes.n_items,
            }
            print(f" {name}, {size['votes']:,} votes")
            found = _compare(PATHS, folder, plan, given_up, _nothing_more)
        yield from ({**size, **record} for record in found)


def _path_votes(*sizes: int) -> Votes:
    return path_crowd(*sizes).votes


def find_task(plan: Plan) -> Iterator[Record]:
    """Odd annotators: who finds them, and how far they throw the ranking."""
    once = plan._replace(rounds=1)
    for kind, share, seed in product(ODD, plan.shares, range(plan.crowds)):
        print(f" {share:.0%} {kind}, crowd {seed}")
        crowd = odd_crowd(kind, share, seed)
        judge = partial(_scored_and_found, truth=crowd.scores, odd=who_is_odd(crowd))
        with _on_disk(crowd.votes, fresh=True) as folder:
            found = _compare(FINDERS, folder, once, {}, judge)
        about = {"task": "find", "kind": kind, "share": share, "seed": seed}
        yield from ({**about, **record} for record in found)


def _compare(
    methods: tuple[Method, ...],
    folder: Path,
    plan: Plan,
    given_up: dict[str, str],
    judge: Callable[[Path], Record],
) -> list[Record]:
    """Every method on the same files, turn and turn about; the least cost of its rounds."""
    best: dict[str, Record] = {}
    for turn in range(plan.rounds):
        for label, rival, task in plan.of(methods):
            before = best.get(label, {})
            if turn and before.get("cpu", np.inf) > 2.0:
                continue
            if label in given_up:
                best[label] = {"method": label, "failure": given_up[label]}
                continue
            _forget_outputs(folder)
            found = run(rival, task, folder, plan.limits)
            if "left_out" in found:
                continue
            if "cpu" in found and found["cpu"] < before.get("cpu", np.inf):
                best[label] = {"method": label, **found, **judge(folder)}
            elif not before:
                best[label] = {"method": label, **found}
                if "ended by us" in found.get("failure", ""):
                    given_up[label] = f"not tried: {found['failure']} on fewer votes"
    for record in best.values():
        print(_line(record), flush=True)
    return list(best.values())


def _nothing_more(_: Path) -> Record:
    return {}


def _scored_and_found(folder: Path, truth: np.ndarray, odd: np.ndarray) -> Record:
    return {**_scored(folder, truth), **_found(folder, odd)}


def _scored(folder: Path, truth: np.ndarray) -> Record:
    """RMSE and Kendall's tau to the truth, and the log-loss of the votes given."""
    file = folder / "scores.out"
    if not file.exists():
        return {}
    scores, votes = np.fromfile(file), read(folder)
    compared = np.zeros(votes.n_items, dtype=bool)
    compared[votes.left] = compared[votes.right] = True
    a, b = scores[compared], truth[compared]
    margin = (scores[votes.left] - scores[votes.right]) * votes.choice
    return {
        "rmse": float(np.sqrt(np.mean(((a - a.mean()) - (b - b.mean())) ** 2))),
        "tau": float(kendalltau(a, b).statistic),
        "loss": float(np.mean(np.logaddexp(0, -margin))),
    }


def _found(folder: Path, odd: np.ndarray) -> Record:
    """The chance that an odd annotator looks odder than an ordinary one (AUC); who is named."""
    file, figures = folder / "oddness.out", {}
    if file.exists():
        place = rankdata(np.fromfile(file))[odd]
        n, k = len(odd), odd.sum()
        figures["auc"] = float((place.sum() - k * (k + 1) / 2) / (k * (n - k)))
    if (folder / "named.out").exists():
        named = np.fromfile(folder / "named.out") > 0
        figures["power"] = float(named[odd].mean())
        figures["false_share"] = float((named & ~odd).sum() / max(named.sum(), 1))
    return figures


def _with_excess(records: list[Record]) -> list[Record]:
    """Log-loss beyond the best of the same votes: 0 where the maximum was reached."""
    least = min((one["loss"] for one in records if "loss" in one), default=np.nan)
    return [{**one, "excess": one["loss"] - least} if "loss" in one else one for one in records]


class _on_disk:
    """Votes in a folder for as long as they are needed."""

    def __init__(self, votes: Votes, *, fresh: bool) -> None:
        self._votes, self._fresh = votes, fresh
        self._folder = tempfile.TemporaryDirectory(prefix="prefpath-bench-")

    def __enter__(self) -> Path:
        folder = Path(self._folder.name)
        write(self._votes, folder, fresh=self._fresh)
        if self._fresh:
            write_design(folder)
        return folder

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()


def _forget_outputs(folder: Path) -> None:
    for file in folder.glob("*.out"):
        file.unlink()


def _line(record: Record) -> str:
    if "failure" in record:
        return f"  {record['method']:<32}{record['failure']}"
    figures = [f"{record['cpu']:>9.3f} s{record['memory']:>9.1f} MiB"]
    for key in ("wrong", "tau", "auc"):
        figures += [f"  {key} {record[key]:.3f}"] if key in record else []
    return f"  {record['method']:<32}" + "".join(figures)


def _merged(file: Path, records: list[Record]) -> list[Record]:
    """What an earlier run wrote, with what was measured again in its place."""
    before = json.loads(file.read_text("utf-8"))["records"] if file.exists() else []
    again = {_key(record): record for record in records}
    kept = [again.pop(_key(record), record) for record in before]
    return [*kept, *again.values()]


def _key(record: Record) -> tuple[Any, ...]:
    keys = ("task", "data", "votes", "items", "kind", "share", "seed", "method", "varied")
    sizes = ("annotators", "features", "threads", "kappa")
    return tuple(record.get(key) for key in (*keys, *sizes))


def _about(plan: Plan, load: float) -> Record:
    return {
        "prefpath": __version__,
        "rivals": {rival: pins[0].partition("==")[2] for rival, pins in PYTHON_RIVALS.items()},
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "load": load,
        "day": time.strftime("%Y-%m-%d", time.gmtime()),
        "limits": plan.limits._asdict(),
        "rounds": plan.rounds,
        "crowds": plan.crowds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="every size (hours)")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--rivals", nargs="+", default=[], help="only these")
    parser.add_argument("--out", type=Path, help="write the records as JSON, or renew some there")
    given = parser.parse_args()
    plan = (EVERYTHING if given.all else SELECTION)._replace(rivals=tuple(given.rivals))
    load, start = os.getloadavg()[0], time.monotonic()
    makers = {"rank": rank_task, "path": path_task, "find": find_task}
    for name in given.tasks:
        print(name, flush=True)
        records = list(scaling(given.all) if name == "scaling" else makers[name](plan))
        if given.out:  # after every task: a run that is stopped has not been for nothing
            _write(given.out, _about(plan, load), records)
    print(f"{(time.monotonic() - start) / 60:.1f} minutes")


def _write(file: Path, about: Record, records: list[Record]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    found = {"about": about, "records": _merged(file, records)}
    file.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
