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

and of rank intervals, with how many ranks they are wide on average:

one        each item's interval by itself: what ranking() promises
all        all items of a draw at once, which it does not
pairs      each item's, had every pair been judged by itself at 95 %
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.special import expit
from scipy.stats import norm, rankdata
from scipy.stats import t as student

from prefpath import PreferenceModel, Votes, VoteWarning, simulate_crowd
from prefpath.fitted import Fitted
from prefpath.inference import common_scores
from prefpath.inference.consensus import fit_consensus
from prefpath.inference.evidence import gather_evidence
from prefpath.inference.intervals import CommonScores
from prefpath.inference.ranks import rank_intervals
from prefpath.inference.sandwich import annotator_gradients, as_rows
from prefpath.population import About
from prefpath.simulate.draw import Truth, draw_votes
from prefpath.simulate.labels import make_labels
from prefpath.simulate.simulation import Simulation

LEVEL = 0.95
SCORES = ("naive", "held", "sandwich", "bootstrap", "average")
RANKS = ("one", "all", "pairs")
BOOTSTRAP_EVERY = 4


@dataclass(frozen=True)
class Crowd:
    """A kind of crowd: how to draw one, and how its annotators differ."""

    name: str
    draw: Callable[[int], Simulation]
    deviants: float
    deviation_scale: float
    common_position: float = 0.0
    covered: str = "the ranking most follow"
    about: About | None = None
    truth: Callable[[Simulation], np.ndarray] = lambda drawn: drawn.scores
    t_ratio: float = 12.0  # far beyond what cross-validation picks


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


def judges_apart(seed: int) -> Simulation:
    return simulate_crowd(
        4_500, 9, 8, activity="even", deviants=1.0, clickers=0, deviation_scale=1.0, seed=seed
    )


def all_apart(seed: int) -> Simulation:
    return simulate_crowd(
        4_500, 30, 8, activity="even", deviants=1.0, clickers=0, deviation_scale=1.0, seed=seed
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
        scores, np.zeros((0, n_items)), np.full(n_annotators, -1), bias + 0.4, model="bradley-terry"
    )
    each = np.full(n_annotators, 80)
    votes = draw_votes(truth, each, *make_labels("numbered", n_annotators, n_items), rng)
    empty = sparse.csr_array((n_annotators, n_items))
    return Simulation(votes, scores, empty, bias, None)


def thin(seed: int) -> Simulation:
    """1,000 annotators with 8 votes, everybody differs by half a logit in each item."""
    return simulate_crowd(
        8_000, 1_000, 10, activity="even", deviants=1.0, clickers=0, deviation_scale=0.5, seed=seed
    )


def five(seed: int) -> Simulation:
    return simulate_crowd(
        1_000, 5, 8, activity="even", deviants=1.0, clickers=0, deviation_scale=0.3, seed=seed
    )


def one_busy(seed: int) -> Simulation:
    """30 % of the votes are one annotator's, with a taste of their own."""
    rng = np.random.default_rng(seed)
    n_annotators, n_items = 50, 10
    scores, own = rng.normal(size=n_items), rng.normal(size=(1, n_items))
    each = np.full(n_annotators, 70)
    each[0] = 1_470
    taste_of = np.where(np.arange(n_annotators) == 0, 0, -1)
    truth = Truth(scores, own, taste_of, np.zeros(n_annotators), model="bradley-terry")
    votes = draw_votes(truth, each, *make_labels("numbered", n_annotators, n_items), rng)
    return Simulation(votes, scores, sparse.csr_array((n_annotators, n_items)),
                      np.zeros(n_annotators), None)  # fmt: skip


def unbalanced_home(seed: int) -> Simulation:
    """Everybody leans left by 0.6, and the better item is on the left in 70 % of the votes."""
    rng = np.random.default_rng(seed)
    n_annotators, n_items, each = 60, 10, 80
    scores = rng.normal(size=n_items)
    who = np.repeat(np.arange(n_annotators), each)
    left = rng.integers(0, n_items, len(who))
    right = (left + rng.integers(1, n_items, len(who))) % n_items
    swap = (scores[left] > scores[right]) != (rng.random(len(who)) < 0.7)
    left, right = np.where(swap, right, left), np.where(swap, left, right)
    chance = expit(scores[left] - scores[right] + 0.6)
    return _drawn(scores, who, left, right, chance, rng)


def minority(seed: int) -> Simulation:
    """30 % share another taste; 12 votes each, too few to name anybody."""
    rng = np.random.default_rng(seed)
    n_annotators, n_items, each = 400, 8, 12
    scores, other = rng.normal(size=n_items), 1.5 * rng.normal(size=n_items)
    who = np.repeat(np.arange(n_annotators), each)
    left = rng.integers(0, n_items, len(who))
    right = (left + rng.integers(1, n_items, len(who))) % n_items
    own = scores + np.where(who[:, None] < 0.3 * n_annotators, other, 0.0)
    rows = np.arange(len(who))
    drawn = _drawn(scores, who, left, right, expit(own[rows, left] - own[rows, right]), rng)
    return replace(drawn, deviation=sparse.csr_array(np.tile(0.3 * other, (n_annotators, 1))))


def tied(seed: int) -> Simulation:
    """40 % ties, whatever the items: shares of points."""
    return simulate_crowd(5_000, 60, 10, activity="even", deviants=0, clickers=0, ties=0.4,
                          seed=seed)  # fmt: skip


def _drawn(
    scores: np.ndarray, who: np.ndarray, left: np.ndarray, right: np.ndarray, chance: np.ndarray,
    rng: np.random.Generator,
) -> Simulation:  # fmt: skip
    people, items = make_labels("numbered", int(who.max()) + 1, len(scores))
    choice = np.where(rng.random(len(who)) < chance, 1.0, -1.0)
    votes = Votes.from_arrays(people[who], items[left], items[right], choice, items=items,
                              annotators=people)  # fmt: skip
    nobody = sparse.csr_array((len(people), len(scores)))
    return Simulation(votes, scores, nobody, np.zeros(len(people)), None)


def mean_taste(drawn: Simulation) -> np.ndarray:
    """Scores and the mean of these annotators' deviations."""
    return drawn.scores + np.asarray(drawn.deviation.mean(axis=0)).ravel()


def points(drawn: Simulation) -> np.ndarray:
    """Scores whose win probabilities are the shares of points, 40 % ties counting half."""
    margin = drawn.scores[:, None] - drawn.scores[None, :]
    return _fit_chances(0.6 * expit(margin) + 0.2, np.eye(len(drawn.scores)))


CROWDS = (
    Crowd("50 annotators, a few busy", zipf, 0.1, 2.0),
    Crowd("100 annotators, alike busy", even, 0.1, 2.0, t_ratio=6.0),
    Crowd("9 judges, all differ a bit", judges, 1.0, 0.3,
          about="annotators", covered="all judges like these"),
    Crowd("9 judges, all differ a lot", judges_apart, 1.0, 1.0,
          about="annotators", covered="all judges like these"),
    Crowd("30, all differ a lot", all_apart, 1.0, 1.0, t_ratio=6.0),
    Crowd("60, everybody differs a bit", everybody, 1.0, 0.4, t_ratio=4.0),
    Crowd("400 annotators, 30 items", many, 0.1, 2.0),
    Crowd("60 annotators, 5 features", featured, 0.1, 2.0, t_ratio=8.0),
    Crowd("60, all lean to the first", at_home, 0.0, 0.0, 0.4, t_ratio=6.0),
    Crowd("1,000 annotators, 8 votes", thin, 1.0, 0.5, t_ratio=4.0, covered="the mean taste"),
    Crowd("5 annotators", five, 1.0, 0.3, truth=mean_taste, covered="these five's mean taste"),
    Crowd("one has 30 % of the votes", one_busy, 0.0, 0.0),
    Crowd("shared lean, uneven sides", unbalanced_home, 0.0, 0.0, 0.6, t_ratio=4.0),
    Crowd("30 % minority, 12 votes", minority, 0.0, 0.0, t_ratio=4.0, truth=mean_taste,
          covered="the mean taste"),
    Crowd("40 % ties", tied, 0.0, 0.0, t_ratio=4.0, truth=points, covered="shares of points"),
)  # fmt: skip


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
    truth = crowd.truth(drawn)
    truth = truth - truth.mean()
    error = ours.score - truth
    naive, held = deviations_held(model.fitted_)
    reach = norm.isf((1 - LEVEL) / 2)
    shares = {
        "slope": float(error @ truth / (truth @ truth)),
        "error": float(np.mean(error**2)),
        "variance": float(np.mean(ours.standard_error**2)),
        "naive": float(np.mean(np.abs(ours.centre - truth) < reach * naive)),
        "held": float(np.mean(np.abs(ours.centre - truth) < reach * held)),
        "sandwich": _held_by(ours, truth),
        "bootstrap": np.nan,
        "average": _held_by(ours, _average_score(crowd, drawn)),
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


def _job(arguments: tuple[int, int, int, bool]) -> dict[str, float]:
    which, seed, n_resamples, balance = arguments
    return repeat_once(CROWDS[which], seed, n_resamples, balance)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few repetitions of two crowds")
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--resamples", type=int, default=100, help="0 leaves the bootstrap out")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--crowds", type=int, nargs="*", help="numbers of crowds, from 0")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="a penalty that is not balanced")
    asked = parser.parse_args()
    repetitions = 10 if asked.quick else asked.repetitions
    which = asked.crowds or ([0, 3] if asked.quick else list(range(len(CROWDS))))
    seeds = range(asked.first_seed, asked.first_seed + repetitions)
    print(f"{repetitions} draws of each crowd; shares in % that 95 % intervals hold")
    with ProcessPoolExecutor(asked.processes) as pool:
        for number in which:
            start = time.perf_counter()
            results = list(
                pool.map(_job, [(number, seed, asked.resamples, not asked.plain) for seed in seeds])
            )
            print(_lines(CROWDS[number], results, time.perf_counter() - start), flush=True)


def _lines(crowd: Crowd, results: list[dict[str, float]], seconds: float) -> str:
    mean = {name: _mean([r[name] for r in results]) for name in results[0]}
    ratio = np.sqrt(mean["error"][0] / mean["variance"][0])
    scores = ", ".join(f"{c} {100 * mean[c][0]:.1f} ± {100 * mean[c][1]:.1f}" for c in SCORES)
    ranks = ", ".join(f"{c} {100 * mean[c][0]:.1f} ± {100 * mean[c][1]:.1f}" for c in RANKS)
    lines = [
        f"{crowd.name}   ({seconds:.0f} s); covered: {crowd.covered}",
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
