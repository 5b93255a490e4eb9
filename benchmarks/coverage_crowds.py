"""The crowds of the coverage study: how to draw one, and what intervals of it should hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.special import expit

from prefpath import Simulation, Votes, simulate_crowd
from prefpath.population import About
from prefpath.simulate.draw import Truth, draw_votes
from prefpath.simulate.labels import make_labels

Scores = np.ndarray


@dataclass(frozen=True)
class Crowd:
    """A kind of crowd: how to draw one, and how its annotators differ.

    `average` gives the scores that describe the votes of the endless crowd best, where they are
    not those of `deviants` with normal tastes of standard deviation `deviation_scale`.
    """

    name: str
    draw: Callable[[int], Simulation]
    deviants: float
    deviation_scale: float
    common_position: float = 0.0
    covered: str = "the ranking most follow"
    about: About | None = None
    truth: Callable[[Simulation], Scores] = lambda drawn: drawn.scores
    average: Callable[[Simulation], Scores] | None = None
    t_ratio: float = 12.0  # far beyond what cross-validation picks


def alike(*size: int, **more: object) -> Callable[[int], Simulation]:
    """Crowds of `simulate_crowd`, everybody as busy."""
    return lambda seed: simulate_crowd(*size, activity="even", seed=seed, **more)  # type: ignore


def all_differ(*size: int, by: float) -> Callable[[int], Simulation]:
    return alike(*size, deviants=1.0, clickers=0, deviation_scale=by)


def zipf(seed: int) -> Simulation:
    return simulate_crowd(5_000, 50, 10, seed=seed)


def many(seed: int) -> Simulation:
    return simulate_crowd(20_000, 400, 30, seed=seed)


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


def one_busy(seed: int, *, each: int = 70, busiest: int = 1_470) -> Simulation:
    """30 % of the votes are one annotator's, with a taste of their own."""
    rng = np.random.default_rng(seed)
    own = np.zeros((50, 10))
    own[0] = rng.normal(size=10)
    n_votes = np.full(50, each)
    n_votes[0] = busiest
    return drawn_from(rng, rng.normal(size=10), own, n_votes)


def one_half(seed: int) -> Simulation:
    """Half of the votes are."""
    return one_busy(seed, each=50, busiest=2_450)


def copied(seed: int) -> Simulation:
    """Of 60 annotators who follow, twelve cast the votes of another."""
    rng = np.random.default_rng(seed)
    drawn = drawn_from(rng, rng.normal(size=12), np.zeros((60, 12)), np.full(60, 80))
    votes = drawn.votes
    of = np.where(np.arange(60) < 12, 59, np.arange(60))
    pieces = [np.repeat(rows, votes.count[rows]) for u in of for rows in [_rows_of(votes, u)]]
    who, rows = np.repeat(np.arange(60), [len(each) for each in pieces]), np.concatenate(pieces)
    left, right = votes.items[votes.left[rows]], votes.items[votes.right[rows]]
    again = Votes.from_arrays(votes.annotators[who], left, right, votes.choice[rows],
                              items=votes.items, annotators=votes.annotators)  # fmt: skip
    return replace(drawn, votes=again)


def _rows_of(votes: Votes, u: int) -> np.ndarray:
    return np.arange(votes.offsets[u], votes.offsets[u + 1])


def unbalanced_home(seed: int) -> Simulation:
    """Everybody leans left by 0.6, and the better item is on the left in 70 % of the votes."""
    rng = np.random.default_rng(seed)
    scores, own = rng.normal(size=10), np.zeros((60, 10))
    return drawn_from(rng, scores, own, np.full(60, 80), lean=0.6, better_left=0.7)


def minority(seed: int, *, n: int = 400, each: int = 12, share: float = 0.3, by: float = 1.5):
    """Some share another taste."""
    rng = np.random.default_rng(seed)
    scores, other = rng.normal(size=8), by * rng.normal(size=8)
    own = np.where(np.arange(n)[:, None] < share * n, other, 0.0)
    return drawn_from(rng, scores, own, np.full(n, each))


def clusters(seed: int) -> Simulation:
    """35 % share another taste, with votes enough to find some of them."""
    return minority(seed, n=80, each=60, share=0.35, by=1.0)


def two_camps(seed: int) -> Simulation:
    """Two camps of about 30 % with tastes of their own, and votes enough to find most of them."""
    rng = np.random.default_rng(seed)
    tastes = np.vstack((np.zeros(10), 1.3 * rng.normal(size=(2, 10))))
    own = tastes[rng.choice(3, 80, p=[0.4, 0.3, 0.3])]
    return drawn_from(rng, rng.normal(size=10), own, np.full(80, 50))


def heavy_tails(seed: int) -> Simulation:
    """15 annotators whose tastes have t-distributed entries of three degrees of freedom."""
    rng = np.random.default_rng(seed)
    own = 0.5 * rng.standard_t(3, size=(15, 8))
    return drawn_from(rng, rng.normal(size=8), own, np.full(15, 150))


def uneven_six(seed: int) -> Simulation:
    """Six annotators who differ, the busiest with twenty times the votes of the least busy."""
    rng = np.random.default_rng(seed)
    own = 0.7 * rng.normal(size=(6, 6))
    return drawn_from(rng, rng.normal(size=6), own, np.array([400, 200, 100, 60, 30, 20]))


def uneven_few_items(seed: int) -> Simulation:
    """40 annotators who differ a bit, some ten times as busy as others, 4 items."""
    rng = np.random.default_rng(seed)
    own = 0.4 * rng.normal(size=(40, 4))
    return drawn_from(rng, rng.normal(size=4), own, np.geomspace(20, 200, 40).astype(int))


def all_at_once(seed: int) -> Simulation:
    """A shared lean, uneven sides, a fifth tied, a tenth with tastes in 4 features."""
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((12, 4))
    common = rng.normal(size=4) / 2.0
    own = np.where(np.arange(50)[:, None] < 5, rng.normal(size=(50, 4)), 0.0)
    return drawn_from(rng, common, own, np.full(50, 100), lean=0.5, better_left=0.65, ties=0.2,
                      features=features)  # fmt: skip


def drawn_from(
    rng: np.random.Generator,
    common: Scores,
    own: Scores,
    each: np.ndarray,
    *,
    lean: float = 0.0,
    better_left: float = 0.5,
    ties: float = 0.0,
    features: np.ndarray | None = None,
) -> Simulation:
    """Votes of annotators with `own` deviations (a row each) and `each` so many votes."""
    phi = np.eye(len(common)) if features is None else features
    scores, tastes = phi @ common, own @ phi.T
    who = np.repeat(np.arange(len(each)), each)
    left = rng.integers(0, len(scores), len(who))
    right = (left + rng.integers(1, len(scores), len(who))) % len(scores)
    swap = (scores[left] > scores[right]) != (rng.random(len(who)) < better_left)
    left, right = np.where(swap, right, left), np.where(swap, left, right)
    apart = scores[left] - scores[right] + tastes[who, left] - tastes[who, right]
    choice = np.where(rng.random(len(who)) < expit(apart + lean), 1.0, -1.0)
    choice[rng.random(len(who)) < ties] = 0.0
    people, items = make_labels("numbered", len(each), len(scores))
    votes = Votes.from_arrays(people[who], items[left], items[right], choice, items=items,
                              annotators=people)  # fmt: skip
    return Simulation(votes, common, sparse.csr_array(own), np.zeros(len(each)), features)


def mean_taste(drawn: Simulation) -> Scores:
    """Scores and the mean of these annotators' deviations."""
    return drawn.scores + np.asarray(drawn.deviation.mean(axis=0)).ravel()


def mean_preference(drawn: Simulation) -> Scores:
    """Scores that describe the votes of this crowd best, each annotator counting alike."""
    own = drawn.scores + drawn.deviation.toarray()
    return fit_chances(np.mean([expit(s[:, None] - s[None, :]) for s in own], axis=0))


def mean_preference_of_all(drawn: Simulation) -> Scores:
    """The same where some see the scores less sharply."""
    own = drawn.scores * drawn.attention[:, None] + drawn.deviation.toarray()
    gaps = (row[:, None] - row[None, :] for row in own)
    return fit_chances(sum(expit(gap) for gap in gaps) / len(own))


def points(drawn: Simulation, ties: float = 0.4) -> Scores:
    """Scores whose win probabilities are the shares of points, ties counting half."""
    margin = drawn.scores[:, None] - drawn.scores[None, :]
    return fit_chances((1.0 - ties) * expit(margin) + ties / 2.0, drawn.features)


def points_of_shown(drawn: Simulation) -> Scores:
    """The same with a fifth of ties, from a lean of 0.5 and the sides that were shown."""
    votes = drawn.votes
    margin = (drawn.scores[votes.left] - drawn.scores[votes.right] + 0.5).astype(float)
    phi = drawn.features
    rows = np.column_stack((phi[votes.left] - phi[votes.right], np.ones(votes.n_rows)))
    at = fit_rows(rows, 0.8 * expit(margin) + 0.1, votes.weight)
    return phi @ at[:-1]


def fit_chances(chance: Scores, features: np.ndarray | None = None) -> Scores:
    """Bradley-Terry scores that fit the chances of all pairs best."""
    phi = np.eye(len(chance)) if features is None else features
    rows = (phi[:, None] - phi[None, :]).reshape(-1, phi.shape[1])
    score = phi @ fit_rows(rows, chance.ravel(), np.ones(chance.size))
    return score - score.mean()


def fit_rows(rows: np.ndarray, goal: Scores, weight: Scores) -> Scores:
    at = np.zeros(rows.shape[1])
    for _ in range(30):
        fitted = expit(rows @ at)
        hessian = rows.T @ (rows * (weight * fitted * (1 - fitted))[:, None])
        at -= np.linalg.pinv(hessian, rcond=1e-10) @ (rows.T @ (weight * (fitted - goal)))
    return at


JUDGES = "the middle taste of all judges like these"
MIDDLE = "the middle taste"
CROWDS = (
    Crowd("50 annotators, a few busy", zipf, 0.1, 2.0),
    Crowd("100 annotators, alike busy", alike(5_000, 100, 10), 0.1, 2.0, t_ratio=6.0),
    Crowd("9 judges, all differ a bit", all_differ(4_500, 9, 8, by=0.3), 1.0, 0.3,
          about="annotators", covered=JUDGES),
    Crowd("9 judges, all differ a lot", all_differ(4_500, 9, 8, by=1.0), 1.0, 1.0,
          about="annotators", covered=JUDGES),
    Crowd("30, all differ a lot", all_differ(4_500, 30, 8, by=1.0), 1.0, 1.0, t_ratio=6.0,
          covered=MIDDLE),
    Crowd("60, everybody differs a bit", all_differ(5_000, 60, 10, by=0.4), 1.0, 0.4,
          t_ratio=4.0, covered=MIDDLE),
    Crowd("400 annotators, 30 items", many, 0.1, 2.0),
    Crowd("60 annotators, 5 features", featured, 0.1, 2.0, t_ratio=8.0),
    Crowd("60, all lean to the first", at_home, 0.0, 0.0, 0.4, t_ratio=6.0),
    Crowd("1,000 annotators, 8 votes", all_differ(8_000, 1_000, 10, by=0.5), 1.0, 0.5,
          t_ratio=4.0, covered=MIDDLE),
    Crowd("5 annotators", all_differ(1_000, 5, 8, by=0.3), 1.0, 0.3, truth=mean_taste,
          covered="these five's mean taste"),
    Crowd("one has 30 % of the votes", one_busy, 0.0, 0.0),
    Crowd("shared lean, uneven sides", unbalanced_home, 0.0, 0.0, 0.6, t_ratio=4.0),
    Crowd("30 % minority, 12 votes", minority, 0.0, 0.0, t_ratio=4.0, average=mean_preference),
    Crowd("40 % ties", alike(5_000, 60, 10, deviants=0, clickers=0, ties=0.4), 0.0, 0.0,
          t_ratio=4.0, truth=points, average=points, covered="shares of points"),
    Crowd("15, tastes of heavy tails", heavy_tails, 1.0, 0.5, average=mean_preference,
          covered=MIDDLE),
    Crowd("35 % another taste, 60 votes", clusters, 0.0, 0.0, t_ratio=6.0,
          average=mean_preference),
    Crowd("6 annotators, 20 to 400 votes", uneven_six, 1.0, 0.7, truth=mean_taste,
          covered="these six's mean taste"),
    Crowd("40, uneven activity, 4 items", uneven_few_items, 1.0, 0.4, t_ratio=6.0,
          covered=MIDDLE),
    Crowd("features, lean, sides, ties", all_at_once, 0.0, 0.0, t_ratio=8.0,
          truth=points_of_shown, average=points_of_shown, covered="shares of points"),
    Crowd("100 annotators, 10 % random",
          alike(5_000, 100, 10, deviants=0, clickers=0, random=0.1), 0.0, 0.0, t_ratio=6.0),
    Crowd("100 annotators, 10 % contrary",
          alike(5_000, 100, 10, deviants=0, clickers=0, contrary=0.1), 0.0, 0.0, t_ratio=6.0),
    Crowd("12, all differ", all_differ(1_800, 12, 8, by=0.6), 1.0, 0.6, covered=MIDDLE),
    Crowd("20, all differ", all_differ(1_600, 20, 6, by=0.6), 1.0, 0.6, covered=MIDDLE),
    Crowd("two camps of 30 %, 50 votes", two_camps, 0.0, 0.0, truth=mean_taste,
          average=mean_preference, covered=MIDDLE),
    Crowd("one has half of the votes", one_half, 0.0, 0.0, average=mean_preference),
    Crowd("12 of 60 copy another", copied, 0.0, 0.0),
    Crowd("3,000, 10 votes, 10 % random",
          alike(30_000, 3_000, 12, clickers=0, random=0.1, deviation_scale=1.5), 0.0, 0.0,
          t_ratio=6.0, average=mean_preference_of_all),
)  # fmt: skip
