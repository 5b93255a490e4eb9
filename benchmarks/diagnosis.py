"""What `ranking()`, `annotators()` and the trust panel cost, beside an LBI iteration.

    python benchmarks/diagnosis.py            # 1 and 10 million votes, some minutes
    python benchmarks/diagnosis.py --quick    # 100,000 and a million
    python benchmarks/diagnosis.py --default  # a default fit with two thousand active annotators

Crowds with Zipf activity, 2 % deviants and 2 % clickers, a hundred votes an annotator, and a
short Bradley-Terry path without cross-validation; or a tenth of each, and a fit by default
settings, in which some two thousand of 10,000 annotators have entered. One thread throughout. An
LBI iteration is one pass over the votes, so the ratio tells how many passes the answer is worth,
whatever the machine. Seconds are of the processor. The aims are 5 for `ranking()` and 10 for
`annotators()` (diagnosis and its table) of 10 million votes, and in proportion for fewer.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

from checks import Check, LbiIterations, print_checks

from prefpath import PreferenceModel, VoteWarning, simulate_crowd
from prefpath.diagnose import Diagnosis, diagnose
from prefpath.model.problem import Problem
from prefpath.trust import trust_panel

_ITERATIONS = 10
# Processor seconds of 10 million votes.
_RANKING, _ANNOTATORS, _TRUST = 5.0, 10.0, 60.0


def fitted(n_votes: int, n_annotators: int, n_items: int) -> PreferenceModel:
    crowd = simulate_crowd(n_votes, n_annotators, n_items, deviants=0.02, clickers=0.02, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VoteWarning)
        return PreferenceModel(cv=0, t_ratio=10.0, n_threads=1).fit(crowd.votes)


def fitted_by_default(n_votes: int, n_annotators: int, n_items: int) -> PreferenceModel:
    crowd = simulate_crowd(n_votes, n_annotators, n_items, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VoteWarning)
        return PreferenceModel(n_threads=1).fit(crowd.votes)


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(model: PreferenceModel) -> dict[str, float]:
    """Processor seconds of each answer, and of one LBI iteration on the same votes."""
    lbi = LbiIterations(Problem.build(model.votes_), n_threads=1)
    lbi.advance(1)
    found: list[Diagnosis] = []
    return {
        "ranking()": seconds(lambda: model.ranking()),
        "diagnosis": seconds(lambda: found.append(diagnose(model))),
        "table of all": seconds(lambda: found[0].columns()),
        "table of 500": seconds(lambda: found[0].columns(500)),
        "trust panel": seconds(lambda: trust_panel(model.votes_)),
        "LBI iteration": seconds(lambda: lbi.advance(_ITERATIONS)) / _ITERATIONS,
    }


def report(model: PreferenceModel) -> list[Check]:
    spent, votes = measure(model), model.votes_
    one, n_votes = spent["LBI iteration"], votes.n_votes
    deviating, leaning = model.path_.active_count(model.t_)
    print(f"{n_votes:,} votes, {votes.n_annotators:,} annotators, {votes.n_items:,} items,")
    print(f"{deviating:,} with a taste and {leaning:,} with a lean on the path:")
    for what, took in spent.items():
        print(f"  {what:16} {took:8.2f} s {took / one:8.1f} LBI iterations", flush=True)
    asked = {
        "ranking()": (spent["ranking()"], _RANKING),
        "annotators(), diagnosis and table": (
            spent["diagnosis"] + spent["table of all"],
            _ANNOTATORS,
        ),
        "trust panel": (spent["trust panel"], _TRUST),
    }
    return [
        Check(f"{what}, {n_votes:,} votes", took, most * n_votes / 10_000_000, "s")
        for what, (took, most) in asked.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="100,000 and a million votes")
    parser.add_argument("--default", action="store_true", help="a million votes, a default fit")
    asked = parser.parse_args()
    small, middle, large = (10**5, 10**3, 100), (10**6, 10**4, 200), (10**7, 10**5, 1_000)
    measure(fitted(40_000, 400, 40))  # compiles: fewer votes would go the NumPy way
    if asked.default:
        print_checks(report(fitted_by_default(10**6, 10**4, 300)))
        return
    sizes = [small, middle] if asked.quick else [middle, large]
    print_checks([check for size in sizes for check in report(fitted(*size))])


if __name__ == "__main__":
    main()
