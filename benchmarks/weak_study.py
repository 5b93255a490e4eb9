"""What small effects for everybody gain on held-out votes, beside the sparse path alone.

    python benchmarks/weak_study.py                  # 10 splits of everything
    python benchmarks/weak_study.py --splits 3 --data iqa_ref1 worldcollege
    python benchmarks/weak_study.py --scale 1000000  # seconds for a crowd of a million votes

Each split holds 30 % of the votes out at random. On the others a model is fitted with its defaults,
then judged on the held-out votes by log-loss, calibration slope (the factor on the margins that
would predict best: below 1 is too sure) and share predicted wrong, ties counted half:

- sparse: the path at the chosen t, as in 0.1.0
- likelihood: weak effects, strengths by marginal likelihood alone
- weak: the default, strengths corrected by cross-validation
- stranger: the weak model asked without the annotators' names, and `sparse stranger` beside it

Differences are from `sparse`, paired by split. Data come from PREFPATH_DATA, or ../shared/data.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from dataclasses import replace
from pathlib import Path as FilePath

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit

from prefpath import PreferenceModel, Votes, VoteWarning, fit_path, read_votes, simulate_crowd
from prefpath.fitted import Fitted
from prefpath.model.losses import as_loss
from prefpath.model.problem import Problem
from prefpath.predict import Comparisons, path_margins
from prefpath.selection.criteria import log_loss, mismatch_ratio
from prefpath.selection.folds import Fold, split_votes
from prefpath.weak import fit_weak

BESIDE = FilePath(__file__).resolve().parents[2] / "shared" / "data"
FOLDER = FilePath(os.environ.get("PREFPATH_DATA", BESIDE))
FILES = ("worldcollege", "iqa_ref1", "llmfao_crowd", "llm_position_bias", "movie_pami")
CROWDS = ("sparse", "all deviate", "noisy third", "30 % random", "clickers")
BRADLEY_TERRY = as_loss("bradley-terry")

Row = tuple[float, float, float]


def simulated(kind: str, seed: int) -> Votes:
    """100 annotators, 20 items, 6,000 votes."""
    rng = np.random.default_rng(1_000 + seed)
    n_annotators, n_items, n_votes = 100, 20, 6_000
    score, taste = rng.normal(size=n_items), np.zeros((n_annotators, n_items))
    lean, slope = np.zeros(n_annotators), np.ones(n_annotators)
    who = rng.permutation(n_annotators)
    if kind == "sparse":
        taste[who[:10]] = rng.normal(0, 2, (10, n_items))
        lean[who[10:20]] = rng.choice([-2, 2], 10)
    elif kind == "all deviate":
        taste, lean = rng.normal(0, 0.5, taste.shape), rng.normal(0, 0.3, n_annotators)
    elif kind == "noisy third":
        slope[who[:33]] = 0.4
    elif kind == "30 % random":
        slope[who[:30]] = 0.0
    elif kind == "clickers":
        lean[who[:20]] = rng.choice([-3, 3], 20)
    share = rng.permutation(np.arange(1, n_annotators + 1)) ** -0.7
    each = 1 + rng.multinomial(n_votes - n_annotators, share / share.sum())
    u, i = np.repeat(np.arange(n_annotators), each), rng.integers(0, n_items, n_votes)
    j = (i + rng.integers(1, n_items, n_votes)) % n_items
    margin = slope[u] * (score[i] - score[j]) + taste[u, i] - taste[u, j] + lean[u]
    choice = np.where(rng.random(n_votes) < expit(margin), 1.0, -1.0)
    return Votes.from_arrays(u, i, j, choice)


def load(name: str, seed: int) -> tuple[Votes, np.ndarray | None]:
    """Votes, and features where there are any."""
    if name in CROWDS:
        return simulated(name, seed), None
    votes = read_votes(FOLDER / f"{name}.csv", position_known=name != "movie_pami")
    if name != "movie_pami":
        return votes, None
    lines = (FOLDER / "movie_pami_items.csv").read_text("utf-8").splitlines()[1:]
    row = {line.split(",")[0]: np.array(line.split(",")[1:], dtype=float) for line in lines}
    return votes, np.array([row[str(item)] for item in votes.items])


def keep(votes: Votes, weight: np.ndarray) -> Votes:
    """The votes with other weights, and counts to match; labels are kept."""
    rows = np.flatnonzero(weight > 0)
    share = weight[rows] / votes.weight[rows]
    count = np.round(votes.count[rows] * share).astype(votes.count.dtype)
    return replace(votes.take(rows), weight=weight[rows], count=count)


def one_split(
    name: str, seed: int, attention: bool
) -> tuple[dict[str, Row], float, dict[str, float]]:
    """Held-out results of every way to predict; seconds and strengths of the weak part."""
    votes, features = load(name, seed)
    split = split_votes(votes, 0.3, seed)
    model = PreferenceModel(
        features=features, attention=attention, random_state=seed, n_threads=1
    ).fit(keep(votes, split.train))
    fitted = model.fitted_
    asked = Comparisons.of(votes, np.flatnonzero(split.test))
    stranger = replace(asked, annotator=np.full(len(asked.left), -1))
    start = time.process_time()
    weak = fit_weak(fitted, seed=seed)
    seconds = time.process_time() - start
    margins = {
        "sparse": path_margins(fitted.path, asked, fitted.t),
        "likelihood": fit_weak(fitted, n_folds=0, seed=seed).margins(asked),
        "weak": weak.margins(asked),
        "sparse stranger": path_margins(fitted.path, stranger, fitted.t),
        "stranger": weak.margins(stranger),
    }
    judged = {how: judge(votes, split, margin) for how, margin in margins.items()}
    return judged, seconds, weak.strengths


def judge(votes: Votes, split: Fold, margin: np.ndarray) -> Row:
    """Log-loss, calibration slope and share wrong."""
    rows = np.flatnonzero(split.test)
    choice, weight = votes.choice[rows], split.test[rows]

    def cost(slope: float) -> float:
        return log_loss(slope * margin, choice, weight, BRADLEY_TERRY)

    slope = minimize_scalar(cost, bounds=(0.1, 4.0), method="bounded").x
    return cost(1.0), float(slope), mismatch_ratio(margin, choice, weight)


def report(name: str, n_splits: int, attention: bool) -> None:
    found = [one_split(name, seed, attention) for seed in range(n_splits)]
    seconds = float(np.median([one[1] for one in found]))
    strengths = ", ".join(f"{group} {tau:.2f}" for group, tau in found[0][2].items())
    print(f"\n{name}: {n_splits} splits, weak part {seconds:.2f} CPU s; split 0: {strengths}")
    print(f"{'':16} {'log-loss':>8} {'- sparse':>18} {'slope':>6} {'wrong':>7} {'- sparse':>9}")
    base = np.array([one[0]["sparse"] for one in found])
    for how in found[0][0]:
        table = np.array([one[0][how] for one in found])
        gain = table - base
        error = gain[:, 0].std(ddof=1) / np.sqrt(n_splits) if n_splits > 1 else np.nan
        print(
            f"{how:16} {table[:, 0].mean():8.4f} {gain[:, 0].mean():+9.4f} ± {error:.4f} "
            f"{table[:, 1].mean():6.3f} {table[:, 2].mean():7.4f} {gain[:, 2].mean():+9.4f}",
            flush=True,
        )


def report_scale(n_votes: int) -> None:
    """Seconds of the weak part for a large crowd."""
    votes = simulate_crowd(n_votes, max(n_votes // 100, 10), 200, seed=0).votes
    path = fit_path(votes, n_times=3, t_ratio=3.0, n_threads=1)
    fitted = Fitted.of(Problem.build(votes), path)
    fit_weak(fitted.at(float(path.times[0])))  # compiles
    start = time.process_time()
    weak = fit_weak(fitted)
    print(f"{n_votes:,} votes: {time.process_time() - start:.1f} CPU s, {weak.strengths}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--data", nargs="*", choices=FILES + CROWDS)
    parser.add_argument("--attention", action="store_true", help="on the path, too")
    parser.add_argument("--scale", type=int, help="number of votes of one crowd to be timed on")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", VoteWarning)
    if asked.scale:
        report_scale(asked.scale)
        return
    for name in asked.data or FILES + CROWDS:
        report(name, asked.splits, asked.attention)


if __name__ == "__main__":
    main()
