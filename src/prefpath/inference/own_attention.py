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

from prefpath.distributions import normal_tail, student_tail
from prefpath.fitted.follow import check_switch
from prefpath.inference.slope_sums import (
    LEAST_TOLD,
    TINY,
    Slopes,
    SlopesHere,
    SlopeVotes,
    Tastes,
    at_pooled_scores,
)
from prefpath.model.design import Floats
from prefpath.model.losses import Loss
from prefpath.model.problem import Problem
from prefpath.solver.work import Common
from prefpath.votes.encode import BoolArray

LEVEL = 0.005
_RATE = 0.02  # of false discoveries among those named
_FAR = 0.5  # of a slope from 1: nearer ones hardly move a ranking
_LEAST_SHARE = 0.01  # of all votes: fewer cannot move it
_CLEAR = 2.0  # standard errors by which a taste is more than chance
_LEAST_VARIANCE = 0.04  # of slopes: a standard deviation of a fifth


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
    votes = SlopesHere(problem, at_pooled_scores(problem))
    return attention_in(votes, problem.loss)


def attention_in(votes: SlopeVotes, loss: Loss) -> UnequalAttention:
    """The same of votes that are here or elsewhere."""
    slopes = votes.slopes()
    tested = slopes.told > 1e-9 * slopes.told.sum()
    if np.count_nonzero(tested) < 2:
        return UnequalAttention(0.0, 1.0, np.zeros_like(tested), 0.0)
    variance, p_variance = _variance_of_slopes(slopes, None, tested)
    if p_variance < LEVEL and variance > _LEAST_VARIANCE:  # tastes may explain it
        tastes = votes.tastes()
        flat = flattened(_beyond_slopes(slopes, tastes).least_variance, loss)
        unexplained = slopes._replace(score=_beyond_flattening(slopes, flat))
        variance, p_variance = _variance_of_slopes(unexplained, tastes, tested)
    named = _who_is_unlike(votes, slopes, tested, loss)
    weight = votes.weight
    return UnequalAttention(variance, p_variance, named, float(weight[named].sum() / weight.sum()))


def _variance_of_slopes(
    slopes: Slopes, tastes: Tastes | None, tested: BoolArray
) -> tuple[float, float]:
    """Variance of slopes, beside that of tastes if these are given, and the p-value of none."""
    of = Slopes(*(part[tested] for part in slopes))
    weight = (of.told + of.told.mean()) ** -2.0  # the busiest count, and do not decide alone
    excess = of.score**2 - of.own_score
    signal = of.told**2 - of.own_told
    if tastes is not None:
        beside = Tastes(*(part[tested] for part in tastes))
        both, size = beside.touched - beside.own_touched, beside.size - beside.own_size
        a_taste = max(float(weight @ both), 0.0) / max(float(weight @ size), TINY)
        excess -= a_taste * (beside.taste - beside.own_taste)
        signal -= a_taste * both
    each, expected = weight * excess, float(weight @ signal)
    if expected <= 0.0:
        return 0.0, 1.0
    z = each.sum() / max(float(np.sqrt((each**2).sum())), TINY)
    return max(float(each.sum()) / expected, 0.0), float(normal_tail(z))


def _who_is_unlike(votes: SlopeVotes, found: Slopes, tested: BoolArray, loss: Loss) -> BoolArray:
    """Whose slope is far from 1, beyond chance and beyond what a taste of theirs would do."""
    told = np.maximum(found.told, LEAST_TOLD)
    # The scores were fitted to these votes: their own share of a common slope is taken out.
    variance = found.score_variance * (1.0 - told / told.sum())
    t = np.abs(found.score) / np.sqrt(np.maximum(variance, TINY))
    p: Floats = np.where(np.abs(found.score / told) > _FAR, 2.0 * normal_tail(t), 1.0)
    candidate = _at_rate(p, tested)
    if not candidate.any():  # allowing for tastes only makes p-values larger
        return candidate
    beyond = _beyond_slopes(*votes.refitted(candidate))
    unexplained = _beyond_flattening(found, flattened(beyond.least_variance, loss))
    t = np.abs(unexplained) / np.sqrt(np.maximum(variance * beyond.factor, TINY))
    p = np.where(candidate, 2.0 * student_tail(t, beyond.freedom), p)
    return _at_rate(p, tested)


def _at_rate(p: Floats, tested: BoolArray) -> BoolArray:
    """Which of those tested are named at the rate of false discoveries (Benjamini, Hochberg)."""
    named = np.zeros_like(tested)
    order = np.flatnonzero(tested)[np.argsort(p[tested], kind="stable")]
    below = np.flatnonzero(p[order] * len(order) < _RATE * np.arange(1, len(order) + 1))
    named[order[: below[-1] + 1 if len(below) else 0]] = True
    return named


class _Beyond(NamedTuple):
    """How scores vary in directions that are no slope.

    `factor` times what chance makes, in `freedom` directions; `least_variance` is that of a
    taste, by item, as far as it is clear.
    """

    factor: Floats
    freedom: Floats
    least_variance: Floats


def _beyond_slopes(along: Slopes, of: Tastes) -> _Beyond:
    told = np.maximum(along.told, LEAST_TOLD)
    part = along.score / told
    rest = of.taste - 2.0 * part * of.across + part**2 * of.touched
    expected = of.taste_variance - along.score_variance * of.touched / told**2
    expected = np.maximum(expected, 1e-9 * of.taste_variance + TINY)
    left = of.trace - of.touched / told
    size = np.maximum(of.size - (of.touched / told) ** 2, 1e-9 * of.size + TINY)
    freedom = np.maximum(left**2 / size, 1.0)
    by_chance = expected * (1.0 + _CLEAR * np.sqrt(2.0 / freedom))
    variance = np.maximum(rest - by_chance, 0.0) / size
    return _Beyond(np.maximum(rest / expected, 1.0), freedom, variance)


def flattened(taste_variance: Floats, loss: Loss) -> Floats:
    """The slope at which somebody of a taste seems to see the common scores, who sees them all.

    Their margins are the common ones plus a taste of variance v, and a mean of probabilities
    over it is less steep than a probability: `Phi(m)` becomes `Phi(m / sqrt(1 + v))`. What was
    measured of v was flattened, too: `E (2 Phi - 1)^2 = (2 / pi) asin(v / (1 + v))`. The logistic
    curve is a normal one but for its scale, and the scale is not needed.
    """
    bend = float(loss.curvature(np.zeros(1), np.zeros(1))[0])
    seen = np.clip(2.0 * bend * taste_variance, 0.0, 1.0)
    return np.asarray(np.sqrt(1.0 - np.sin(0.5 * np.pi * seen)), dtype=np.float64)


def _beyond_flattening(slopes: Slopes, flat: Floats) -> Floats:
    """Scores for a slope, less what a taste does to them: up to that they say nothing."""
    below: Floats = np.minimum(slopes.score + slopes.told * (1.0 - flat), 0.0)
    return np.where(slopes.score < 0.0, below, slopes.score)
