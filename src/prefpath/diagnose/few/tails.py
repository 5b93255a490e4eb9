"""`tails.two_sided_p` of many sums at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import erfc

from prefpath.diagnose.few.rows import Rows
from prefpath.diagnose.tails import EXACT_UP_TO, FARTHEST, MIDDLE, MOST_STEPS, ROUNDING
from prefpath.model.design import Floats
from prefpath.votes.encode import BoolArray

_PEOPLE_AT_ONCE = 128  # whose outcomes are added up: a megabyte of them


@dataclass(frozen=True, eq=False)
class Terms(Rows):
    """Terms of sums: what a win adds, how many there can be, and how probable one is."""

    step: Floats
    trials: Floats
    p: Floats


def upper_normals(z: Floats) -> Floats:
    """Probability that a standard normal exceeds z."""
    result: Floats = 0.5 * erfc(z * 0.7071067811865476)
    return result


def two_sided_ps(terms: Terms, extra: Floats, observed: Floats) -> Floats:
    """P-value of each sum of `step (wins - trials p)` plus a normal of variance `extra`."""
    beyond, step = np.abs(observed), terms.step
    variance = extra + terms.total(terms.trials * step * step * terms.p * (1.0 - terms.p))
    smallest = np.full(terms.n, np.inf)
    moves = step != 0.0
    np.minimum.at(smallest, terms.owner[moves], np.abs(step[moves]))
    outcomes = (extra == 0.0) & (terms.total(terms.trials) <= EXACT_UP_TO)
    # Half a step: on a lattice the observed value itself is in the tail.
    nearer = np.where(extra == 0.0, np.fmax(beyond - 0.5 * smallest, 0.0), beyond)
    deviation = np.sqrt(variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(variance > 0.0, 2.0 * upper_normals(nearer / deviation), 1.0)
    p[outcomes] = _by_outcomes(terms.of(outcomes), beyond[outcomes])
    far = ~outcomes & (variance > 0.0) & ~(nearer <= MIDDLE * deviation)
    span = np.where(extra == 0.0, smallest, 0.0)
    p[far] = _both_tails(terms.of(far), extra[far], nearer[far], span[far])
    return p


def _both_tails(terms: Terms, extra: Floats, beyond: Floats, span: Floats) -> Floats:
    turned = Terms(terms.n, terms.owner, -terms.step, terms.trials, terms.p)
    above, below = (_upper_tails(each, extra, beyond, span) for each in (terms, turned))
    return np.fmin(1.0, above + below)


def _by_outcomes(terms: Terms, beyond: Floats) -> Floats:
    """Every outcome of a few votes: whoever has fewer than others has votes that are sure."""
    owner = np.repeat(terms.owner, terms.trials.astype(np.int64))
    step, p = (np.repeat(each, terms.trials.astype(np.int64)) for each in (terms.step, terms.p))
    votes = np.bincount(owner, minlength=terms.n)
    most = int(votes.max(initial=0))
    at = np.arange(len(owner)) - (np.cumsum(votes) - votes)[owner]
    steps, chances = np.zeros((terms.n, most)), np.ones((terms.n, most))
    steps[owner, at], chances[owner, at] = step, p
    return np.concatenate(
        [np.zeros(0)]
        + [
            _tail_of_outcomes(steps[k : k + _PEOPLE_AT_ONCE], chances[k : k + _PEOPLE_AT_ONCE], far)
            for k in range(0, terms.n, _PEOPLE_AT_ONCE)
            for far in (beyond[k : k + _PEOPLE_AT_ONCE, None],)
        ]
    )


def _tail_of_outcomes(step: Floats, p: Floats, beyond: Floats) -> Floats:
    """Of people, rows, whose votes are columns."""
    total, chance = np.zeros((len(step), 1)), np.ones((len(step), 1))
    for x, q in zip(step.T[:, :, None], p.T[:, :, None], strict=True):
        total = np.concatenate((total + x * (1.0 - q), total - x * q), axis=1)
        chance = np.concatenate((chance * q, chance * (1.0 - q)), axis=1)
    reaches = np.abs(total) >= beyond - ROUNDING * (1.0 + beyond)
    return np.fmin((chance * reaches).sum(axis=1), 1.0)


def _upper_tails(terms: Terms, extra: Floats, beyond: Floats, span: Floats) -> Floats:
    """Lugannani and Rice's formula for the upper tail, with Daniels's correction for a lattice."""
    farthest, log_chance = _most_extreme(terms)
    exact = extra == 0.0
    at_the_end = exact & (beyond >= farthest * (1.0 - 1e-6))
    end = np.where(beyond <= farthest * (1.0 + ROUNDING), np.exp(log_chance), 0.0)
    floor = np.where(exact, np.exp(log_chance), 0.0)
    result, inside = end, ~at_the_end
    result[inside] = _saddlepoint(
        terms.of(inside), extra[inside], beyond[inside], span[inside], floor[inside]
    )
    return result


def _saddlepoint(
    terms: Terms, extra: Floats, beyond: Floats, span: Floats, floor: Floats
) -> Floats:
    s, curvature = _tilts_to(terms, extra, beyond)
    at = np.clip(s[terms.owner] * terms.step, -FARTHEST, FARTHEST)
    each = terms.trials * (np.log1p(terms.p * np.expm1(at)) - at * terms.p)
    depth = 2.0 * (s * beyond - (0.5 * extra * s * s + terms.total(each)))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        sinh = 2.0 * np.sinh(np.fmin(0.5 * s * span, 300.0)) / span
        w, u = np.sqrt(depth), np.where(s * span > 1e-6, sinh, s) * np.sqrt(curvature)
        density = 0.3989422804014327 * np.exp(-0.5 * depth)
        tail = upper_normals(w) + density * (1.0 / u - 1.0 / w)
    return np.where((depth > 0.0) & (curvature > 0.0), np.fmax(np.fmin(tail, 1.0), floor), 0.5)


def _most_extreme(terms: Terms) -> tuple[Floats, Floats]:
    """The largest value each sum can take, and the log of its probability."""
    moves = terms.step != 0.0
    chance = np.where(terms.step > 0.0, terms.p, 1.0 - terms.p)
    farthest = terms.total(terms.trials * np.abs(terms.step) * (1.0 - chance))
    log_chance = np.where(moves, np.log(np.fmax(chance, 1e-300)), 0.0)
    return farthest, terms.total(terms.trials * log_chance)


def _tilts_to(terms: Terms, extra: Floats, beyond: Floats) -> tuple[Floats, Floats]:
    """The tilt s whose mean is `beyond`, and the variance there: Newton within a bracket."""
    s, curvature = np.zeros(terms.n), np.zeros(terms.n)
    low, high, going = np.zeros(terms.n), np.full(terms.n, np.inf), np.arange(terms.n)
    for _ in range(MOST_STEPS):
        now = s[going]
        mean, variance = _tilted_moments(terms, extra[going], now)
        curvature[going], below = variance, mean < beyond[going]
        low[going], high[going] = (
            np.where(below, now, low[going]),
            np.where(below, high[going], now),
        )
        move = (beyond[going] - mean) / np.fmax(variance, 1e-300)
        unsettled: BoolArray = ~(np.abs(move) <= 1e-8 * (1.0 + now))
        s[going] = np.where(unsettled, _bracketed(now + move, low[going], high[going]), now)
        if not unsettled.any():
            break
        terms, going = terms.of(unsettled), going[unsettled]
    return s, curvature


def _bracketed(s: Floats, low: Floats, high: Floats) -> Floats:
    inside = (low < s) & (s < high)
    middle = np.where(high < np.inf, 0.5 * (low + high), 2.0 * low + 1.0)
    return np.where(inside, s, middle)


def _tilted_moments(terms: Terms, extra: Floats, s: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of each sum, tilted by s."""
    x, p = terms.step, terms.p
    grown = p * np.exp(np.fmin(s[terms.owner] * x, FARTHEST))
    tilted = grown / (1.0 - p + grown)
    mean = extra * s + terms.total(terms.trials * x * (tilted - p))
    return mean, extra + terms.total(terms.trials * x * x * tilted * (1.0 - tilted))
