"""Our time on one thread beside the seconds the paper printed for its C++.

    python -m prefpath.experiments.paper_seconds

Linear loss and kappa 10, as the authors time it. LBI's whole time is its number of iterations
times the measured time of one; flow's is measured whole. Another processor, twelve years apart:
the ratio says that nothing is lost by Python, not whose code is better.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from prefpath.experiments.data import look_beside_the_clone
from prefpath.experiments.published import SECONDS
from prefpath.experiments.speed_up_figures import Data, iqa, movies, simulation, worldcollege
from prefpath.fit import fit_path

DATA: dict[str, tuple[Callable[[], Data], float]] = {
    "simulated": (simulation, 100.0),
    "movies": (movies, 100.0),
    "IQA": (iqa, 50.0),
    "WorldCollege": (worldcollege, 50.0),
}
SHORT, LONG = 200, 2_200  # iterations; the difference of two runs has no set-up in it


def compare(name: str) -> tuple[int, float, float]:
    """LBI's number of iterations, its seconds an iteration, and flow's seconds for the path."""
    load, ratio = DATA[name]
    votes, features, with_bias = load()
    how: dict[str, Any] = {
        "loss": "linear",
        "kappa": 10.0,
        "features": features,
        "position_bias": with_bias,
        "n_threads": 1,
    }
    fit_path(votes, **how, t_ratio=2.0, n_times=3)  # compiled and warm
    start = time.process_time()
    path = fit_path(votes, **how, t_ratio=ratio)
    flow_seconds = time.process_time() - start
    step = fit_path(votes, **how, solver="lbi", times=[1e-9]).step
    assert step is not None
    spent = []
    for n in (SHORT, LONG):
        start = time.process_time()
        fit_path(votes, **how, solver="lbi", times=[n * step])
        spent.append(time.process_time() - start)
    return (
        int(np.ceil(path.times[-1] / step)),
        (spent[1] - spent[0]) / (LONG - SHORT),
        flow_seconds,
    )


def main() -> None:
    look_beside_the_clone()
    print(
        f"{'data':<14} {'iterations':>11} {'LBI, one thread':>16} {'flow':>8} {'paper, 1':>9} "
        f"{'paper, 16':>10}   seconds"
    )
    for name in DATA:
        iterations, each, flow = compare(name)
        print(
            f"{name:<14} {iterations:>11,} {iterations * each:>16.1f} {flow:>8.2f} "
            f"{SECONDS[name][0]:>9.1f} {SECONDS[name][-1]:>10.1f}"
        )


if __name__ == "__main__":
    main()
