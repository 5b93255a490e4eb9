"""Does everybody see the common scores as sharply as the others? Two score tests of slopes.

At the scores of the pooled votes (one ranking, the model's own loss and features) annotator u has
the score `U_u = -sum of w g d` for a slope of their own (g the slope of a vote's loss, d the score
difference it saw), and the scores `r_u = -sum of w g x` for a taste. A taste in any direction has
a part along the common scores, so a slope counts only beyond that:

*Somebody*: `t_u = U_u / sqrt(V_u f_u)` with V_u the variance of U_u, and f_u, at least 1, by how
much u's scores vary in the directions that are no slope. Cut by Benjamini and Hochberg; those
named must have slopes far from 1 and some share of the votes together.

*Everybody a little*: `U_u^2` and `|r_u|^2` without the products of votes with themselves are
expected to be a sum of the variances of slopes and of tastes, times curvatures. What is left for
slopes is tested by how much it varies between annotators.

Leans are allowed for first: a lean everybody shares, and that of whoever clearly has one.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import false_discovery_control, norm
from scipy.stats import t as student

from prefpath.fitted.follow import check_switch
from prefpath.model.design import Floats, Ints
from prefpath.model.problem import Problem
from prefpath.solver.work import Common
from prefpath.votes.encode import BoolArray, CodeArray
from prefpath.votes.trials import trials_of_rows

LEVEL = 0.005
_RATE = 0.02  # of false discoveries among those named
_FAR = 0.5  # of a slope from 1: nearer ones hardly move a ranking
_LEAST_SHARE = 0.01  # of all votes: fewer cannot move it
_LEAST_VARIANCE = 0.02  # of slopes: a standard deviation of a seventh
_MAY_LEAN = 2.0  # standard errors
_STEPS = 6
_LONGEST_STEP = 2.0  # of a margin
_LEAST_TOLD = 1e-12  # of a slope: nobody is tested on less
_TINY = 1e-300


class UnequalAttention(NamedTuple):
    """Whether annotators see the common scores more or less sharply than each other.

    Attributes
    ----------
    variance : float
        Of the slopes, to first order; 0 where tastes explain them.
    p_variance : float
        P-value of no variance.
    named : array of bool (n_annotators,)
        Whose slope is clearly another, by itself.
    share : float
        Their share of the votes.
    """

    variance: float
    p_variance: float
    named: BoolArray
    share: float

    @property
    def is_there(self) -> bool:
        everybody = self.p_variance < LEVEL and self.variance > _LEAST_VARIANCE
        return bool(everybody or self.share > _LEAST_SHARE)


def allow_for_attention(
    attention: bool | Literal["auto"], problem: Problem, common: Common = "flow"
) -> bool:
    """Whether a model of this problem's votes is to let annotators see more or less sharply.

    With `common="minimise"` a model cannot.
    """
    check_switch(attention, "attention")
    if attention == "auto":
        return common != "minimise" and find_unequal_attention(problem).is_there
    return bool(attention)


def find_unequal_attention(problem: Problem) -> UnequalAttention:
    """Test votes for attention that differs between annotators.

    Examples
    --------
    >>> from prefpath import simulate_crowd
    >>> crowd = simulate_crowd(4_000, 40, 8, activity="even", contrary=0.1, seed=1)
    >>> find_unequal_attention(Problem.build(crowd.votes)).is_there
    True
    """
    nobody = np.zeros(problem.votes.n_annotators, dtype=bool)
    rows = _rows_at_pooled_scores(problem)
    slopes = _slopes(problem, rows)
    tested = slopes.told > 1e-9 * slopes.told.sum()
    if np.count_nonzero(tested) < 2:
        return UnequalAttention(0.0, 1.0, nobody, 0.0)
    variance, p_variance = _variance_of_slopes(slopes, None, tested)
    if p_variance < LEVEL and variance > _LEAST_VARIANCE:  # tastes may explain it
        variance, p_variance = _variance_of_slopes(slopes, _tastes(problem, rows), tested)
    named = _who_is_unlike(problem, rows, slopes, tested)
    weight = np.bincount(problem.votes.annotator, problem.weight, len(named))
    return UnequalAttention(variance, p_variance, named, float(weight[named].sum() / weight.sum()))


class _Rows(NamedTuple):
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


def _rows_at_pooled_scores(problem: Problem) -> _Rows:
    votes, theta = problem.votes, problem.pooled_fit.scores
    apart = theta[votes.left] - theta[votes.right]
    leans = problem.position_bias or problem.common_position
    return _rows_at(problem, apart, _leans(problem, apart) if leans else np.zeros(len(apart)))


def _rows_at(problem: Problem, apart: Floats, lean: Floats, slope: Floats | None = None) -> _Rows:
    """The rows with these leans and slopes (1 if None)."""
    choice, trials = problem.votes.choice, np.maximum(trials_of_rows(problem.votes), _TINY)
    margin = (apart if slope is None else slope * apart) + lean
    slope_of_loss, curvature = problem.loss.derivatives(margin, choice)
    pull = -problem.weight * slope_of_loss
    curvature = problem.weight * curvature
    expected = curvature * problem.weight / trials
    return _Rows(apart, lean, pull, curvature, pull**2 / trials, expected, trials)


def _leans(problem: Problem, apart: Floats) -> Floats:
    """Lean in the margin of each row: shared by all if the model has one, and who clearly leans."""
    votes, side = problem.votes, problem.votes.position_known.astype(np.float64)
    who, n = votes.annotator, votes.n_annotators
    lean = np.zeros(n)
    if problem.common_position:
        everybody = np.zeros(votes.n_rows, dtype=np.int64)
        rows = np.flatnonzero(side)
        lean += _fit(problem, apart, side, rows, everybody, np.zeros(1))[0]
    slope, _ = problem.loss.derivatives(apart + lean[who] * side, votes.choice)
    slope *= problem.weight * side
    square = slope**2 / np.maximum(trials_of_rows(votes), _TINY)
    clear = np.bincount(who, slope, n) ** 2 > _MAY_LEAN**2 * np.bincount(who, square, n)
    rows = np.flatnonzero(clear[who] & votes.position_known)
    return _fit(problem, apart, side, rows, who, lean)[who] * side


def _fit(
    problem: Problem,
    offset: Floats,
    times: Floats,
    rows: Ints,
    group: Ints | CodeArray,
    start: Floats,
) -> Floats:
    """A coefficient of `times` for each group of rows beside an offset: Newton's method.

    A tenth of a vote holds it where it starts.
    """
    found, n, which, x = start.copy(), len(start), group[rows], times[rows]
    choice, weight, beside = problem.votes.choice[rows], problem.weight[rows], offset[rows]
    typical = max(float(np.mean(x**2)) if len(rows) else 0.0, _TINY)
    for _ in range(_STEPS if len(rows) else 0):
        slope, bend = problem.loss.derivatives(beside + found[which] * x, choice)
        pull = np.bincount(which, weight * slope * x, n) + 0.1 * typical * (found - start)
        step = pull / (np.bincount(which, weight * bend * x**2, n) + 0.1 * typical)
        longest = _LONGEST_STEP / np.sqrt(typical)
        found -= np.clip(step, -longest, longest)
    return found


class _Slopes(NamedTuple):
    """Sums over each annotator's votes; `own` are the products of votes with themselves.

    With s the common scores, r the score and A the curvature in the items seen: `s'r` and its
    variance, `s'As`.
    """

    score: Floats
    told: Floats
    score_variance: Floats
    own_score: Floats
    own_told: Floats


class _Tastes(NamedTuple):
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


def _slopes(problem: Problem, rows: _Rows) -> _Slopes:
    square_apart = rows.apart * rows.apart
    own_bend = rows.curvature**2 / rows.trials * square_apart
    return _Slopes(
        score=_of_votes(problem, rows.pull * rows.apart),
        told=_of_votes(problem, rows.curvature * square_apart),
        score_variance=_dispersion(rows) * _of_votes(problem, rows.expected * square_apart),
        own_score=_of_votes(problem, rows.square * square_apart),
        own_told=_of_votes(problem, own_bend * square_apart),
    )


def _tastes(problem: Problem, rows: _Rows) -> _Tastes:
    score, bend, along = _by_item(problem, rows.pull, rows.curvature, rows.curvature * rows.apart)
    seen = np.repeat(np.arange(problem.votes.n_annotators), np.diff(problem.design.seen))
    own_bend = rows.curvature**2 / rows.trials

    def of_items(values: Floats) -> Floats:
        return np.asarray(np.bincount(seen, values, problem.votes.n_annotators), dtype=np.float64)

    return _Tastes(
        taste=of_items(score**2),
        across=of_items(score * along),
        touched=of_items(along**2),
        trace=of_items(bend),
        size=of_items(bend**2) + 2.0 * _of_votes(problem, rows.curvature**2),
        taste_variance=_dispersion(rows) * 2.0 * _of_votes(problem, rows.expected),
        own_taste=2.0 * _of_votes(problem, rows.square),
        own_touched=2.0 * _of_votes(problem, own_bend * rows.apart**2),
        own_size=4.0 * _of_votes(problem, own_bend),
    )


def _of_votes(problem: Problem, values: Floats) -> Floats:
    """Sum over each annotator's votes."""
    votes = problem.votes
    return np.asarray(np.bincount(votes.annotator, values, votes.n_annotators), dtype=np.float64)


def _dispersion(rows: _Rows) -> float:
    """Variance of a vote's pull over its curvature: 1 where the loss is a likelihood."""
    return float(rows.square.sum() / max(float(rows.expected.sum()), _TINY))


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


def _variance_of_slopes(
    slopes: _Slopes, tastes: _Tastes | None, tested: BoolArray
) -> tuple[float, float]:
    """Variance of slopes, beside that of tastes if these are given, and the p-value of none."""
    of = _Slopes(*(part[tested] for part in slopes))
    weight = (of.told + of.told.mean()) ** -2.0  # the busiest count, and do not decide alone
    excess = of.score**2 - of.own_score
    signal = of.told**2 - of.own_told
    if tastes is not None:
        beside = _Tastes(*(part[tested] for part in tastes))
        both, size = beside.touched - beside.own_touched, beside.size - beside.own_size
        a_taste = max(float(weight @ both), 0.0) / max(float(weight @ size), _TINY)
        excess -= a_taste * (beside.taste - beside.own_taste)
        signal -= a_taste * both
    each, expected = weight * excess, float(weight @ signal)
    if expected <= 0.0:
        return 0.0, 1.0
    z = each.sum() / max(float(np.sqrt((each**2).sum())), _TINY)
    return max(float(each.sum()) / expected, 0.0), float(norm.sf(z))


def _who_is_unlike(problem: Problem, rows: _Rows, found: _Slopes, tested: BoolArray) -> BoolArray:
    """Whose slope is far from 1, beyond chance and beyond what a taste of theirs would do."""
    told = np.maximum(found.told, _LEAST_TOLD)
    # The scores were fitted to these votes: their own share of a common slope is taken out.
    variance = found.score_variance * (1.0 - told / told.sum())
    t = np.abs(found.score) / np.sqrt(np.maximum(variance, _TINY))
    p: Floats = np.where(np.abs(found.score / told) > _FAR, 2.0 * norm.sf(t), 1.0)
    candidate = _at_rate(p, tested)
    if not candidate.any():  # allowing for tastes only makes p-values larger
        return candidate
    beyond, freedom = _beyond_slopes(problem, rows, candidate)
    p = np.where(candidate, 2.0 * student.sf(t / np.sqrt(beyond), freedom), p)
    return _at_rate(p, tested)


def _at_rate(p: Floats, tested: BoolArray) -> BoolArray:
    """Which of those tested are named at the rate of false discoveries."""
    named = np.zeros_like(tested)
    named[tested] = false_discovery_control(p[tested]) < _RATE
    return named


def _beyond_slopes(problem: Problem, rows: _Rows, who: BoolArray) -> tuple[Floats, Floats]:
    """How much more than by chance scores vary in directions that are no slope, and how many.

    At the slope that fits these annotators best: far from 1 a slope bends the scores.
    """
    of_row = problem.votes.annotator
    chosen = np.flatnonzero(who[of_row])
    slope = _fit(problem, rows.lean, rows.apart, chosen, of_row, np.ones(len(who)))
    again = _rows_at(problem, rows.apart, rows.lean, slope[of_row])
    along, of = _slopes(problem, again), _tastes(problem, again)
    told = np.maximum(along.told, _LEAST_TOLD)
    part = along.score / told
    rest = of.taste - 2.0 * part * of.across + part**2 * of.touched
    expected = of.taste_variance - along.score_variance * of.touched / told**2
    beyond = np.maximum(rest / np.maximum(expected, 1e-9 * of.taste_variance + _TINY), 1.0)
    left = of.trace - of.touched / told
    freedom = left**2 / np.maximum(of.size - (of.touched / told) ** 2, 1e-9 * of.size + _TINY)
    return beyond, np.maximum(freedom, 1.0)
