"""How often 95 % intervals hold the truth, on simulated crowds whose annotators differ.

    python benchmarks/interval_coverage.py            # the table of docs/intervals.md
    python benchmarks/interval_coverage.py --quick    # under a minute: a smaller one

Every crowd is drawn anew each time, tastes and all; t is chosen by cross-validation. Columns:

bias       slope of the error on the true score: -0.02 says scores come out 2 % too small
naive      votes taken as independent, deviations held fixed
held       clustered by annotator, deviations held fixed
sandwich   clustered by annotator, deviations re-estimated: what ranking() gives
bootstrap  whole annotators drawn again
average    sandwich, of the score that describes the whole crowd's votes best
ranks      rank intervals
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import expit
from scipy.stats import norm, rankdata

from prefpath import PreferenceModel, VoteWarning, simulate_crowd
from prefpath.inference.consensus import fit_consensus
from prefpath.inference.evidence import gather_evidence
from prefpath.inference.intervals import CommonScores, estimate_common
from prefpath.inference.ranks import rank_intervals
from prefpath.inference.sandwich import annotator_gradients, as_rows
from prefpath.model.problem import Problem
from prefpath.simulate.draw import Truth, draw_votes
from prefpath.simulate.labels import make_labels
from prefpath.simulate.simulation import Simulation
from prefpath.votes.graph import connected_components

LEVEL = 0.95
COLUMNS = ("naive", "held", "sandwich", "bootstrap", "average", "ranks")


@dataclass(frozen=True)
class Crowd:
    """A kind of crowd: how to draw one, and how its annotators differ."""

    name: str
    draw: Callable[[int], Simulation]
    deviants: float
    deviation_scale: float
    common_position: float = 0.0


def zipf(seed: int) -> Simulation:
    return simulate_crowd(5_000, 50, 10, seed=seed)


def even(seed: int) -> Simulation:
    return simulate_crowd(5_000, 100, 10, activity="even", seed=seed)


def many(seed: int) -> Simulation:
    return simulate_crowd(20_000, 400, 30, seed=seed)


def everybody(seed: int) -> Simulation:
    return simulate_crowd(
        5_000, 60, 10, activity="even", deviants=1.0, clickers=0, deviation_scale=0.4, seed=seed
    )


def judges(seed: int) -> Simulation:
    return simulate_crowd(
        4_500, 9, 8, activity="even", deviants=1.0, clickers=0, deviation_scale=0.3, seed=seed
    )


def featured(seed: int) -> Simulation:
    features = np.random.default_rng(10_000 + seed).standard_normal((20, 5))
    return simulate_crowd(5_000, 60, 20, features=features, seed=seed)


def at_home(seed: int) -> Simulation:
    """Everybody leans to the first by 0.4; a tenth by 2 more or less."""
    rng = np.random.default_rng(seed)
    n_annotators, n_items = 60, 10
    scores = rng.normal(size=n_items)
    bias = np.where(rng.random(n_annotators) < 0.1, rng.choice([-2.0, 2.0], n_annotators), 0.0)
    truth = Truth(
        scores, np.zeros((0, n_items)), np.full(n_annotators, -1), bias + 0.4, "bradley-terry"
    )
    each = np.full(n_annotators, 80)
    votes = draw_votes(truth, each, *make_labels("numbered", n_annotators, n_items), rng)
    empty = sparse.csr_array((n_annotators, n_items))
    return Simulation(votes, scores, empty, bias, None)


CROWDS = (
    Crowd("50 annotators, a few busy", zipf, 0.1, 2.0),
    Crowd("100 annotators, alike busy", even, 0.1, 2.0),
    Crowd("400 annotators, 30 items", many, 0.1, 2.0),
    Crowd("60, everybody differs a bit", everybody, 1.0, 0.4),
    Crowd("9 judges, all differ a bit", judges, 1.0, 0.3),
    Crowd("60 annotators, 5 features", featured, 0.1, 2.0),
    Crowd("60, all lean to the first", at_home, 0.0, 0.0, 0.4),
)


def repeat_once(crowd: Crowd, seed: int, n_resamples: int) -> dict[str, float]:
    """Shares of the truth that each kind of interval holds, in one draw of a crowd."""
    warnings.simplefilter("ignore", VoteWarning)
    drawn = crowd.draw(seed)
    position = crowd.common_position != 0.0
    model = PreferenceModel(
        features=drawn.features,
        common_position=position,
        n_times=12,
        t_ratio=12.0,
        cv=4,
        criterion="log-loss",
        n_threads=1,
    ).fit(drawn.votes)
    problem = Problem.build(drawn.votes, features=drawn.features, common_position=position)
    component = connected_components(drawn.votes)
    ours = estimate_common(problem, model.path_, model.t_, component).about_average()
    drawn_again = estimate_common(
        problem,
        model.path_,
        model.t_,
        component,
        method="bootstrap",
        n_resamples=n_resamples,
        n_threads=1,
    ).about_average()
    truth = drawn.scores - drawn.scores.mean()
    error = ours.score - truth
    naive, held = deviations_held(problem, model, component)
    reach = norm.isf((1 - LEVEL) / 2)
    return {
        "slope": float(error @ truth / (truth @ truth)),
        "error": float(np.mean(error**2)),
        "variance": float(np.mean(ours.standard_error**2)),
        "naive": float(np.mean(np.abs(ours.centre - truth) < reach * naive)),
        "held": float(np.mean(np.abs(ours.centre - truth) < reach * held)),
        "sandwich": _held_by(ours, truth),
        "bootstrap": _held_by(drawn_again, truth),
        "average": _held_by(ours, _average_score(crowd, drawn)),
        "ranks": _ranks_held(ours, truth),
        "position": _position_held(model, crowd.common_position) if position else np.nan,
    }


def _held_by(common: CommonScores, truth: np.ndarray) -> float:
    low, high = common.interval(LEVEL)
    return float(np.mean((low <= truth) & (truth <= high)))


def _ranks_held(common: CommonScores, truth: np.ndarray) -> float:
    low, high = rank_intervals(common, LEVEL)
    rank = rankdata(-truth)
    return float(np.mean((low <= rank) & (rank <= high)))


def _position_held(model: PreferenceModel, truth: float) -> float:
    effect = model.position_effect(level=LEVEL)
    return float(effect["low"] <= truth <= effect["high"])


def deviations_held(
    problem: Problem, model: PreferenceModel, component: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors from the whole Hessian, unclustered and clustered, about the average."""
    evidence = gather_evidence(problem, model.path_, model.t_, component)
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
    """Scores that fit the votes of an endless crowd best: a mixture's Bradley-Terry fit."""
    node, weight = np.polynomial.hermite_e.hermegauss(21)
    weight = weight / weight.sum()
    phi = np.eye(len(drawn.scores)) if drawn.features is None else drawn.features
    scale = crowd.deviation_scale / (1.0 if drawn.features is None else np.sqrt(phi.shape[1]))
    gap = np.linalg.norm(phi[:, None] - phi[None, :], axis=2) * scale
    margin = drawn.scores[:, None] - drawn.scores[None, :]
    own = expit(margin[..., None] + gap[..., None] * node) @ weight
    bias = np.mean([expit(margin + b) for b in drawn.position_bias], axis=0)
    clickers = np.mean(drawn.position_bias != 0)
    share = crowd.deviants
    if clickers and share:
        bias = (bias - (1 - clickers) * expit(margin)) / clickers
        chance = (1 - share - clickers) * expit(margin) + share * own + clickers * bias
    else:
        chance = share * own + (1 - share) * (bias if clickers else expit(margin))
    chance = (chance + 1 - chance.T) / 2  # each pair is shown in both orders
    return _fit_chances(chance, phi)


def _fit_chances(chance: np.ndarray, phi: np.ndarray) -> np.ndarray:
    rows = (phi[:, None] - phi[None, :]).reshape(-1, phi.shape[1])
    goal, at = chance.ravel(), np.zeros(phi.shape[1])
    for _ in range(30):
        fitted = expit(rows @ at)
        hessian = rows.T @ (rows * (fitted * (1 - fitted))[:, None])
        at -= np.linalg.pinv(hessian, rcond=1e-10) @ (rows.T @ (fitted - goal))
    score = phi @ at
    return score - score.mean()


def _job(arguments: tuple[int, int, int]) -> dict[str, float]:
    which, seed, n_resamples = arguments
    return repeat_once(CROWDS[which], seed, n_resamples)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few repetitions of two crowds")
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--resamples", type=int, default=200)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--crowds", type=int, nargs="*", help="numbers of crowds, from 0")
    asked = parser.parse_args()
    repetitions = 10 if asked.quick else asked.repetitions
    which = asked.crowds or ([0, 4] if asked.quick else list(range(len(CROWDS))))
    print(f"{repetitions} draws of each crowd; shares in % that 95 % intervals hold")
    print(f"{'crowd':28} {'bias':>7} {'rmse/se':>8} " + " ".join(f"{c:>9}" for c in COLUMNS))
    with ProcessPoolExecutor(asked.processes) as pool:
        for number in which:
            start = time.perf_counter()
            jobs = [(number, seed, asked.resamples) for seed in range(repetitions)]
            results = list(pool.map(_job, jobs))
            print(_line(CROWDS[number], results, time.perf_counter() - start), flush=True)


def _line(crowd: Crowd, results: list[dict[str, float]], seconds: float) -> str:
    mean = {name: np.mean([r[name] for r in results]) for name in results[0]}
    error = {c: np.std([r[c] for r in results]) / np.sqrt(len(results)) for c in COLUMNS}
    ratio = np.sqrt(mean["error"] / mean["variance"])
    cells = " ".join(f"{100 * mean[c]:5.1f}±{100 * error[c]:3.1f}" for c in COLUMNS)
    line = f"{crowd.name:28} {mean['slope']:+7.3f} {ratio:8.2f} {cells}   {seconds:.0f} s"
    if crowd.common_position:
        line += f"\n{'  its common position effect':28} held in {100 * mean['position']:.1f} %"
    return line


if __name__ == "__main__":
    main()
