"""Sums over each annotator's votes that tests of slopes are made of (see `own_attention`)."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from prefpath.model.design import Floats, Ints
from prefpath.model.losses import Loss
from prefpath.model.problem import Problem
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray, CodeArray
from prefpath.votes.trials import trials_of_rows

_MAY_LEAN = 2.0  # standard errors
_STEPS = 6
_LONGEST_STEP = 2.0  # of a margin
LEAST_TOLD = 1e-12  # of a slope: nobody is tested on less
TINY = 1e-300


class SlopeVotes(Protocol):
    """The votes of everybody, as the tests of slopes ask them."""

    @property
    def weight(self) -> Floats:
        """What each annotator's votes weigh."""

    def slopes(self) -> Slopes: ...

    def tastes(self) -> Tastes: ...

    def refitted(self, who: BoolArray) -> tuple[Slopes, Tastes]:
        """Both at the slopes that fit some annotators best."""


class Rows(NamedTuple):
    """Of each row of votes: difference of scores seen, lean, pull, curvature, squares of its votes.

    `expected` is the variance of the pull, to a factor that all rows share.
    """

    apart: Floats
    lean: Floats
    pull: Floats
    curvature: Floats
    square: Floats
    expected: Floats
    trials: Floats


def _rows_at(problem: Problem, apart: Floats, lean: Floats, slope: Floats | None = None) -> Rows:
    """The rows with these leans and slopes (1 if None)."""
    choice, trials = problem.votes.choice, np.maximum(trials_of_rows(problem.votes), TINY)
    margin = (apart if slope is None else slope * apart) + lean
    slope_of_loss, curvature = problem.loss.derivatives(margin, choice)
    pull = -problem.weight * slope_of_loss
    curvature = problem.weight * curvature
    expected = curvature * problem.weight / trials
    return Rows(apart, lean, pull, curvature, pull**2 / trials, expected, trials)


def _leans(problem: Problem, apart: Floats, shared: float) -> Floats:
    """Lean in the margin of each row: shared by all if the model has one, and who clearly leans."""
    votes, side = problem.votes, problem.votes.position_known.astype(np.float64)
    who, n = votes.annotator, votes.n_annotators
    lean = np.full(n, shared)
    slope, _ = problem.loss.derivatives(apart + lean[who] * side, votes.choice)
    slope *= problem.weight * side
    square = slope**2 / np.maximum(trials_of_rows(votes), TINY)
    clear = np.bincount(who, slope, n) ** 2 > _MAY_LEAN**2 * np.bincount(who, square, n)
    rows = np.flatnonzero(clear[who] & votes.position_known)
    return _fit(_of_rows(problem, rows, apart, side), who[rows], lean, 1.0)[who] * side


class _Choices(NamedTuple):
    """Rows to fit a coefficient of `times` to, beside an offset."""

    loss: Loss
    choice: Floats
    weight: Floats
    offset: Floats
    times: Floats


def _of_rows(problem: Problem, rows: Ints, offset: Floats, times: Floats) -> _Choices:
    choice, weight = problem.votes.choice[rows], problem.weight[rows]
    return _Choices(problem.loss, choice, weight, offset[rows], times[rows])


def _fit(of: _Choices, group: Ints | CodeArray, start: Floats, typical: float) -> Floats:
    """The coefficient of each group of rows: Newton's method.

    A tenth of a vote holds it where it starts; `typical` is the mean square of `times`.
    """
    found, n, x = start.copy(), len(start), of.times
    for _ in range(_STEPS if len(x) else 0):
        slope, bend = of.loss.derivatives(of.offset + found[group] * x, of.choice)
        pull = np.bincount(group, of.weight * slope * x, n) + 0.1 * typical * (found - start)
        step = pull / (np.bincount(group, of.weight * bend * x**2, n) + 0.1 * typical)
        longest = _LONGEST_STEP / np.sqrt(typical)
        found -= np.clip(step, -longest, longest)
    return found


class AtScores(NamedTuple):
    """The common scores slopes are tested at, and the lean everybody shares."""

    scores: Floats
    lean: float


def at_pooled_scores(problem: Problem) -> AtScores:
    """The scores of the pooled votes, the model's own loss and features."""
    scores, votes = problem.pooled_fit.scores, problem.votes
    return AtScores(
        scores,
        shared_lean(problem.loss, scores, votes, problem.weight)
        if problem.common_position
        else 0.0,
    )


def shared_lean(loss: Loss, scores: Floats, votes: Votes, weight: Floats) -> float:
    """The lean that fits the votes of everybody best beside common scores."""
    rows = np.flatnonzero(votes.position_known)
    left, right = votes.left[rows], votes.right[rows]
    side = np.ones(len(rows))
    of = _Choices(loss, votes.choice[rows], weight[rows], scores[left] - scores[right], side)
    return float(_fit(of, np.zeros(len(rows), dtype=np.int64), np.zeros(1), 1.0)[0])


class Slopes(NamedTuple):
    """Sums over each annotator's votes; `own` are the products of votes with themselves.

    Variances are to a factor that all share, until `dispersed`.

    With s the common scores, r the score and A the curvature in the items seen: `s'r` and its
    variance, `s'As`.
    """

    score: Floats
    told: Floats
    score_variance: Floats
    own_score: Floats
    own_told: Floats


class Tastes(NamedTuple):
    """The same in all directions.

    `|r|^2` and its mean by chance; `r'As`, `|As|^2`, `tr A`, `|A|^2`.
    """

    taste: Floats
    across: Floats
    touched: Floats
    trace: Floats
    size: Floats
    taste_variance: Floats
    own_taste: Floats
    own_touched: Floats
    own_size: Floats


def _slopes(problem: Problem, rows: Rows) -> Slopes:
    square_apart = rows.apart * rows.apart
    own_bend = rows.curvature**2 / rows.trials * square_apart
    return Slopes(
        score=_of_votes(problem, rows.pull * rows.apart),
        told=_of_votes(problem, rows.curvature * square_apart),
        score_variance=_of_votes(problem, rows.expected * square_apart),
        own_score=_of_votes(problem, rows.square * square_apart),
        own_told=_of_votes(problem, own_bend * square_apart),
    )


def _tastes(problem: Problem, rows: Rows) -> Tastes:
    score, bend, along = _by_item(problem, rows.pull, rows.curvature, rows.curvature * rows.apart)
    seen = np.repeat(np.arange(problem.votes.n_annotators), np.diff(problem.design.seen))
    own_bend = rows.curvature**2 / rows.trials

    def of_items(values: Floats) -> Floats:
        return np.asarray(np.bincount(seen, values, problem.votes.n_annotators), dtype=np.float64)

    return Tastes(
        taste=of_items(score**2),
        across=of_items(score * along),
        touched=of_items(along**2),
        trace=of_items(bend),
        size=of_items(bend**2) + 2.0 * _of_votes(problem, rows.curvature**2),
        taste_variance=2.0 * _of_votes(problem, rows.expected),
        own_taste=2.0 * _of_votes(problem, rows.square),
        own_touched=2.0 * _of_votes(problem, own_bend * rows.apart**2),
        own_size=4.0 * _of_votes(problem, own_bend),
    )


def _of_votes(problem: Problem, values: Floats) -> Floats:
    """Sum over each annotator's votes."""
    votes = problem.votes
    return np.asarray(np.bincount(votes.annotator, values, votes.n_annotators), dtype=np.float64)


def _by_item(
    problem: Problem, pull: Floats, curvature: Floats, along: Floats
) -> tuple[Floats, Floats, Floats]:
    """Sums over the votes on each item that each annotator has seen: x pull, x^2 c, x c d."""
    design, starts = problem.design, problem.cell_starts
    first = np.repeat(design.seen[:-1], np.diff(design.cells))
    left, right, n = first + design.left_at, first + design.right_at, int(design.seen[-1])
    merged = len(starts) < problem.votes.n_rows

    def summed(values: Floats, sign: float) -> Floats:
        of_cell = np.add.reduceat(values, starts) if merged else values
        out: Floats = np.asarray(np.bincount(left, of_cell, n), dtype=np.float64)
        out += sign * np.bincount(right, of_cell, n)
        return out

    return summed(pull, -1.0), summed(curvature, 1.0), summed(along, -1.0)


class Scatter(NamedTuple):
    """Squares of the rows' pulls, and what they are expected to be to a factor."""

    square: float
    expected: float

    @property
    def dispersion(self) -> float:
        """Variance of a vote's pull over its curvature: 1 where the loss is a likelihood."""
        return self.square / max(self.expected, TINY)


class SlopeSums:
    """Sums over the votes of annotators who may be a part of all: variances are to a factor."""

    def __init__(self, problem: Problem, at: AtScores) -> None:
        votes = problem.votes
        self._problem = problem
        apart = at.scores[votes.left] - at.scores[votes.right]
        lean = np.zeros(len(apart))
        if problem.position_bias or problem.common_position:
            lean = _leans(problem, apart, at.lean)
        self._rows = _rows_at(problem, apart, lean)

    def weight(self) -> Floats:
        return _of_votes(self._problem, self._problem.weight)

    def slopes(self) -> tuple[Slopes, Scatter]:
        return _slopes(self._problem, self._rows), _scatter(self._rows)

    def tastes(self) -> tuple[Tastes, Scatter]:
        return _tastes(self._problem, self._rows), _scatter(self._rows)

    def squares(self, who: BoolArray) -> tuple[float, int]:
        """Sum of the squared differences that some annotators saw, and their rows."""
        apart = self._rows.apart[who[self._problem.votes.annotator]]
        return float((apart**2).sum()), len(apart)

    def refitted(self, who: BoolArray, typical: float) -> tuple[Slopes, Tastes, Scatter]:
        """Sums at the slopes that fit some annotators best; `typical` is a squared difference."""
        problem, rows, of_row = self._problem, self._rows, self._problem.votes.annotator
        chosen = np.flatnonzero(who[of_row])
        of = _of_rows(problem, chosen, rows.lean, rows.apart)
        slope = _fit(of, of_row[chosen], np.ones(len(who)), typical)
        again = _rows_at(problem, rows.apart, rows.lean, slope[of_row])
        return _slopes(problem, again), _tastes(problem, again), _scatter(again)


def _scatter(rows: Rows) -> Scatter:
    return Scatter(float(rows.square.sum()), float(rows.expected.sum()))


def dispersed(slopes: Slopes, scatter: Scatter) -> Slopes:
    """Slopes with their variances, as much as votes of everybody scatter."""
    return slopes._replace(score_variance=scatter.dispersion * slopes.score_variance)


def dispersed_tastes(tastes: Tastes, scatter: Scatter) -> Tastes:
    return tastes._replace(taste_variance=scatter.dispersion * tastes.taste_variance)


def typical_square(total: float, n_rows: int) -> float:
    return max(total / n_rows if n_rows else 0.0, TINY)


class SlopesHere:
    """Votes on this machine."""

    def __init__(self, problem: Problem, at: AtScores) -> None:
        self._sums = SlopeSums(problem, at)
        self.weight = self._sums.weight()

    def slopes(self) -> Slopes:
        return dispersed(*self._sums.slopes())

    def tastes(self) -> Tastes:
        return dispersed_tastes(*self._sums.tastes())

    def refitted(self, who: BoolArray) -> tuple[Slopes, Tastes]:
        slopes, tastes, scatter = self._sums.refitted(who, typical_square(*self._sums.squares(who)))
        return dispersed(slopes, scatter), dispersed_tastes(tastes, scatter)
