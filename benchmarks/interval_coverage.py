"""How often 95 % intervals hold the truth, on simulated crowds whose annotators differ.

    python benchmarks/interval_coverage.py            # the tables of docs/intervals.md
    python benchmarks/interval_coverage.py --quick    # under a minute: a smaller one

Every crowd is drawn anew each time, tastes and all; t is chosen by cross-validation. Columns:

bias       slope of the error on the true score: -0.02 says scores come out 2 % too small
rmse/se    error of the scores over the standard error given
naive      votes taken as independent, deviations held fixed
held       clustered by annotator, deviations held fixed
sandwich   clustered by annotator, deviations re-estimated: what ranking() gives
bootstrap  whole annotators drawn again (in every fourth draw: it takes longest)
average    sandwich, of the score that describes the whole crowd's votes best

What intervals are for depends on the votes, and the leaderboard says it: *sandwich* is the share
held of what is said to be held in that draw. "Mean preference" counts the draws in which that was
the score that describes the whole crowd's votes best.

and of rank intervals, with how many ranks they are wide on average:

one        each item's interval by itself: what ranking() promises
all        all items of a draw at once, which it does not
pairs      each item's, had every pair been judged by itself at 95 %
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from coverage_crowds import CROWDS, Crowd, fit_chances
from scipy.special import expit
from scipy.stats import norm, rankdata
from scipy.stats import t as student

from prefpath import PreferenceModel, VoteWarning
from prefpath.fitted import Fitted
from prefpath.inference import common_scores
from prefpath.inference.consensus import fit_consensus
from prefpath.inference.evidence import gather_evidence
from prefpath.inference.intervals import CommonScores
from prefpath.inference.ranks import rank_intervals
from prefpath.inference.sandwich import annotator_gradients, as_rows
from prefpath.simulate.simulation import Simulation

LEVEL = 0.95
SCORES = ("naive", "held", "sandwich", "bootstrap", "average")
RANKS = ("one", "all", "pairs")
BOOTSTRAP_EVERY = 4


def repeat_once(
    crowd: Crowd, seed: int, n_resamples: int, balance: bool = True
) -> dict[str, float]:
    """Shares of the truth that each kind of interval holds, in one draw of a crowd."""
    warnings.simplefilter("ignore", VoteWarning)
    drawn = crowd.draw(seed)
    model = PreferenceModel(
        features=drawn.features,
        n_times=10,
        t_ratio=crowd.t_ratio,
        cv=3,
        balance=balance,
        n_threads=1,
    ).fit(drawn.votes)
    ours = common_scores(model, about=crowd.about).about_average()
    average = _average_score(crowd, drawn)
    average = average - average.mean()
    truth = average if ours.unseen_tastes else crowd.truth(drawn)  # what the words say
    truth = truth - truth.mean()
    error = ours.score - truth
    naive, held = deviations_held(model.fitted_)
    reach = norm.isf((1 - LEVEL) / 2)
    shares = {
        "slope": float(error @ truth / (truth @ truth)),
        "error": float(np.mean(error**2)),
        "variance": float(np.mean(ours.standard_error**2)),
        "naive": float(np.mean(np.abs(ours.score - truth) < reach * naive)),
        "held": float(np.mean(np.abs(ours.score - truth) < reach * held)),
        "sandwich": _held_by(ours, truth),
        "bootstrap": np.nan,
        "average": _held_by(ours, average),
        "mean preference": float(ours.unseen_tastes),
        "position": _position_held(model, crowd.common_position),
        **_ranks_held(ours, truth),
    }
    if n_resamples and seed % BOOTSTRAP_EVERY == 0:
        again = common_scores(model, "bootstrap", n_resamples=n_resamples)
        shares["bootstrap"] = _held_by(again.about_average(), truth)
    return shares


def _held_by(common: CommonScores, truth: np.ndarray) -> float:
    low, high = common.interval(LEVEL)
    return float(np.mean((low <= truth) & (truth <= high)))


def _ranks_held(common: CommonScores, truth: np.ndarray) -> dict[str, float]:
    rank = rankdata(-truth)
    low, high = rank_intervals(common, LEVEL)
    held = (low <= rank) & (rank <= high)
    least, most = _ranks_by_pairs(common)
    return {
        "one": float(held.mean()),
        "all": float(held.all()),
        "pairs": float(np.mean((least <= rank) & (rank <= most))),
        "one wide": float(np.mean(high - low + 1)),
        "pairs wide": float(np.mean(most - least + 1)),
    }


def _ranks_by_pairs(common: CommonScores) -> tuple[np.ndarray, np.ndarray]:
    """Ranks left where each pair is told apart by its own 95 % interval."""
    codes = np.arange(len(common.score))
    gap, error = common.difference(codes[:, None], codes[None, :])
    reach = student.isf((1 - LEVEL) / 2, common.degrees_of_freedom) * error
    return 1 + (gap > reach).sum(axis=0), len(codes) - (gap < -reach).sum(axis=0)


def _position_held(model: PreferenceModel, truth: float) -> float:
    if not model.fitted_.problem.common_position:
        return np.nan if truth == 0.0 else 0.0
    effect = model.position_effect(level=LEVEL)
    return float(effect["low"] <= truth <= effect["high"])


def deviations_held(fitted: Fitted) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors from the whole Hessian, unclustered and clustered, about the average."""
    problem, evidence = fitted.problem, gather_evidence(fitted)
    consensus = fit_consensus(evidence)
    gradient = as_rows(evidence, *annotator_gradients(evidence, consensus.coefficient))
    n = problem.votes.n_annotators
    meat = (gradient.T @ gradient).toarray() * n / (n - 1)
    phi = np.eye(problem.votes.n_items) if problem.features is None else problem.features
    phi = phi - phi.mean(axis=0)
    columns = slice(0, problem.n_common)
    whole = consensus.inverse
    forms = (whole[columns, columns], (whole @ meat @ whole)[columns, columns])
    naive, held = (np.sqrt(np.diag(phi @ form @ phi.T)) for form in forms)
    return naive, held


def _average_score(crowd: Crowd, drawn: Simulation) -> np.ndarray:
    """Scores that fit the votes of an endless crowd best, leans aside: a mixture's fit."""
    if crowd.average is not None:
        return crowd.average(drawn)
    node, weight = np.polynomial.hermite_e.hermegauss(21)
    weight = weight / weight.sum()
    phi = np.eye(len(drawn.scores)) if drawn.features is None else drawn.features
    scale = crowd.deviation_scale / (1.0 if drawn.features is None else np.sqrt(phi.shape[1]))
    gap = np.linalg.norm(phi[:, None] - phi[None, :], axis=2) * scale
    margin = drawn.scores[:, None] - drawn.scores[None, :]
    own = expit(margin[..., None] + gap[..., None] * node) @ weight
    return fit_chances(
        (1.0 - crowd.deviants) * expit(margin) + crowd.deviants * own, drawn.features
    )


def _job(arguments: tuple[int, int, int, bool]) -> dict[str, float]:
    which, seed, n_resamples, balance = arguments
    return repeat_once(CROWDS[which], seed, n_resamples, balance)


class Kept:
    """Draws made before, a line each in a file: a study can go on where it stopped."""

    def __init__(self, file: Path | None) -> None:
        self.file, self.known = file, {}
        if file is not None and file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                self.known[row["crowd"], row["seed"]] = row["shares"]

    def add(self, crowd: str, seed: int, shares: dict[str, float]) -> None:
        self.known[crowd, seed] = shares
        if self.file is not None:
            with self.file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps({"crowd": crowd, "seed": seed, "shares": shares}) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few repetitions of two crowds")
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--resamples", type=int, default=100, help="0 leaves the bootstrap out")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--crowds", type=int, nargs="*", help="numbers of crowds, from 0")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="a penalty that is not balanced")
    parser.add_argument("--keep", type=Path, help="file of draws: those in it are not made again")
    asked = parser.parse_args()
    repetitions = 10 if asked.quick else asked.repetitions
    which = asked.crowds or ([0, 3] if asked.quick else list(range(len(CROWDS))))
    seeds, kept = range(asked.first_seed, asked.first_seed + repetitions), Kept(asked.keep)
    print(f"{repetitions} draws of each crowd; shares in % that 95 % intervals hold")
    with ProcessPoolExecutor(asked.processes) as pool:
        for number in which:
            name, start = CROWDS[number].name, time.perf_counter()
            new = [seed for seed in seeds if (name, seed) not in kept.known]
            jobs = [(number, seed, asked.resamples, not asked.plain) for seed in new]
            for seed, shares in zip(new, pool.map(_job, jobs), strict=True):
                kept.add(name, seed, shares)
            results = [kept.known[name, seed] for seed in seeds]
            print(_lines(CROWDS[number], results, time.perf_counter() - start), flush=True)


def _lines(crowd: Crowd, results: list[dict[str, float]], seconds: float) -> str:
    mean = {name: _mean([r[name] for r in results]) for name in results[0]}
    ratio = np.sqrt(mean["error"][0] / mean["variance"][0])
    scores = ", ".join(f"{c} {100 * mean[c][0]:.1f} ± {100 * mean[c][1]:.1f}" for c in SCORES)
    ranks = ", ".join(f"{c} {100 * mean[c][0]:.1f} ± {100 * mean[c][1]:.1f}" for c in RANKS)
    lines = [
        f"{crowd.name}   ({seconds:.0f} s); covered: {crowd.covered}, or mean preference in "
        f"{100 * mean['mean preference'][0]:.0f} % of the draws",
        f"    scores: {scores}; bias {mean['slope'][0]:+.3f}, rmse/se {ratio:.2f}",
        f"    ranks:  {ranks}; wide {mean['one wide'][0]:.2f}, pairs {mean['pairs wide'][0]:.2f}",
    ]
    if crowd.common_position:
        lines.append(f"    its common position effect: {100 * mean['position'][0]:.1f}")
    return "\n".join(lines)


def _mean(values: list[float]) -> tuple[float, float]:
    """Mean and its standard error over the draws that have a value."""
    known = np.array([value for value in values if not np.isnan(value)])
    if not len(known):
        return float("nan"), float("nan")
    return float(known.mean()), float(known.std() / np.sqrt(len(known)))


if __name__ == "__main__":
    main()
