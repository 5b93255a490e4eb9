"""Realised false-discovery rate and power of who leans, deviates and attends otherwise.

    python benchmarks/discovery.py            # the table of docs/annotators.md, some minutes
    python benchmarks/discovery.py --quick    # under a minute: a smaller one
    python benchmarks/discovery.py --entry 60 # calibrated entry times only, balanced, 60 crowds

Every crowd is drawn anew. A false discovery is someone named who was not planted; the realised
rate is its mean share over crowds (0 where nobody is named), and must be at most the target
within simulation error. In "everybody a little" no one follows the common scores exactly: the
honest answer to "who deviates" is everybody, and `null="empirical"` asks who does so more than
the rest. "entry" rows calibrate the path's entry times (`calibrated_entry`).
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from prefpath import PreferenceModel, Votes, VoteWarning, simulate_crowd
from prefpath.diagnose import calibrated_entry, discover
from prefpath.path import Kind
from prefpath.simulate.draw import Truth, draw_votes
from prefpath.simulate.labels import make_labels

TARGET = 0.1
KINDS: tuple[Kind, ...] = ("position_bias", "deviation")
Named = NDArray[np.bool_]


@dataclass
class Tally:
    """Shares of false names and of planted ones found, crowd by crowd."""

    false: list[float] = field(default_factory=list)
    found: list[float] = field(default_factory=list)
    n_named: int = 0

    def add(self, named: Named, planted: Named) -> None:
        self.n_named += int(named.sum())
        self.false.append(float((named & ~planted).sum() / max(1, named.sum())))
        if planted.any():
            self.found.append(float(named[planted].mean()))

    def words(self) -> str:
        rate, n = np.mean(self.false), len(self.false)
        if n > 1:
            error = np.std(self.false, ddof=1) / np.sqrt(n)
        else:  # one crowd, of many annotators: those named are the sample
            error = np.sqrt(TARGET * (1.0 - TARGET) / max(1, self.n_named))
        power = f"{np.mean(self.found):.2f}" if self.found else "   –"
        held = "yes" if rate <= TARGET + 2.0 * error else "NO"
        return f"{rate:.3f} ± {error:.3f}  {power}  {held:<4}"


@dataclass(frozen=True)
class Crowd:
    """Votes, and who was planted."""

    votes: Votes
    leaning: Named
    deviating: Named


def planted_crowd(
    n_annotators: int, each: int, n_items: int, share: float, *, seed: int, activity: str = "even"
) -> Crowd:
    """Most follow the common scores exactly; a share leans, an equal share deviates."""
    planted = max(1, round(share * n_annotators)) if share else 0
    crowd = simulate_crowd(
        each * n_annotators,
        n_annotators,
        n_items,
        activity=activity,  # type: ignore[arg-type]
        deviants=planted,
        clickers=planted,
        seed=seed,
    )
    labels = crowd.votes.annotators
    return Crowd(crowd.votes, np.isin(labels, crowd.clickers), np.isin(labels, crowd.deviants))


def everybody_a_little(n_annotators: int, each: int, n_items: int, *, seed: int) -> Crowd:
    """Everybody has a small taste of their own, a tenth a large one, another tenth a lean."""
    rng = np.random.default_rng(seed)
    kind = rng.permutation(n_annotators) * 10 // n_annotators
    scale = np.where(kind == 0, 2.0, 0.4)
    truth = Truth(
        scores=rng.normal(size=n_items),
        tastes=rng.normal(size=(n_annotators, n_items)) * scale[:, None],
        taste_of=np.arange(n_annotators),
        position_bias=np.where(kind == 1, rng.choice([-2.0, 2.0], n_annotators), 0.0),
    )
    names = make_labels("numbered", n_annotators, n_items)
    votes = draw_votes(truth, np.full(n_annotators, each), *names, rng)
    return Crowd(votes, kind == 1, kind == 0)


def measure(name: str, make: Callable[..., Crowd], n_crowds: int, null: str = "model") -> None:
    """Print one line for each kind of effect."""
    lean, taste, attention, seconds = Tally(), Tally(), Tally(), []
    for seed in range(n_crowds):
        crowd = make(seed=seed)
        start = time.perf_counter()
        found = discover(crowd.votes, q=TARGET, null=null, seed=seed)  # type: ignore[arg-type]
        seconds.append(time.perf_counter() - start)
        lean.add(found.leaning, crowd.leaning)
        taste.add(found.deviating, crowd.deviating)
        attention.add(found.unlike_in_attention, crowd.deviating)
    for kind, tally in (("leans", lean), ("deviates", taste), ("attention", attention)):
        print(f"{name:<44} {n_crowds:>6}  {kind:<9} {tally.words()} {np.median(seconds):7.1f}")


def measure_entry(
    n_crowds: int, *, balance: bool, kinds: Sequence[Kind] = KINDS, first_seed: int = 0
) -> None:
    """Print one line for each kind of entry on the path."""
    tallies, seconds = {kind: Tally() for kind in kinds}, []
    for seed in range(first_seed, first_seed + n_crowds):
        crowd = planted_crowd(100, 80, 15, 0.1, seed=seed, activity="zipf")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VoteWarning)
            model = PreferenceModel(cv=0, t_ratio=20.0, n_times=15, balance=balance).fit(
                crowd.votes
            )
        start = time.perf_counter()
        for kind, tally in tallies.items():
            cutoff = calibrated_entry(model, kind, q=TARGET, n_copies=5, seed=seed)
            planted = crowd.leaning if kind == "position_bias" else crowd.deviating
            tally.add(np.isin(crowd.votes.annotators, cutoff.who), planted)
        seconds.append((time.perf_counter() - start) / len(kinds))
    for kind, tally in tallies.items():
        words = f"entry of {kind.replace('_', ' ')}, 100, {balance=}"
        line = f"{words:<44} {n_crowds:>6}  {'':<9} {tally.words()} {np.median(seconds):7.1f}"
        print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a smaller table")
    parser.add_argument("--entry", type=int, metavar="CROWDS", help="entry times only")
    parser.add_argument("--kind", choices=KINDS, help="with --entry: one kind only")
    parser.add_argument("--first-seed", type=int, default=0, help="with --entry")
    asked = parser.parse_args()
    quick = asked.quick
    print(f"target rate {TARGET}; 50 votes each, a tenth leans (by 2), a tenth deviates (sd 2)\n")
    print(f"{'crowd':<44} crowds  {'effect':<9} rate           power held  seconds")
    if asked.entry:
        kinds = (asked.kind,) if asked.kind else KINDS
        measure_entry(asked.entry, balance=True, kinds=kinds, first_seed=asked.first_seed)
        return
    for n, n_crowds in [(100, 15), (1_000, 3)] if quick else [(100, 100), (1_000, 20)]:
        for activity in ("even", "zipf"):
            measure(
                f"{n:,} annotators, {activity}",
                partial(planted_crowd, n, 50, 20, 0.1, activity=activity),
                n_crowds,
            )
    measure("100, nobody planted", partial(planted_crowd, 100, 50, 20, 0.0), 20 if quick else 100)
    few = partial(everybody_a_little, 100, 100, 15)
    measure("100, everybody a little", few, 10 if quick else 40)
    measure('  the same, null="empirical"', few, 10 if quick else 40, "empirical")
    for balance in (False, True):
        measure_entry(2 if quick else 8, balance=balance)
    if not quick:
        measure("10,000 annotators, even", partial(planted_crowd, 10_000, 50, 50, 0.1), 3)
        for share in (0.1, 0.001):
            name = f"100,000 annotators, even, {share:.1%} of each kind"
            measure(name, partial(planted_crowd, 100_000, 50, 100, share), 1)


if __name__ == "__main__":
    main()
