"""Does everybody lean to one side (home advantage, a default button)? A score test.

At the Bradley-Terry scores of the pooled decisive votes, with `k` the part of "sides are known"
that no scores explain (residual of a least-squares fit with the votes' curvature c), annotator u
has the score `U_u = sum of w (won - p) k` for a lean and the information `I_u = sum of w c k^2`.
Whoever leans clearly otherwise than the middle of them is left to their own position bias; the
sum of the others' scores is tested by how much they vary between annotators, with the degrees of
freedom of those who tell something: where a few saw both sides, these are few. With fewer than ten
annotators it is tested by how much votes vary, because the fit is about these annotators then;
and it must be there without any one of them, or it is somebody's and not everybody's. Where every
item kept its side (a baseline always on the left) scores explain all, and nothing is tested.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

import numpy as np
from scipy.special import expit

from prefpath.distributions import student_tail
from prefpath.fitted.follow import check_switch
from prefpath.model.design import Floats
from prefpath.pairs.counts import PairIndex
from prefpath.pairs.fit import fit_bradley_terry
from prefpath.population import population_of
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray, CodeArray
from prefpath.votes.trials import trials_of_rows

LEVEL = 0.01
_RIDGE = 0.01  # a score that nothing bounds stays finite
_FEWEST_ON_A_SIDE = 0.01
_OWN_LEAN = 3.0  # standard errors from the middle, or standard deviations of the crowd
_OF_MEDIAN = 1.4826  # a standard deviation is so many median deviations
_TOLD_APART = 1e-4  # of what votes would tell of a lean: the ridge alone leaves less


class SharedLean(NamedTuple):
    """A lean that everybody shares.

    Attributes
    ----------
    estimate : float
        In logits, to first order; above 0 to the left.
    p_value : float
        1 where no side is known.
    """

    estimate: float
    p_value: float

    @property
    def is_there(self) -> bool:
        return self.p_value < LEVEL


def shares_a_lean(
    common_position: bool | Literal["auto"], votes: Votes, *, position_bias: bool = True
) -> bool:
    """Whether a model of these votes is to have a lean that everybody shares."""
    check_switch(common_position, "common_position")
    if common_position == "auto":
        return position_bias and find_shared_lean(votes).is_there
    return bool(common_position)


def find_shared_lean(votes: Votes) -> SharedLean:
    """Test votes for a lean that everybody shares.

    Examples
    --------
    >>> from prefpath import simulate_crowd
    >>> find_shared_lean(simulate_crowd(2_000, 40, 6, clickers=4, seed=0).votes).is_there
    False
    """
    decisive = votes.without_ties()
    if is_one_sided(decisive):
        return SharedLean(0.0, 1.0)
    sides = explain_sides(decisive)
    return judge(*lean_sums(decisive, sides), sides.information)


def judge(pull: Floats, told: Floats, spread: Floats, information: float) -> SharedLean:
    """Is there a lean in the annotators' scores, given their information and squares of votes?

    `information` is what all would tell together if no scores explained the sides.
    """
    if told.sum() <= _TOLD_APART * information:
        return SharedLean(0.0, 1.0)
    present = told > 1e-12 * told.sum()
    pull, told, spread = pull[present], told[present], spread[present]
    if population_of(len(told)) == "these":
        return _tested_without_each(pull, told, spread)
    return _tested_by_variation(pull, told)


def _tested_by_variation(pull: Floats, told: Floats) -> SharedLean:
    """By how much annotators vary, without those who clearly lean otherwise than the middle.

    Clearly is beyond chance and beyond what most differ by: where leans vary and votes are many,
    those near the middle would else agree on it, and be taken for everybody.
    """
    away = (pull - _middle(pull / told, told) * told) / np.sqrt(told)
    usual = max(1.0, _OF_MEDIAN * _middle(np.abs(away), told))
    kept = np.abs(away) <= _OWN_LEAN * usual
    pull, told = pull[kept], told[kept]
    if len(told) < 2:
        return SharedLean(float(pull.sum() / told.sum()), 1.0)
    return _tested(pull, told, *_variance(pull, told))


def _variance(pull: Floats, told: Floats) -> tuple[Floats, float]:
    """Bell and McCaffrey's (2002) variance of a sum, and its degrees of freedom.

    With equal information these are the t test's. Who alone has nearly all of it would else agree
    with a mean that is their own.
    """
    share = told / told.sum()
    others = np.maximum(1.0 - share, 1e-12)
    beyond = pull - share * pull.sum()
    pairs = np.sort(share**2 / others)
    two_of_them = 2.0 * float(pairs[1:] @ np.cumsum(pairs)[:-1])  # no difference of large squares
    return beyond**2 / others, 1.0 / (float((share**2).sum()) + two_of_them)


def is_one_sided(votes: CodedRows) -> bool:
    """Whether (nearly) every vote goes to one side, or no side is known: no lean is estimated."""
    left = float(votes.weight[votes.position_known & (votes.choice > 0)].sum())
    right = float(votes.weight[votes.position_known & (votes.choice < 0)].sum())
    return min(left, right) <= _FEWEST_ON_A_SIDE * (left + right)


def _tested_without_each(pull: Floats, told: Floats, spread: Floats) -> SharedLean:
    """The weakest of the tests that leave one annotator out; of one alone, their own."""
    every = _tested(pull, told, spread, np.inf)
    if len(told) < 2:
        return every
    others = [np.arange(len(told)) != u for u in range(len(told))]
    tests = [_tested(pull[o], told[o], spread[o], np.inf) for o in others]
    if any(np.sign(one.estimate) != np.sign(every.estimate) for one in tests):
        return SharedLean(every.estimate, 1.0)
    return SharedLean(every.estimate, max(one.p_value for one in (every, *tests)))


def _tested(pull: Floats, told: Floats, spread: Floats, df: float) -> SharedLean:
    z = abs(pull.sum()) / np.sqrt(max(float(spread.sum()), 1e-300))
    return SharedLean(float(pull.sum() / told.sum()), float(2.0 * student_tail(z, df)))


class CodedRows(Protocol):
    """Votes, whoever cast them."""

    @property
    def left(self) -> CodeArray: ...
    @property
    def right(self) -> CodeArray: ...
    @property
    def choice(self) -> Floats: ...
    @property
    def weight(self) -> Floats: ...
    @property
    def position_known(self) -> BoolArray: ...
    @property
    def n_items(self) -> int: ...


class Sides(NamedTuple):
    """Common scores, the part of "sides are known" that scores would explain, and how much it is.

    `information` is that of all votes for a lean, were nothing explained.
    """

    scores: Floats
    explained: Floats
    information: float


def explain_sides(votes: CodedRows) -> Sides:
    """Fit the decisive votes of everybody."""
    index = PairIndex.of(votes.left, votes.right, votes.n_items)
    found = fit_bradley_terry(index.pool(np.sign(votes.choice), votes.weight), ridge=_RIDGE)
    p = expit(found.scores[votes.left] - found.scores[votes.right])
    pressure = votes.weight * p * (1.0 - p) * votes.position_known.astype(float)
    right: Floats = np.zeros(votes.n_items)
    right += np.bincount(votes.left, pressure, votes.n_items)
    right -= np.bincount(votes.right, pressure, votes.n_items)
    explained = found.graph.solve(found.curvature, right)
    return Sides(found.scores, explained, float(pressure.sum()))


def lean_sums(votes: Votes, sides: Sides) -> tuple[Floats, Floats, Floats]:
    """Score, information and squared score (of single votes) for a lean, of each annotator."""
    p = expit(sides.scores[votes.left] - sides.scores[votes.right])
    explained = sides.explained
    beyond = votes.position_known - (explained[votes.left] - explained[votes.right])
    residual = (np.sign(votes.choice) > 0) - p
    trials = np.maximum(trials_of_rows(votes), 1e-300)
    each = (
        votes.weight * residual * beyond,
        votes.weight * p * (1.0 - p) * beyond**2,
        (votes.weight * residual * beyond) ** 2 / trials,
    )
    who, n = votes.annotator, votes.n_annotators
    pull, told, spread = (np.bincount(who, values, n).astype(float) for values in each)
    return pull, told, spread


def _middle(values: Floats, weights: Floats) -> float:
    """Weighted median."""
    order = np.argsort(values)
    share = np.cumsum(weights[order])
    return float(values[order[np.searchsorted(share, 0.5 * share[-1])]])
