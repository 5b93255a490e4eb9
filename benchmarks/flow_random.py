"""Does flow follow LBI on crowds nobody chose? Random ones, against an eight times finer step.

    python benchmarks/flow_random.py                    40 crowds, half an hour
    python benchmarks/flow_random.py --first 100 --crowds 10

Sizes, scores, tastes, leans, attentions, ties, weights, who votes how often, the loss and the
settings are drawn, extremes included. A crowd whose reference would take too long is left out
and said. Errors are those of `flow_accuracy.py`, against the same targets.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from flow_accuracy import TARGETS, compare

from prefpath import SettingError, Votes
from prefpath.model.problem import Problem
from prefpath.path import Path
from prefpath.solver.executors import Serial
from prefpath.solver.flow import solve_flow
from prefpath.solver.grid import make_grid
from prefpath.solver.lbi import default_step, solve_lbi

_FINER = 8.0
_MOST_WORK = 2e9  # cells read by the reference: a minute or two


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--crowds", type=int, default=40)
    parser.add_argument("--first", type=int, default=1, help="seed of the first crowd")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    beyond: list[dict[str, float]] = []
    for seed in range(asked.first, asked.first + asked.crowds):
        rng = np.random.default_rng(seed)
        votes, settings = random_votes(rng), random_settings(rng)
        problem = Problem.build(votes, **settings)
        path = solve_flow(problem, make_grid(None, 20, 20.0), n_threads=1)
        print(f"{seed:>5}  {votes.n_votes:>6,} votes  {in_words(settings):64}", end="")
        fine = reference(problem, path)
        if fine is None:
            print("left out: the reference takes too long", flush=True)
            continue
        errors = compare(path, fine)
        missed = {kind: errors[kind] for kind in TARGETS if errors.get(kind, 0.0) > TARGETS[kind]}
        beyond.append(missed)
        words = "  ".join(f"{kind} {error:.2%}" for kind, error in missed.items())
        if missed and (finer := reference(problem, path, 2.0 * _FINER)) is not None:
            moved = compare(fine, finer)
            words += "; by half the step the reference moves " + "  ".join(
                f"{kind} {moved[kind]:.2%}" for kind in missed
            )
        print(f"{path.n_evaluations:>7,} evaluations  {words or 'within all targets'}", flush=True)
    summarise(beyond)


def in_words(settings: dict[str, Any]) -> str:
    """What is not as it comes, in words."""
    flags = [name for name, value in settings.items() if value is True]
    return ", ".join([settings["loss"], *flags, f"kappa {settings['kappa']:g}"])


def summarise(beyond: list[dict[str, float]]) -> None:
    within = sum(not missed for missed in beyond)
    print(f"\n{within} of {len(beyond)} crowds within all targets")
    for kind, target in TARGETS.items():
        worst = [missed[kind] for missed in beyond if kind in missed]
        if worst:
            print(f"{kind}: {len(worst)} beyond {target:.1%}, the furthest {max(worst):.2%}")


def reference(problem: Problem, path: Path, finer: float = _FINER) -> Path | None:
    """LBI at a fine step, finer where that is not stable; None where it would take too long."""
    step = default_step(problem, Serial(), "flow") / finer
    while path.times[-1] / step * len(problem.design.left_at) < _MOST_WORK:
        try:
            return solve_lbi(problem, make_grid(path.times, 20, 20.0), step=step, n_threads=1)
        except SettingError:
            step /= 3.0
    return None


def random_votes(rng: np.random.Generator) -> Votes:
    """Two to sixty annotators on two to 25 items; a few odd ones, or nearly all."""
    n_annotators, n_items = int(rng.integers(2, 60)), int(rng.integers(2, 25))
    n_votes = int(rng.integers(60, 9_000))
    even = rng.integers(0, n_annotators, n_votes)
    uneven = np.minimum(rng.geometric(0.15, n_votes) - 1, n_annotators - 1)
    who = even if rng.random() < 0.6 else uneven
    left = rng.integers(0, n_items, n_votes)
    right = (left + rng.integers(1, n_items, n_votes)) % n_items
    margin = margins(rng, who, left, right, (n_annotators, n_items))
    choice = np.where(rng.random(n_votes) < 1.0 / (1.0 + np.exp(-margin)), 1.0, -1.0)
    choice[rng.random(n_votes) < rng.choice([0.0, 0.2])] = 0.0
    weight = None if rng.random() < 0.7 else 10.0 ** rng.uniform(-1.0, 1.0, n_votes)
    return Votes.from_arrays(who, left, right, choice, weight=weight)


def margins(
    rng: np.random.Generator,
    who: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    shape: tuple[int, int],
) -> np.ndarray:
    scores = rng.normal(size=shape[1]) * 10.0 ** rng.uniform(-1.0, 0.7)
    attention = np.exp(rng.normal(size=shape[0]) * rng.choice([0.0, 0.5, 1.0]))
    attention[rng.random(shape[0]) < rng.choice([0.0, 0.1, 0.45])] *= -1.0
    few = rng.random((2, shape[0])) < 0.3
    lean = rng.normal(size=shape[0]) * rng.choice([0.0, 0.5, 3.0]) * few[0]
    taste = rng.normal(size=shape) * rng.choice([0.0, 0.5, 2.0]) * few[1][:, np.newaxis]
    common = attention[who] * (scores[left] - scores[right])
    return common + lean[who] + taste[who, left] - taste[who, right]


def random_settings(rng: np.random.Generator) -> dict[str, Any]:
    losses = ["bradley-terry", "bradley-terry", "linear", "thurstone-mosteller"]
    return {
        "loss": str(rng.choice(losses)),
        "attention": bool(rng.random() < 0.7),
        "balance": bool(rng.random() < 0.5),
        "common_position": bool(rng.random() < 0.3),
        "kappa": float(rng.choice([20.0, 20.0, 5.0, 100.0])),
    }


if __name__ == "__main__":
    main()
