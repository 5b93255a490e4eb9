"""How often a model allows for attention (`attention="auto"`), in crowds with and without it.

    python benchmarks/attention_test.py --crowds 60
    python benchmarks/attention_test.py --votes 10000000

Crowds of 200 annotators with 50 votes each on 20 items, unless their name says otherwise. Printed:
the share of crowds in which it is allowed for; by somebody who is named, by a variance of slopes.
With --votes, the seconds the test takes on one crowd of that many votes.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from prefpath import simulate_crowd
from prefpath.inference.own_attention import LEVEL, find_unequal_attention
from prefpath.model.problem import Problem

USUAL = (10_000, 200, 20)
CASES: dict[str, tuple[tuple[int, int, int], dict[str, Any]]] = {
    "nobody is odd": (USUAL, {}),
    "nobody, 30 % ties": (USUAL, {"ties": 0.3}),
    "nobody, busy and light (Zipf)": (USUAL, {"activity": "zipf"}),
    "nobody, 6 votes each": ((6_000, 1_000, 20), {}),
    "nobody, 200 thin items": ((3_000, 60, 200), {}),
    "nobody, five annotators": ((1_000, 5, 8), {}),
    "nobody, two judges": ((1_000, 2, 8), {}),
    "a tenth have tastes N(0, 1)": (USUAL, {"deviants": 0.1, "deviation_scale": 1.0}),
    "a tenth have tastes N(0, 2^2)": (USUAL, {"deviants": 0.1}),
    "all have tastes N(0, .5^2)": (USUAL, {"deviants": 1.0, "deviation_scale": 0.5}),
    "all have tastes N(0, 1)": (USUAL, {"deviants": 1.0, "deviation_scale": 1.0}),
    "a fifth click, lean 2": (USUAL, {"clickers": 0.2}),
    "30 % click, lean 4": (USUAL, {"clickers": 0.3, "position_bias_scale": 4.0}),
    "a third noisy": (USUAL, {"noisy": 1 / 3}),
    "5 % random": (USUAL, {"random": 0.05}),
    "10 % random": (USUAL, {"random": 0.1}),
    "30 % random": (USUAL, {"random": 0.3}),
    "5 % contrary": (USUAL, {"contrary": 0.05}),
    "30 % contrary": (USUAL, {"contrary": 0.3}),
    "30 % contrary, 6 votes each": ((6_000, 1_000, 20), {"contrary": 0.3}),
    "one random of five": ((1_000, 5, 8), {"random": 1}),
    "one contrary of five": ((1_000, 5, 8), {"contrary": 1}),
    "one random of two": ((1_000, 2, 8), {"random": 1}),
}


def problem(size: tuple[int, int, int], odd: dict[str, Any], seed: int) -> Problem:
    settings = {"deviants": 0, "clickers": 0, "activity": "even", **odd}
    return Problem.build(simulate_crowd(*size, seed=seed, **settings).votes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--crowds", type=int, default=60)
    parser.add_argument("--first-seed", type=int, default=5_000)
    parser.add_argument("--votes", type=int, help="time one crowd of this many votes instead")
    given = parser.parse_args()
    if given.votes:
        large = problem((given.votes, max(given.votes // 100, 2), 1_000), {}, given.first_seed)
        _ = large.pool_index
        start = time.process_time()
        found = find_unequal_attention(large)
        print(f"{given.votes:,} votes: {time.process_time() - start:.2f} CPU s ({found.is_there})")
        return
    print(f"{'crowd':34}{'allowed for':>12}{'named':>8}{'variance':>10}")
    for name, (size, odd) in CASES.items():
        seeds = range(given.first_seed, given.first_seed + given.crowds)
        found = [find_unequal_attention(problem(size, odd, seed)) for seed in seeds]
        there = np.mean([one.is_there for one in found])
        named = np.mean([one.is_there and one.share > 0.01 for one in found])
        spread = np.mean([one.is_there and one.p_variance < LEVEL for one in found])
        print(f"{name:34}{there:>12.2f}{named:>8.2f}{spread:>10.2f}", flush=True)


if __name__ == "__main__":
    main()
