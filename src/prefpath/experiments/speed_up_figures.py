"""The paper's speed-up figures (3, 4, 6, 13): SynPar-LBI over the threads this machine has.

Iterations only, as the authors time them: reading and setting up are left out. Thread counts
take turns, so that a busy machine slows all of them. The paper's data are small (an iteration
takes well under a millisecond here, less than handing work to a thread costs), so our solver keeps
them in one shard and more threads change nothing. What threads are for is shown beside it: the
same crowd many times over.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from prefpath import Votes, datasets, simulate_paper
from prefpath.experiments.figure_kit import Figure, Finding, as_known
from prefpath.model.design import Floats
from prefpath.model.problem import Problem
from prefpath.plots.style import BLUE, GREY, ORANGE
from prefpath.solver.executors import check_threads, make_executor, split_annotators
from prefpath.solver.iteration import State
from prefpath.solver.lbi import default_step
from prefpath.solver.stepper import Stepper

MOST_THREADS = 16  # the paper's machine had as many
LARGE, LARGE_QUICK = 2_000_000, 400_000  # votes of the crowd many times over
SECONDS_A_RUN = 0.2
REPEATS, REPEATS_QUICK = 7, 3

Data = tuple[Votes, Floats | None, bool]  # votes, features, whether position bias is estimated


def simulation() -> Data:
    drawn = simulate_paper(seed=0)
    return drawn.votes, drawn.features, True


def movies() -> Data:
    data = datasets.load_paper_movies()
    assert data.features is not None
    return data.votes, data.features.of(data.votes.items), False


def iqa() -> Data:
    return datasets.load_iqa().votes, None, True


def worldcollege() -> Data:
    return datasets.load_worldcollege().votes, None, True


def many_times(votes: Votes, n_copies: int) -> Votes:
    """The same crowd `n_copies` times over: every annotator again under another name.

    >>> many_times(Votes.from_arrays(["ann"], ["x"], ["y"], [1]), 3).n_annotators
    3
    """
    row = np.tile(np.repeat(np.arange(votes.n_rows), votes.count), n_copies)  # one for each vote
    copy = np.repeat(np.arange(n_copies), votes.n_votes)
    return Votes.from_codes(
        votes.annotator[row] + copy * votes.n_annotators,
        votes.left[row],
        votes.right[row],
        votes.choice[row],
        (votes.weight / votes.count)[row],
        annotators=np.arange(n_copies * votes.n_annotators),
        items=votes.items,
        position_known=votes.position_known[row],
    )


@dataclass(frozen=True)
class Timing:
    """Seconds of one iteration, by number of threads and repeat."""

    n_votes: int
    n_shards: int
    threads: tuple[int, ...]
    seconds: Floats

    @property
    def speed_up(self) -> Floats:
        """How many times as fast as one thread, of medians."""
        median = np.median(self.seconds, axis=1)
        return median[0] / median

    @property
    def efficiency(self) -> Floats:
        return self.speed_up / np.array(self.threads)


def time_iterations(problem: Problem, threads: tuple[int, ...], repeats: int) -> Timing:
    """Time the paper's iteration with each number of threads, turn and turn about."""
    shards = split_annotators(problem.design.cells)
    runs: list[Callable[[int], None]] = []
    step = default_step(problem, make_executor(1, len(shards)))
    for n in threads:
        stepper = Stepper(problem, make_executor(n, len(shards)), shards, step, "flow")
        runs.append(partial(stepper.advance, State.zero(problem)))
    for run in runs:  # compiled and warm
        run(3)
    n_iterations = max(3, round(SECONDS_A_RUN / (_seconds(runs[0], 3) / 3)))
    spent = [[_seconds(run, n_iterations) / n_iterations for run in runs] for _ in range(repeats)]
    return Timing(problem.votes.n_votes, len(shards), threads, np.array(spent).T)


def _seconds(run: Callable[[int], None], n_iterations: int) -> float:
    start = time.perf_counter()
    run(n_iterations)
    return time.perf_counter() - start


def speed_up(load: Callable[[], Data], quick: bool) -> Finding:
    """Time, speed-up and efficiency on the paper's votes, and on the crowd many times over."""
    votes, features, with_bias = load()
    threads = tuple(range(1, min(check_threads(None), MOST_THREADS) + 1))
    n_copies = max(1, round((LARGE_QUICK if quick else LARGE) / votes.n_votes))
    timings = []
    for crowd in (votes, many_times(votes, n_copies)):
        problem = Problem.build(crowd, features=features, position_bias=with_bias)
        timings.append(time_iterations(problem, threads, REPEATS_QUICK if quick else REPEATS))
    _draw(timings, n_copies)
    return Finding(_words(timings, n_copies), _columns(timings))


def _words(timings: list[Timing], n_copies: int) -> str:
    own, large = timings
    n = own.threads[-1]
    return (
        f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}: with {n} threads an "
        f"iteration is {large.speed_up[-1]:.2f} times as fast as with one (efficiency "
        f"{large.efficiency[-1]:.2f}) on the crowd {n_copies} times over ({large.n_votes:,} votes, "
        f"{large.n_shards} shards), and {own.speed_up[-1]:.2f} times on the paper's "
        f"{own.n_votes:,} votes ({own.n_shards} shard, {np.median(own.seconds[0]) * 1e6:.0f} µs an "
        "iteration)"
    )


def _columns(timings: list[Timing]) -> dict[str, list[float]]:
    columns: dict[str, list[float]] = {}
    for name, each in (
        ("votes", [[one.n_votes] * len(one.threads) for one in timings]),
        ("threads", [one.threads for one in timings]),
        ("seconds_an_iteration", [np.median(one.seconds, axis=1) for one in timings]),
        ("speed_up", [one.speed_up for one in timings]),
        ("efficiency", [one.efficiency for one in timings]),
    ):
        columns[name] = [float(value) for values in each for value in values]
    return columns


def _draw(timings: list[Timing], n_copies: int) -> None:
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(1, 3, figsize=(13.0, 3.8), layout="constrained")
    names = ("the paper's votes", f"the crowd {n_copies} times over")
    threads = np.array(timings[0].threads)
    axes[1].plot(threads, threads, "--", color=GREY, linewidth=1.2, label="ideal")
    axes[2].axhline(1.0, linestyle="--", color=GREY, linewidth=1.2, label="ideal")
    for one, name, colour in zip(timings, names, (ORANGE, BLUE), strict=True):
        median = np.median(one.seconds, axis=1)
        for ax, values in zip(axes, (median * 1e3, one.speed_up, one.efficiency), strict=True):
            ax.plot(threads, values, "o-", color=colour, linewidth=2, label=name)
    axes[0].set_yscale("log")
    for ax, words in zip(axes, ("ms an iteration", "times as fast", "efficiency"), strict=True):
        ax.set_xticks(threads)
        ax.set_xlabel("threads")
        ax.set_ylabel(words)
        ax.spines[["top", "right"]].set_visible(False)
    axes[1].legend(frameon=False)


SPEED_UP_FIGURES = tuple(
    Figure(
        f"{name}-speed-up", f"{title}, SynPar-LBI over threads", partial(speed_up, load), number,
        as_known(number, "time of SynPar-LBI with 1 to 16 threads, 20 runs each, linear loss, "
                 f"kappa 10 (the authors' {script}); which ratios it draws we could not see. Ours "
                 "is Bradley-Terry with kappa 20, and the threads this machine has"),
    )
    for name, title, number, load, script in (
        ("simulation", "simulated study", "3", simulation, "simulation.sh"),
        ("movie", "movies", "4", movies, "movie.sh"),
        ("iqa", "IQA", "6", iqa, "iqa.sh"),
        ("worldcollege", "WorldCollege", "13", worldcollege, "univer.sh"),
    )
)  # fmt: skip
