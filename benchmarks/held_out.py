"""Held-out log-loss of our model beside rivals that know annotators, paired over splits.

    python benchmarks/held_out.py --splits 10
    python benchmarks/held_out.py --sets iqa judges --rivals ridge l1 --splits 3
    python benchmarks/held_out.py --ours 'attention={"attention": true}' --ours 0.1.0
    python benchmarks/held_out.py --ours default --rivals --keep new.json
    python benchmarks/held_out.py --known new.json rivals.json

`--keep` writes every split's figures to a file and goes on where an earlier run stopped. The last
line prints what such files hold: the first method on all of its splits, the others beside it on the
splits both had.
Each split holds 30 % of the votes out at random; every method is tuned on the others alone, by
cross-validated log-loss. Simulated crowds (20 items with scores N(0, 1), 200 annotators with 50
votes each) are drawn anew for each split: sparse (a tenth have tastes, N(0, 2^2)), all deviate a
little (N(0, .5^2)), a third noisy (a third as sharp), 30 % random, a fifth clickers (lean 2).

Printed: log-loss, its difference from the first method with the standard error of the paired
differences, the calibration slope (of the logit of the probability on the held-out votes, 1 is
calibrated), the share predicted wrong (ties half), CPU seconds. Data come from PREFPATH_DATA.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from crowds import SETS, Data, fit_ours, load, mean_and_error, our_settings
from scipy.special import expit, logit

from prefpath import Votes, VoteWarning
from prefpath.baselines import make_baseline
from prefpath.compare.splits import keep
from prefpath.selection.criteria import mismatch_ratio, probability_log_loss
from prefpath.selection.folds import split_votes

RIVALS = (
    "bradley-terry",
    "crowdbt",
    "bt-sigma",
    "heterogeneous-judges",
    "l1",
    "ridge",
    "ridge-slopes",
)
Predict = Callable[[Data, Votes, int], np.ndarray]
"""Training data, held-out votes and a seed to probabilities of left."""


@dataclass(frozen=True)
class Judged:
    """One method on one split."""

    method: str
    split: int
    log_loss: float
    calibration: float
    wrong: float
    seconds: float


def rival(key: str) -> Predict:
    """A baseline, tuned by log-loss where it has anything to tune."""

    def predict(training: Data, asked: Votes, seed: int) -> np.ndarray:
        phi = None if training.features is None else training.features.of(training.votes.items)
        made = make_baseline(key, criterion="log-loss", folds="votes", random_state=seed)
        probability = made.fit(training.votes, phi).predict_proba(asked)
        assert probability is not None
        return probability

    return predict


def ours(settings: dict[str, object]) -> Predict:
    """Our model."""

    def predict(training: Data, asked: Votes, seed: int) -> np.ndarray:
        model = fit_ours(training, {"random_state": seed, **settings})
        return model.predict_proba(asked)[:, 1]

    return predict


def calibration_slope(probability: np.ndarray, choice: np.ndarray, weight: np.ndarray) -> float:
    """Slope b of the best `sigmoid(b * logit(p))`; a tie is half a win."""
    margin = logit(np.clip(probability, 1e-9, 1 - 1e-9))
    won, slope = (1.0 + np.clip(choice, -1, 1)) / 2.0, 1.0
    for _ in range(50):
        p = expit(slope * margin)
        bend = float(weight @ (p * (1 - p) * margin**2))
        step = float(weight @ ((p - won) * margin)) / max(bend, 1e-12)
        slope -= float(np.clip(step, -1, 1))
        if abs(step) < 1e-10:
            break
    return slope


def judge(name: str, predict: Predict, data: Data, split: int) -> Judged:
    """Fit a method on one split and judge it on what was held out."""
    fold = split_votes(data.votes, 0.3, split)
    training, asked = keep(data.votes, fold.train), keep(data.votes, fold.test)
    start = time.process_time()
    probability = predict(Data(training, data.features), asked, split)
    return Judged(
        name,
        split,
        probability_log_loss(probability, asked.choice, asked.weight),
        calibration_slope(probability, asked.choice, asked.weight),
        mismatch_ratio(probability - 0.5, asked.choice, asked.weight),
        time.process_time() - start,
    )


def show(name: str, results: list[Judged]) -> None:
    """One table: a line for each method, differences from the first on the splits both had."""
    methods = list(dict.fromkeys(each.method for each in results))
    by_method = {m: {r.split: r for r in results if r.method == m} for m in methods}
    first = by_method[methods[0]]
    print(f"\n{name}: {len(first)} split{'' if len(first) == 1 else 's'}")
    print(f"{'method':22}{'splits':>7}{'log-loss':>10}{'difference':>12}{'error':>8}{'slope':>8}"
          f"{'wrong':>8}{'CPU s':>8}")  # fmt: skip
    for method, found in by_method.items():
        shared = sorted(set(found) & set(first))
        if not shared:
            continue
        apart, error = mean_and_error([found[s].log_loss - first[s].log_loss for s in shared])
        cost, slope, wrong, seconds = (
            float(np.mean([getattr(found[s], part) for s in shared]))
            for part in ("log_loss", "calibration", "wrong", "seconds")
        )
        print(f"{method:22}{len(shared):>7}{cost:>10.4f}{apart:>+12.4f}{error:>8.4f}{slope:>8.2f}"
              f"{wrong:>8.4f}{seconds:>8.1f}", flush=True)  # fmt: skip


Kept = dict[str, list[Judged]]


def read_kept(file: str | None) -> Kept:
    """What earlier runs have found, by set."""
    if file is None or not Path(file).exists():
        return {}
    read = json.loads(Path(file).read_text("utf-8"))
    return {name: [Judged(**each) for each in found] for name, found in read.items()}


def write_kept(file: str | None, kept: Kept) -> None:
    """Put all of it into the file, at once."""
    if file is not None:
        whole = {name: [asdict(each) for each in found] for name, found in kept.items()}
        beside = Path(f"{file}.new")
        beside.write_text(json.dumps(whole, indent=1), "utf-8")
        beside.replace(file)


def run(given: argparse.Namespace) -> None:
    """Fit every method on every split; then one table for each set."""
    settings = {} if given.rivals_alone else our_settings(given.ours)
    methods: dict[str, Predict] = {name: ours(how) for name, how in settings.items()}
    methods |= {key: rival(key) for key in given.rivals}
    kept = read_kept(given.keep)
    for split in range(given.first_split, given.first_split + given.splits):
        for name in given.sets:
            found, data = kept.setdefault(name, []), load(name, split)
            known = {each.method for each in found if each.split == split}
            for method in (each for each in methods if each not in known):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", VoteWarning)
                    found.append(judge(method, methods[method], data, split))
                write_kept(given.keep, kept)
    for name in given.sets:
        show(name, kept[name])


def show_known(files: list[str], sets: list[str]) -> None:
    """The same tables from what earlier runs kept."""
    read = [read_kept(file) for file in files]
    for name in sets:
        if results := [each for one in read for each in one.get(name, [])]:
            show(name, results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--first-split", type=int, default=0, help="seed of the first split")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--ours", action="append", default=[], help='NAME or NAME={"argument": 1}')
    parser.add_argument("--rivals", nargs="*", default=list(RIVALS))
    parser.add_argument("--rivals-alone", action="store_true", help="nothing of ours")
    parser.add_argument("--keep", help="a file of every split's figures, to go on from")
    parser.add_argument("--known", nargs="+", help="print these files instead of fitting anything")
    given = parser.parse_args()
    if given.known:
        show_known(given.known, given.sets)
    else:
        run(given)


if __name__ == "__main__":
    main()
