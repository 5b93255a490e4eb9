"""Is it the same fit? One thread, two threads, and clusters of 1, 2 and 4 worker processes.

    python benchmarks/cluster_same.py              all models, flow and LBI, and a whole fit
    python benchmarks/cluster_same.py --losses linear
    python benchmarks/cluster_same.py --losses     the whole fit only

Of each model: whether two threads have the bits of one, whether clusters of all sizes have the same
bits, and how far these are from one thread (the largest difference of any score, deviation or
bias at any time of the path). Of a whole fit: leaderboard, verdicts and report.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client, LocalCluster

from prefpath import Path as VotePath
from prefpath import PreferenceModel, Votes, fit_path, simulate_crowd
from prefpath.distributed import ShardedVotes, shard_votes

_LOSSES = ("bradley-terry", "thurstone-mosteller", "linear")
_SIZES = (1, 2, 4)
_N_ITEMS = 6
_FEATURES = np.random.default_rng(0).normal(size=(_N_ITEMS, 2))
_MODELS: dict[str, dict[str, Any]] = {
    "no position bias": {"position_bias": False},
    "position bias, shared too": {"common_position": True},
    "balance": {"balance": True},
    "features": {"features": _FEATURES, "balance": True, "common_position": True},
}
_NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")


@contextmanager
def clusters() -> Iterator[dict[int, Client]]:
    """Clients of clusters of worker processes, by the number of workers."""
    with ExitStack() as opened:
        found = {}
        for n in _SIZES:
            cluster = opened.enter_context(
                LocalCluster(n_workers=n, threads_per_worker=1, dashboard_address=":0")
            )
            found[n] = opened.enter_context(Client(cluster, set_as_default=False))
        yield found


def values_of(path: VotePath) -> list[np.ndarray]:
    """All numbers of a path."""
    found = [path.times, path.common]
    for t in path.times:
        found += [path.deviation(t).toarray(), path.position_bias(t)]
    return found


def have_same_bits(one: VotePath, other: VotePath) -> bool:
    pairs = zip(values_of(one), values_of(other), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def apart(one: VotePath, other: VotePath) -> float:
    pairs = zip(values_of(one), values_of(other), strict=True)
    return max(float(np.abs(a - b).max(initial=0.0)) for a, b in pairs)


def times_of(votes: Votes, solver: str, model: dict[str, Any]) -> dict[str, Any]:
    """Which times are asked for: LBI's are iterations, of its own step."""
    if solver == "flow":
        return {"n_times": 4, "t_ratio": 3.0}
    step = fit_path(votes, solver="lbi", times=[1e-3], **model).step
    return {"times": step * np.array([3.0, 60.5])}


def say_model(
    votes: Votes,
    sharded: ShardedVotes,
    there: dict[int, Client],
    solver: str,
    model: dict[str, Any],
) -> float:
    """Fit one model everywhere, and say what is the same; how far clusters are from here."""
    settings = model | times_of(votes, solver, model) | {"solver": solver}
    one, two = (fit_path(votes, n_threads=n, **settings) for n in (1, 2))
    found = [fit_path(sharded, client=client, **settings) for client in there.values()]
    same = all(have_same_bits(path, found[0]) for path in found)
    far = max(apart(path, one) for path in found)
    words = {True: "same bits", False: "DIFFERENT BITS"}
    print(
        f"threads: {words[have_same_bits(one, two)]}; clusters of 1, 2, 4: {words[same]}, "
        f"{far:.0e} from one thread",
        flush=True,
    )
    return far


def page_of(model: PreferenceModel, folder: str) -> str:
    return model.report(Path(folder) / "page.html").read_text("utf-8")


def say_whole_fit(votes: Votes, sharded: ShardedVotes, there: dict[int, Client]) -> None:
    """Leaderboard, verdicts and report of a cross-validated fit, here and on each cluster."""
    settings: dict[str, Any] = {"cv": 2, "weak": False, "n_times": 6, "t_ratio": 4.0}
    here = PreferenceModel(**settings, n_threads=1).fit(votes)
    models = [PreferenceModel(**settings).fit(sharded, client=c) for c in there.values()]
    with tempfile.TemporaryDirectory() as folder:
        page, *pages = (page_of(model, folder) for model in (here, *models))
    for name in ("ranking", "annotators"):
        tables = [getattr(model, name)() for model in (here, *models)]
        words = [table.select_dtypes(exclude="number") for table in tables]
        numbers = [table.select_dtypes("number").to_numpy(float) for table in tables]
        same = all(table.equals(tables[1]) for table in tables[1:])
        gaps = np.abs(numbers[1] - numbers[0]) / np.maximum(1.0, np.abs(numbers[0]))
        print(
            f"{name}: clusters of 1, 2, 4 {'the same bits' if same else 'DIFFER'}; names, order "
            f"and words as here: {words[1].equals(words[0])}; numbers {np.nanmax(gaps):.0e} apart"
        )
    words_here, numbers_here = split_numbers(page)
    words_there, numbers_there = split_numbers(pages[0])
    same = words_here == words_there
    far = np.abs(numbers_there - numbers_here).max() if same else np.nan
    print(
        f"report: clusters of 1, 2, 4 {'the same bytes' if len(set(pages)) == 1 else 'DIFFER'}; "
        f"words as here: {same}; numbers {far:.0e} apart"
    )


def split_numbers(page: str) -> tuple[str, np.ndarray]:
    """The words of a page, and the numbers with a decimal point in it."""
    return _NUMBER.sub("#", page), np.array([float(x) for x in _NUMBER.findall(page)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--losses", nargs="*", choices=_LOSSES, default=_LOSSES)
    losses = parser.parse_args().losses
    votes = simulate_crowd(900, 24, _N_ITEMS, deviants=4, clickers=3, seed=0).votes
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder, clusters() as there:
        sharded = shard_votes(votes, there[1], folder)
        for loss in losses:
            for name, model in _MODELS.items():
                for solver in ("flow", "lbi"):
                    print(f"{loss}, {name}, {solver}: ", end="", flush=True)
                    model = model | {"loss": loss}
                    worst = max(worst, say_model(votes, sharded, there, solver, model))
        if losses:
            print(f"largest distance of all: {worst:.1e}", flush=True)
        say_whole_fit(votes, sharded, there)


if __name__ == "__main__":
    main()
