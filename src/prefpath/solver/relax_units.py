"""Exponential steps of the active annotators: each block and each scalar by its own rate.

Of a block W is `rate * (along + shrink * across)`: along and across its direction at the start of
the step, `shrink = 1 - threshold / norm` being what a group penalty leaves of a turn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prefpath.compiling import by_reference, inner_kernel, kernel
from prefpath.model.design import Floats
from prefpath.model.penalties import dual_norm, soft_threshold, soft_thresholds
from prefpath.solver.active import Active
from prefpath.solver.arguments import ATTENTION, DEVIATION, FIRST_SCALAR, Terms
from prefpath.solver.curvature import FAR, Rates
from prefpath.solver.interpolation import Ends
from prefpath.solver.relaxation import bending, phi1, phi2, relaxed

# Blocks slower than this over a step are not stiff.
_STIFF = 1.0
# What counts of an attention's error: its rate is taken again at every step, and the next takes
# back most of what a step got wrong. (A fifth is too little: common scores within a step suffer.)
_OF_ATTENTION = 0.4
# What one evaluation may raise the rate of an attention by, as a share of it.
_MOST_LEARNT = 1.0


@by_reference
class Point(NamedTuple):
    """A state and the slope there."""

    y: Floats
    f: Floats


@by_reference
class Points(NamedTuple):
    """Where the last step began, where this one does, its last guess and its end."""

    old: Point
    now: Point
    guess: Point
    then: Point


@kernel(allocates=False)
def relax_units(
    out: Floats, now: Point, end: Point, active: Active, terms: Terms, rates: Rates, h: float
) -> None:
    """The active annotators after a step of length h whose force ends as that at `end`."""
    who, at, threshold = active.who, active.at, terms.threshold
    y, f, end_f = now.y, now.f, end.f
    n_scalars = threshold.shape[1] - FIRST_SCALAR
    for index in range(len(who)):
        u, start, stop = who[index], at[index], at[index + 1] - n_scalars
        shrink = _shrink(terms, y, start, stop, threshold[u, DEVIATION])
        if shrink > 0.0 and h * rates.block[index] > _STIFF:
            _relax_block(out, now, end, start, stop, rates.block[index], shrink, h)
        else:
            for k in range(start, stop):
                out[k] = y[k] + 0.5 * h * (f[k] + end_f[k])
        for k in range(n_scalars):
            place, rate, most = stop + k, rates.scalar[index, k], threshold[u, FIRST_SCALAR + k]
            force = _force(y, f, place, rate, most)
            growth = (_force(end.y, end_f, place, rate, most) - force) / h
            out[place] = relaxed(y[place], force, growth, rate, most, h)


@inner_kernel(allocates=False)
def _shrink(terms: Terms, y: Floats, start: int, stop: int, threshold: float) -> float:
    norm = dual_norm(terms.penalty, y, start, stop)
    return 1.0 - threshold / norm if norm > threshold else 0.0


@inner_kernel(allocates=False)
def _relax_block(
    out: Floats,
    now: Point,
    end: Point,
    start: int,
    stop: int,
    rate: float,
    shrink: float,
    h: float,
) -> None:
    """A stiff block, along and across its direction."""
    y, f, end_y, end_f = now.y, now.f, end.y, end.f
    square, slope, turn, moved = 0.0, 0.0, 0.0, 0.0
    for k in range(start, stop):
        square += y[k] * y[k]
        slope += y[k] * f[k]
        turn += y[k] * (end_f[k] - f[k])
        moved += y[k] * (end_y[k] - y[k])
    slope, turn, moved = slope / square, turn / square, moved / square
    across, along = h * rate * shrink, h * rate
    step1, step2 = h * phi1(across), h * phi2(across)
    radial = h * phi1(along) * slope + h * phi2(along) * (turn + rate * moved)
    for k in range(start, stop):
        force = (end_f[k] - f[k] - y[k] * turn) + rate * shrink * (end_y[k] - y[k] - y[k] * moved)
        out[k] = y[k] + y[k] * radial + step1 * (f[k] - y[k] * slope) + step2 * force


@kernel(allocates=False)
def go_on(
    point: Point, old: Point, now: Point, active: Active, terms: Terms, rates: Rates, ratio: float
) -> None:
    """Change the force on the active annotators at a point by `ratio` times that from old to now.

    A scalar stays where it is there and its slope has all of the change: the force must not know
    of corners to come.
    """
    who, at, (old_y, old_f), (now_y, now_f), (y, f) = active.who, active.at, old, now, point
    n_scalars = rates.scalar.shape[1]
    for index in range(len(who)):
        u, start, stop = who[index], at[index], at[index + 1] - n_scalars
        for k in range(start, stop):
            y[k] += ratio * (now_y[k] - old_y[k])
            f[k] += ratio * (now_f[k] - old_f[k])
        for k in range(n_scalars):
            rate, most = rates.scalar[index, k], terms.threshold[u, FIRST_SCALAR + k]
            before = _force(old_y, old_f, stop + k, rate, most)
            f[stop + k] += ratio * (_force(now_y, now_f, stop + k, rate, most) - before)


def learn_attentions(
    rates: Rates, now: Point, straight: Point, guess: Point, active: Active, terms: Terms
) -> Rates:
    """Rates, those of attentions that move far raised to what a step's first evaluation shows.

    An attention moves the margins of all its votes, and so the curvatures that its rate is made of:
    where somebody contrary enters, their votes are first surely wrong, then open, and the rate
    grows severalfold within the step. What the force came out below the one foreseen is taken for
    that.
    """
    n, n_scalars = rates.scalar.shape
    if n_scalars <= ATTENTION - FIRST_SCALAR:
        return rates
    at = active.at[1 : n + 1] - (n_scalars - (ATTENTION - FIRST_SCALAR))
    rate, most = rates.scalar[:, ATTENTION - FIRST_SCALAR], terms.threshold[active.who, ATTENTION]
    value = soft_thresholds(guess.y[at], most)
    moved = value - soft_thresholds(now.y[at], most)
    missing = straight.f[at] - guess.f[at] - rate * moved
    far = terms.kappa * np.abs(moved) > FAR
    shown = np.divide(missing, moved, out=np.zeros(n), where=far)
    scalar = rates.scalar.copy()  # the last step, and a state that was kept, have the old ones
    scalar[:, ATTENTION - FIRST_SCALAR] += np.clip(shown, 0.0, _MOST_LEARNT * rate)
    return Rates(scalar, rates.block)


@kernel(allocates=False)
def bend_units(
    out: Floats,
    points: Points,
    active: Active,
    terms: Terms,
    rates: Rates,
    before: float,
    h: float,
) -> None:
    """Add to a step what a force that bends as over two steps does beyond a straight one."""
    (old, now, _, then), n_scalars, threshold = points, rates.scalar.shape[1], terms.threshold
    share, ratio = h * h / (h + before), h / before
    for index in range(len(active.who)):
        u, start, stop = active.who[index], active.at[index], active.at[index + 1] - n_scalars
        shrink = _shrink(terms, now.y, start, stop, threshold[u, DEVIATION])
        rate = shrink * rates.block[index] if h * rates.block[index] > _STIFF else 0.0
        factor = share * bending(h * rate)
        for k in range(start, stop):
            bent = then.f[k] - now.f[k] + rate * (then.y[k] - now.y[k])
            bent -= ratio * (now.f[k] - old.f[k] + rate * (now.y[k] - old.y[k]))
            out[k] += factor * bent
        for k in range(n_scalars):
            at, rate, most = stop + k, rates.scalar[index, k], threshold[u, FIRST_SCALAR + k]
            force = _force(now.y, now.f, at, rate, most)
            bent = _force(then.y, then.f, at, rate, most) - force
            bent -= ratio * (force - _force(old.y, old.f, at, rate, most))
            x = h * rate if abs(out[at]) > most else 0.0
            out[at] += share * bending(x) * bent


@kernel(allocates=False)
def unit_errors(
    points: Points, active: Active, terms: Terms, rates: Rates, before: float, h: float
) -> float:
    """Largest local error of z: the last correction, and how the force bends over two steps."""
    who, at, threshold = active.who, active.at, terms.threshold
    bend, ratio = h / (6.0 * (h + before)), h / before
    y, worst, n_scalars = points.now.y, 0.0, threshold.shape[1] - FIRST_SCALAR
    for index in range(len(who)):
        u, start, stop = who[index], at[index], at[index + 1] - n_scalars
        shrink = _shrink(terms, y, start, stop, threshold[u, DEVIATION])
        rate = shrink * rates.block[index] if h * rates.block[index] > _STIFF else 0.0
        worst = max(worst, _block_error(points, start, stop, rate, bend, ratio, h))
        for k in range(n_scalars):
            rate, most = rates.scalar[index, k], threshold[u, FIRST_SCALAR + k]
            error = _scalar_error(points, stop + k, rate, most, bend, ratio, h)
            worst = max(worst, error if k == 0 else _OF_ATTENTION * error)
    return worst


@inner_kernel(allocates=False)
def _scalar_error(
    points: Points,
    at: int,
    rate: float,
    threshold: float,
    bend: float,
    ratio: float,
    h: float,
) -> float:
    (old_y, old_f), (y, f), (guess_y, guess_f), (then_y, then_f) = points
    force, after = _force(y, f, at, rate, threshold), _force(then_y, then_f, at, rate, threshold)
    old = _force(old_y, old_f, at, rate, threshold)
    x = h * rate if abs(then_y[at]) > threshold else 0.0
    correction = abs(after - _force(guess_y, guess_f, at, rate, threshold))
    bent = abs((after - force) - ratio * (force - old))
    return h * (phi2(x) * correction + bend * phi1(x) * bent)


@inner_kernel(allocates=False)
def _block_error(
    points: Points,
    start: int,
    stop: int,
    rate: float,
    bend: float,
    ratio: float,
    h: float,
) -> float:
    (old_y, old_f), (y, f), (guess_y, guess_f), (then_y, then_f) = points
    correct, bent, worst = h * phi2(h * rate), h * bend * phi1(h * rate), 0.0
    for k in range(start, stop):
        correction = then_f[k] - guess_f[k] + rate * (then_y[k] - guess_y[k])
        change = then_f[k] - f[k] + rate * (then_y[k] - y[k])
        change -= ratio * (f[k] - old_f[k] + rate * (y[k] - old_y[k]))
        worst = max(worst, correct * abs(correction) + bent * abs(change))
    return worst


@inner_kernel(allocates=False)
def _force(y: Floats, f: Floats, at: int, rate: float, threshold: float) -> float:
    """What moves a scalar beside its own value."""
    return f[at] + rate * soft_threshold(y[at], threshold)


@kernel(allocates=False)
def relax_scalars(
    y: Floats, ends: Ends, after: float, active: Active, terms: Terms, rates: Rates
) -> None:
    """Put the scalars some time after the beginning of a step that has been made into y."""
    n_scalars = rates.scalar.shape[1]
    for index in range(len(rates.scalar)):
        for k in range(n_scalars):
            at = active.at[index + 1] - n_scalars + k
            rate, most = (
                rates.scalar[index, k],
                terms.threshold[active.who[index], FIRST_SCALAR + k],
            )
            force = _force(ends.y0, ends.f0, at, rate, most)
            growth = (_force(ends.y1, ends.f1, at, rate, most) - force) / ends.length
            y[at] = relaxed(ends.y0[at], force, growth, rate, most, after)


def unbend_scalars(
    y1: Floats, f1: Floats, ends: Ends, active: Active, terms: Terms, rates: Rates
) -> None:
    """Scalars that entered in a step: where they would be, and their slope, without relaxing."""
    n, n_scalars = rates.scalar.shape
    at = active.at[1 : n + 1, np.newaxis] + np.arange(-n_scalars, 0)
    rate, most = rates.scalar, terms.threshold[active.who[:n], FIRST_SCALAR:]
    entered = (np.abs(ends.y0[at]) <= most) & (np.abs(ends.y1[at]) > most)
    at, rate, most = at[entered], rate[entered], most[entered]
    f1[at] = ends.f1[at] + rate * soft_thresholds(ends.y1[at], most)
    before = ends.f0[at] + rate * soft_thresholds(ends.y0[at], most)
    straight = ends.y0[at] + 0.5 * ends.length * (before + f1[at])
    side = np.sign(ends.y1[at])
    y1[at] = side * np.maximum(side * straight, np.abs(ends.y1[at]))
