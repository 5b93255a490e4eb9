"""Tail probabilities of sums of independent two-valued terms, without random numbers.

A score statistic of one annotator is such a sum: every vote adds one of two values. Few votes
are added up over all outcomes, many by a saddlepoint, which keeps its relative accuracy far out
in the tail where a normal approximation does not.
"""

from __future__ import annotations

import math

import numpy as np

from prefpath.compiling import inner_kernel
from prefpath.diagnose.exponentials import Room, exponentials
from prefpath.model.design import Floats
from prefpath.model.loops import negate

EXACT_UP_TO = 10  # votes whose 2^10 outcomes are added up
_MOST_OUTCOMES = 2**EXACT_UP_TO
MOST_STEPS = 40
MIDDLE = 1.0  # in standard deviations: within, the two-sided p-value is as good as normal
ROUNDING = 1e-9
FARTHEST = 700.0  # exp overflows beyond
FACTOR, LARGE = 200.0, 1e100  # exp of the one can be multiplied with the other, and divided


@inner_kernel(allocates=False)
def upper_normal(z: float) -> float:
    """Probability that a standard normal exceeds z."""
    return 0.5 * math.erfc(z * 0.7071067811865476)


@inner_kernel()
def two_sided_p(
    step: Floats, trials: Floats, p: Floats, extra: float, observed: float, room: Room
) -> float:
    """P-value of `observed` for `sum step (wins - trials p)` plus a normal of variance `extra`.

    The probability that the sum is as far from its mean, on either side. `wins` are binomial.
    """
    beyond, n_votes = abs(observed), 0.0
    for n in trials:
        n_votes += n
    if extra == 0.0 and n_votes <= EXACT_UP_TO:
        return _by_outcomes(step, trials, p, beyond)
    variance, smallest = extra, np.inf
    for c in range(len(p)):
        variance += trials[c] * step[c] * step[c] * p[c] * (1.0 - p[c])
        if step[c] != 0.0:
            smallest = min(smallest, abs(step[c]))
    if variance <= 0.0:
        return 1.0
    if extra == 0.0:  # half a step: on a lattice the observed value itself is in the tail
        beyond = max(beyond - 0.5 * smallest, 0.0)
    if beyond <= MIDDLE * math.sqrt(variance):
        return 2.0 * upper_normal(beyond / math.sqrt(variance))
    span = smallest if extra == 0.0 else 0.0
    above = _tail_by_saddlepoint(step, trials, p, extra, beyond, span, variance, room)
    negate(step, step)
    below = _tail_by_saddlepoint(step, trials, p, extra, beyond, span, variance, room)
    negate(step, step)
    return min(1.0, above + below)


@inner_kernel()
def _by_outcomes(step: Floats, trials: Floats, p: Floats, beyond: float) -> float:
    """Every outcome of a few votes, one vote after another."""
    total, chance = np.empty(_MOST_OUTCOMES), np.empty(_MOST_OUTCOMES)
    total[0], chance[0], n = 0.0, 1.0, 1
    for c in range(len(p)):
        for _ in range(int(trials[c])):
            won, lost = step[c] * (1.0 - p[c]), -step[c] * p[c]
            for k in range(n):
                total[n + k], chance[n + k] = total[k] + lost, chance[k] * (1.0 - p[c])
                total[k], chance[k] = total[k] + won, chance[k] * p[c]
            n *= 2
    tail = 0.0
    for k in range(n):
        if abs(total[k]) >= beyond - ROUNDING * (1.0 + beyond):
            tail += chance[k]
    return min(tail, 1.0)


@inner_kernel(allocates=False)
def _tail_by_saddlepoint(
    step: Floats,
    trials: Floats,
    p: Floats,
    extra: float,
    beyond: float,
    span: float,
    variance: float,
    room: Room,
) -> float:
    """Lugannani and Rice's formula for the upper tail, with Daniels's correction for a lattice."""
    farthest, log_chance = _most_extreme(step, trials, p)
    if extra == 0.0 and beyond >= farthest * (1.0 - 1e-6):
        return math.exp(log_chance) if beyond <= farthest * (1.0 + ROUNDING) else 0.0
    s, curvature = _tilt_to(step, trials, p, extra, beyond, variance, room)
    depth = 2.0 * (s * beyond - 0.5 * extra * s * s - _cumulant(step, trials, p, s, room))
    if not depth > 0.0 or not curvature > 0.0:
        return 0.5
    on_lattice = 2.0 * math.sinh(min(0.5 * s * span, 300.0)) / span if s * span > 1e-6 else s
    w, u = math.sqrt(depth), on_lattice * math.sqrt(curvature)
    tail = upper_normal(w) + 0.3989422804014327 * math.exp(-0.5 * depth) * (1.0 / u - 1.0 / w)
    floor = math.exp(log_chance) if extra == 0.0 else 0.0
    return max(min(tail, 1.0), floor)


@inner_kernel(allocates=False)
def _cumulant(step: Floats, trials: Floats, p: Floats, s: float, room: Room) -> float:
    """Logarithm of the mean of `exp(s (sum - its mean))`.

    Of single votes, one logarithm of the product of many.
    """
    total, product, exp = 0.0, 1.0, room.value
    for c in range(len(p)):
        exp[c] = max(min(s * step[c], FARTHEST), -FARTHEST)
        total -= trials[c] * exp[c] * p[c]
    exponentials(room, len(p))
    for c in range(len(p)):
        grown = 1.0 - p[c] + p[c] * exp[c]
        if trials[c] != 1.0 or abs(s * step[c]) > FACTOR:
            total += trials[c] * math.log(grown)
            continue
        product *= grown
        if not 1.0 / LARGE < product < LARGE:
            total += math.log(product)
            product = 1.0
    return total + math.log(product)


@inner_kernel(allocates=False)
def _most_extreme(step: Floats, trials: Floats, p: Floats) -> tuple[float, float]:
    """The largest value the sum can take, and the log of its probability."""
    farthest, log_chance, product = 0.0, 0.0, 1.0
    for c in range(len(p)):
        if step[c] == 0.0:
            continue
        chance = p[c] if step[c] > 0.0 else 1.0 - p[c]
        farthest += trials[c] * abs(step[c]) * (1.0 - chance)
        if trials[c] != 1.0 or chance * LARGE < 1.0:
            log_chance += trials[c] * math.log(max(chance, 1e-300))
            continue
        product *= chance
        if product * LARGE < 1.0:
            log_chance += math.log(product)
            product = 1.0
    return farthest, log_chance + math.log(product)


@inner_kernel(allocates=False)
def _tilt_to(
    step: Floats,
    trials: Floats,
    p: Floats,
    extra: float,
    beyond: float,
    variance: float,
    room: Room,
) -> tuple[float, float]:
    """The tilt s whose mean is `beyond`, and the variance there: Newton within a bracket.

    The first step is from no tilt, where the mean is 0 and the variance is known.
    """
    low, high, s = 0.0, np.inf, beyond / max(variance, 1e-300)
    curvature = variance
    if s <= 1e-8:
        return 0.0, variance
    for _ in range(MOST_STEPS - 1):
        mean, curvature = _tilted(step, trials, p, s, room)
        mean, curvature = mean + extra * s, curvature + extra
        if mean < beyond:
            low = s
        else:
            high = s
        move = (beyond - mean) / max(curvature, 1e-300)
        if abs(move) <= 1e-8 * (1.0 + s):
            break
        s = s + move
        if not low < s < high:
            s = 0.5 * (low + high) if high < np.inf else 2.0 * low + 1.0
    return s, curvature


@inner_kernel(allocates=False, fastmath={"reassoc", "contract"})
def _tilted(step: Floats, trials: Floats, p: Floats, s: float, room: Room) -> tuple[float, float]:
    """Mean and variance of the sum where each outcome is `exp(s step)` times as probable."""
    exp = room.value
    for c in range(len(p)):
        exp[c] = min(s * step[c], FARTHEST)
    exponentials(room, len(p))
    mean, variance = 0.0, 0.0
    for c in range(len(p)):
        x, grown = step[c], p[c] * exp[c]
        tilted = grown / (1.0 - p[c] + grown)
        mean += trials[c] * x * (tilted - p[c])
        variance += trials[c] * x * x * tilted * (1.0 - tilted)
    return mean, variance
