"""Confusion matrix of the verdicts: what planted annotators are called, by their number of votes.

    python benchmarks/verdicts.py                        # the tables of docs/annotators.md
    python benchmarks/verdicts.py --quick                # fewer crowds, a minute or two
    python benchmarks/verdicts.py --beside ../v010       # and what version 0.1.0 says of the same

Crowds of 200 in which one in seven is odd: everybody has 6, 15, 50 or 200 votes. A word is wrong
if another one was planted; "inconclusive", "too few votes to tell" and, for those who do not
follow, "unlike the crowd, unclear why" decide nothing and are not wrong. "Leans" to the right side
and "one-sided clicker" count as one word. The last lines are crowds of other shapes, and the
realised false-discovery rates of the three lists that verdicts start from.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

SIZES = (6, 15, 50, 200)
KINDS = (
    "follower",
    "own ranking",
    "taste added",
    "random",
    "contrary",
    "noisy",
    "sharper",
    "leaning",
    "clicker",
)
OWN = ("own ranking", "taste added")
RIGHT = {
    "follower": "follows the crowd",
    "own ranking": "own taste",
    "taste added": "own taste",
    "random": "answers at random",
    "contrary": "contrary",
    "noisy": "noisy",
    "sharper": "sharper than the crowd",
}
SHORT = {
    "follows the crowd": "follows",
    "goes with the crowd": "with",
    "own taste": "taste",
    "answers at random": "random",
    "contrary": "contrary",
    "noisy": "noisy",
    "sharper than the crowd": "sharper",
    "leans left": "leans",
    "leans right": "leans",
    "one-sided clicker": "clicker",
    "unlike the crowd, unclear why": "unlike",
    "inconclusive": "undecided",
    "too few votes to tell": "undecided",
}
COLUMNS = tuple(dict.fromkeys(SHORT.values()))
SLOPES = {"random": 0.0, "contrary": -1.0, "noisy": 0.35, "sharper": 2.5}


@dataclass(frozen=True)
class Shape:
    """A kind of crowd."""

    name: str
    annotators: int = 200
    items: int = 20
    odd: float = 0.14
    spread: float = 1.0
    ties: float = 0.0
    known: bool = True
    shared_lean: float = 0.0
    sizes: tuple[int, ...] = SIZES


SHAPES = (
    Shape("200 annotators, 20 items"),
    Shape("the same, nobody odd", odd=0.0),
    Shape("scores twice as far apart", spread=2.0),
    Shape("12 annotators, 10 items", annotators=12, items=10, odd=0.25),
    Shape("100 items", items=100),
    Shape("a third of votes tied", ties=1 / 3),
    Shape("sides unknown", known=False),
    Shape("a lean that everybody shares", shared_lean=0.8),
    Shape("40 % odd", odd=0.4),
)


@dataclass(frozen=True)
class Crowd:
    """Votes as arrays, and of each annotator the kind, the side leaned to, and the votes."""

    who: Any
    left: Any
    right: Any
    choice: Any
    kind: Any
    side: Any
    size: Any


def draw(shape: Shape, seed: int) -> Crowd:
    """One crowd; needs nothing of prefpath, so that any version can be given the same."""
    rng = np.random.default_rng(seed)
    n = shape.annotators
    kinds = KINDS if shape.known else KINDS[:-2]
    n_odd = round(shape.odd * n)
    kind = np.zeros(n, dtype=int)
    kind[:n_odd] = 1 + (np.arange(n_odd) + seed) % (len(kinds) - 1)
    size = np.array(shape.sizes)[(np.arange(n) // (len(kinds) - 1) + seed) % len(shape.sizes)]
    side = rng.choice([-1.0, 1.0], n)
    theta = rng.normal(0, shape.spread, shape.items)
    who = np.repeat(np.arange(n), size)
    left = rng.integers(0, shape.items, len(who))
    right = (left + rng.integers(1, shape.items, len(who))) % shape.items
    margin = theta[left] - theta[right] + shape.shared_lean
    for code, name in enumerate(kinds):
        mine = kind[who] == code
        if name in OWN:
            scale = shape.spread * (1.0 if name == "own ranking" else 2.0)
            own = rng.normal(0, scale, (n, shape.items))
            taste = own[who[mine], left[mine]] - own[who[mine], right[mine]]
            shared = 0.0 if name == "own ranking" else theta[left[mine]] - theta[right[mine]]
            margin[mine] = taste + shared + shape.shared_lean
        elif name in SLOPES:
            along = theta[left[mine]] - theta[right[mine]]
            margin[mine] = SLOPES[name] * along + shape.shared_lean
        elif name == "leaning":
            margin[mine] += 2.0 * side[who[mine]]
        elif name == "clicker":
            margin[mine] = 3.5 * side[who[mine]]
    choice = np.where(rng.random(len(who)) < 1 / (1 + np.exp(-margin)), 1, -1)
    choice[rng.random(len(who)) < shape.ties] = 0
    return Crowd(who, left, right, choice, kind, side, size)


def said_of(shape: Shape, crowd: Crowd, seed: int) -> dict[str, list[Any]]:
    """What the installed prefpath says of everybody: words, and the lists they start from."""
    from prefpath import PreferenceModel, Votes
    from prefpath.diagnose import diagnose

    votes = Votes.from_arrays(
        crowd.who, crowd.left, crowd.right, crowd.choice, position_known=shape.known
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PreferenceModel(
            cv=0, n_times=4, t_ratio=3.0, common_position=bool(shape.shared_lean), n_threads=1
        ).fit(votes)
        columns = diagnose(model, seed=seed).columns()
    order = np.argsort([int(label) for label in columns["annotator"]])
    lists = [name for name in ("biased", "deviates", "attention_differs") if name in columns]
    found = {name: np.asarray(columns[name])[order].tolist() for name in lists}
    return {"verdict": np.asarray(columns["verdict"])[order].astype(str).tolist(), **found}


def work(
    seeds: range, shape_numbers: list[int], keep: Path | None = None
) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """What is said of everybody in each crowd; crowds in the file `keep` are not asked again."""
    lines = keep.read_text(encoding="utf-8").splitlines() if keep and keep.exists() else []
    known = {(number, seed): said for number, seed, said in map(json.loads, lines)}
    for number in shape_numbers:
        for seed in seeds:
            said = known.get((number, seed))
            if said is None:
                said = said_of(SHAPES[number], draw(SHAPES[number], seed), seed)
                if keep:
                    with keep.open("a", encoding="utf-8") as file:
                        file.write(json.dumps([number, seed, said]) + "\n")
            yield number, seed, said


def said_by(folder: Path, seeds: range, shapes: list[int]) -> list[tuple[int, int, dict[str, Any]]]:
    """The same from another version, in a process of its own."""
    source = folder / "src" if (folder / "src").is_dir() else folder
    command = [sys.executable, __file__, "--work", json.dumps([seeds.start, seeds.stop, shapes])]
    environment = {**os.environ, "PYTHONPATH": str(source.resolve())}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]  # type: ignore[misc]


def is_right(kind: str, side: float, word: str) -> bool:
    if kind in ("leaning", "clicker"):
        return word in ("leans left" if side > 0 else "leans right", "one-sided clicker")
    return word == RIGHT[kind]


def is_wrong(kind: str, side: float, word: str) -> bool:
    """A word that decides, and not for what was planted."""
    if SHORT[word] == "with":  # true of all whose choices go with the common scores
        return kind in ("random", "contrary", "clicker")
    decides_nothing = SHORT[word] == "undecided" or (SHORT[word] == "unlike" and kind != "follower")
    return not decides_nothing and not is_right(kind, side, word)


class Table:
    """What was said of each kind at each size, over crowds of one shape."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.said: dict[tuple[str, int], list[str]] = {}
        self.wrong: dict[tuple[str, int], list[bool]] = {}
        self.false: dict[str, list[float]] = {}
        self.false_words: list[float] = []
        self.power: dict[str, list[bool]] = {}

    def add(self, crowd: Crowd, found: dict[str, Any]) -> None:
        names = np.array(KINDS)[crowd.kind]
        rows = zip(names, crowd.side, crowd.size, found["verdict"], strict=True)
        out, mistaken = 0, 0
        for kind, side, size, word in rows:
            wrong = is_wrong(kind, side, word)
            self.said.setdefault((kind, int(size)), []).append(SHORT[word])
            self.wrong.setdefault((kind, int(size)), []).append(wrong)
            if SHORT[word] not in ("follows", "with", "undecided"):
                out, mistaken = out + 1, mistaken + wrong
        self.false_words.append(mistaken / max(1, out))
        differs = ~np.isin(names, ("follower", "leaning"))
        planted = {
            "biased": np.isin(names, ("leaning", "clicker")),
            "deviates": differs,
            "attention_differs": differs,
        }
        for name in set(planted) & set(found):
            named = np.asarray(found[name])
            self.false.setdefault(name, []).append(
                float((named & ~planted[name]).sum() / max(1, named.sum()))
            )

    def print_matrix(self) -> None:
        print(f"\n{self.shape.name}: per cent of each kind called so, by number of votes")
        print(f"{'planted':<12} votes  n    " + " ".join(f"{c:>9}" for c in COLUMNS) + "   wrong")
        for kind in KINDS:
            for size in self.shape.sizes:
                words = self.said.get((kind, size))
                if words:
                    shares = " ".join(f"{100 * words.count(c) / len(words):9.0f}" for c in COLUMNS)
                    wrong = 100 * np.mean(self.wrong[kind, size])
                    print(f"{kind:<12} {size:>5} {len(words):>5} {shares} {wrong:7.1f}")

    def worst(self) -> tuple[float, str]:
        """The largest share of a wrong word, and of whom."""
        shares = {key: float(np.mean(wrong)) for key, wrong in self.wrong.items()}
        key = max(shares, key=lambda k: shares[k])
        return shares[key], f"{key[0]}, {key[1]} votes, n = {len(self.wrong[key])}"

    def summary(self) -> str:
        share, of = self.worst()
        every = np.mean([wrong for each in self.wrong.values() for wrong in each])
        lists = "  ".join(f"{name} {_rate(rates)}" for name, rates in sorted(self.false.items()))
        return (
            f"{self.shape.name}: wrong word for {100 * every:.1f} %, at most {100 * share:.1f} % "
            f"({of}); share of false names: words that stand out {_rate(self.false_words)}; "
            f"lists {lists}"
        )


def _rate(rates: list[float]) -> str:
    error = np.std(rates, ddof=1) / np.sqrt(len(rates)) if len(rates) > 1 else np.nan
    return f"{np.mean(rates):.3f} ± {error:.3f}"


def tabulate(number: int, found: Any) -> Table:
    table = Table(SHAPES[number])
    for _, seed, said in found:
        table.add(draw(SHAPES[number], seed), said)
    return table


def show(number: int, seeds: range, beside: Path | None, keep: Path | None) -> None:
    """One shape: the matrix, and a line that sums it up."""
    for version in (None, beside) if beside else (None,):
        found = said_by(version, seeds, [number]) if version else work(seeds, [number], keep)
        table = tabulate(number, found)
        print(f"\n=== {version or 'this version'}")
        table.print_matrix()
        print(table.summary(), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few crowds")
    parser.add_argument("--crowds", type=int, help="crowds of each shape")
    parser.add_argument("--first-seed", type=int, default=0, help="of the crowds")
    parser.add_argument("--shapes", help=f"numbers of shapes, of 0 to {len(SHAPES) - 1}")
    parser.add_argument("--beside", type=Path, help="folder of another version's source")
    parser.add_argument("--keep", type=Path, help="file of crowds: those in it are not asked again")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        first, last, shapes = json.loads(asked.work)
        for row in work(range(first, last), shapes):
            print(json.dumps(row))
        return
    seeds = range(asked.crowds or (8 if asked.quick else 100))
    shapes = [int(k) for k in asked.shapes.split(",")] if asked.shapes else list(range(len(SHAPES)))
    print(f"{len(seeds)} crowds of each shape")
    for number in shapes:
        many = 5 if SHAPES[number].annotators < 50 else 1  # small crowds are more of them
        first = asked.first_seed
        show(number, range(first, first + many * len(seeds)), asked.beside, asked.keep)


if __name__ == "__main__":
    main()
