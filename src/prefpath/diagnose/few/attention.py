"""`attention_kernels.attention_shard` of all annotators at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import erfc

from prefpath.diagnose.attention_kernels import (
    CHI_SQUARE_95,
    CLOSE,
    ESTIMATE,
    FARTHEST,
    FIRST_STEP,
    HIGH,
    LEAN,
    LEAST_DIFFERENCE,
    LONGEST_STEP,
    LOW,
    MOST_STEPS,
    P_VALUE,
    TINY,
    TOLERANCE,
    AttentionAsked,
)
from prefpath.diagnose.attention_likelihood import HALF_VOTE, AttentionCells
from prefpath.diagnose.few.leans import likelihoods, slopes_and_information
from prefpath.diagnose.few.rows import CellRows, Rows, SeenRows, cells_of, on_items
from prefpath.diagnose.few.tails import Terms, two_sided_ps
from prefpath.model.design import Design, Floats, Ints
from prefpath.votes.encode import BoolArray


@dataclass(frozen=True, eq=False)
class SlopeRows(Rows):
    """Comparisons: how far apart, how often won and lost by the left, whether sides are known."""

    difference: Floats
    wins: Floats
    losses: Floats
    side: Floats

    @property
    def trials(self) -> Floats:
        return self.wins + self.losses


class Person(NamedTuple):
    """Of each person: the typical difference seen, whether a lean is fitted, and the lean."""

    typical: Floats
    with_lean: BoolArray
    lean: Floats


def probability_and_slope(margin: Floats, probit: bool) -> tuple[Floats, Floats]:
    """Probability of left and its derivative, as `one_probability` has them."""
    if probit:
        density = 0.3989422804014327 * np.exp(-0.5 * margin * margin)
        return 0.5 * erfc(-0.7071067811865476 * margin), density
    with np.errstate(over="ignore"):
        p = 1.0 / (1.0 + np.exp(-margin))
    return p, p * (1.0 - p)


def attention_of_few(
    who: Ints,
    design: Design,
    cells: AttentionCells,
    variance: Floats,
    asked: AttentionAsked,
    out: Floats,
) -> None:
    """`attention_shard` in NumPy."""
    typical = _typical_differences(_rows(cells_of(who, design)[0], cells))
    told = typical >= LEAST_DIFFERENCE
    who, typical = who[told], typical[told]
    of, seen = cells_of(who, design)
    own, with_lean, lean = (
        _rows(of, cells),
        asked.own_lean[who],
        np.full(len(who), asked.common_lean),
    )
    lean[with_lean] = _best_leans(
        own.of(with_lean), np.ones(int(with_lean.sum())), lean[with_lean], asked.probit
    )
    person = Person(typical, with_lean, lean)
    found = _score_of_slopes(own, person, asked.probit)
    extra = _of_errors(found, of, seen, variance)
    known = found.information > 0.0
    divisor = np.where(known, found.information, 1.0)
    out[who, P_VALUE] = two_sided_ps(found.terms, extra, found.observed)
    out[who, FIRST_STEP] = np.where(known, 1.0 + found.observed / divisor, np.nan)
    out[who, LEAN] = lean
    if asked.interval:
        wider = np.where(known, 1.0 + extra / divisor, 1.0)
        estimates = _estimates(own, person, wider, asked.probit)
        out[who[:, None], [ESTIMATE, LEAN, LOW, HIGH]] = estimates


def _rows(of: CellRows, cells: AttentionCells) -> SlopeRows:
    wins, at = cells.wins[of.cell], of.cell
    side = cells.position[at].astype(np.float64)
    return SlopeRows(of.n, of.owner, cells.difference[at], wins, cells.trials[at] - wins, side)


def _typical_differences(own: SlopeRows) -> Floats:
    """Root mean square of the differences each has seen; 0 where there is none."""
    squares, votes = own.total(own.trials * own.difference**2), own.total(own.trials)
    return np.sqrt(np.divide(squares, votes, out=np.zeros(own.n), where=votes > 0.0))


class _Scores(NamedTuple):
    """Scores in the slope at 1 as sums of terms, their information, and derivatives of terms."""

    terms: Terms
    slope: Floats
    observed: Floats
    information: Floats


def _score_of_slopes(own: SlopeRows, person: Person, probit: bool) -> _Scores:
    """Scores in the slope at 1, the part a lean explains taken out."""
    p, slope = probability_and_slope(own.difference + own.side * person.lean[own.owner], probit)
    weight = own.side * own.trials * slope
    leaning, shared = own.total(weight), own.total(weight * own.difference)
    fitted = person.with_lean & (leaning > 0.0)
    centre = np.where(fitted, shared / np.where(fitted, leaning, 1.0), 0.0)
    scatter = np.fmax(p * (1.0 - p), 1e-12)
    step = (own.difference - own.side * centre[own.owner]) * slope / scatter
    observed = own.total(step * (own.wins - own.trials * p))
    information = own.total(own.trials * step * step * scatter)
    return _Scores(Terms(own.n, own.owner, step, own.trials, p), slope, observed, information)


def _of_errors(found: _Scores, cells: CellRows, seen: SeenRows, variance: Floats) -> Floats:
    """The variance that errors of the common scores add; 0 where it is next to nothing."""
    pushed = found.terms.trials * found.terms.step * found.slope
    moved = on_items(cells, pushed, len(seen.seen))
    extra = seen.total(moved * moved * variance[seen.seen])
    return np.where(extra > 1e-3 * found.information, extra, 0.0)


def _derivatives(
    own: SlopeRows, slope: Floats, lean: Floats, typical: Floats, probit: bool
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Of the penalised log-likelihood: in slope, in lean; information, the three of them."""
    half = np.full(own.n, HALF_VOTE)
    of_slope, at_slope = slopes_and_information(slope * typical, half, half, probit)
    of_lean, at_lean = slopes_and_information(lean, half, half, probit)
    d = own.difference
    margin = slope[own.owner] * d + own.side * lean[own.owner]
    gradient, information = slopes_and_information(margin, own.wins, own.losses, probit)
    return (
        typical * of_slope + own.total(d * gradient),
        of_lean + own.total(own.side * gradient),
        typical * typical * at_slope + own.total(d * d * information),
        own.total(own.side * d * information),
        at_lean + own.total(own.side * information),
    )


def _likelihood_and_gradient(
    own: SlopeRows, slope: Floats, lean: Floats, typical: Floats, probit: bool
) -> tuple[Floats, Floats]:
    """Penalised log-likelihood, and its derivative in the slope."""
    half = np.full(own.n, HALF_VOTE)
    margin = slope[own.owner] * own.difference + own.side * lean[own.owner]
    if probit:
        each = likelihoods(margin, own.wins, own.losses, probit)
    else:
        each = np.fmin(margin, 0.0) * own.wins - np.fmax(margin, 0.0) * own.losses
        each -= own.trials * np.log1p(np.exp(-np.abs(margin)))
    gradient, _ = slopes_and_information(margin, own.wins, own.losses, probit)
    total = likelihoods(slope * typical, half, half, probit) + likelihoods(lean, half, half, probit)
    of_prior, _ = slopes_and_information(slope * typical, half, half, probit)
    return total + own.total(each), typical * of_prior + own.total(own.difference * gradient)


def _best_leans(own: SlopeRows, slope: Floats, lean: Floats, probit: bool) -> Floats:
    """The lean that fits best beside a slope: Fisher scoring with bounded steps."""
    lean, going = lean.copy(), np.arange(own.n)
    for _ in range(MOST_STEPS):
        nothing = np.zeros(own.n)
        _, gradient, _, _, information = _derivatives(
            own, slope[going], lean[going], nothing, probit
        )
        step = gradient / np.fmax(information, TINY)
        lean[going] += np.clip(step, -LONGEST_STEP, LONGEST_STEP)
        unsettled = ~(np.abs(step) < TOLERANCE)
        if not unsettled.any():
            break
        own, going = own.of(unsettled), going[unsettled]
    return lean


def _best_fits(own: SlopeRows, person: Person, probit: bool) -> tuple[Floats, Floats, Floats]:
    """Slope and lean that fit best, and the information on the slope beside the lean."""
    slope, lean, information = np.ones(own.n), person.lean.copy(), np.zeros(own.n)
    going = np.arange(own.n)
    for _ in range(MOST_STEPS):
        typical, with_lean = person.typical[going], person.with_lean[going]
        a, b, aa, ab, bb = _derivatives(own, slope[going], lean[going], typical, probit)
        shared = np.where(with_lean, ab / np.fmax(bb, TINY), 0.0)
        information[going] = np.fmax(aa - shared * ab, TINY)
        longest = LONGEST_STEP / typical
        step = np.clip((a - shared * b) / information[going], -longest, longest)
        turn = np.clip((b - ab * step) / np.fmax(bb, TINY), -LONGEST_STEP, LONGEST_STEP)
        slope[going] += step
        lean[going] += np.where(with_lean, turn, 0.0)
        unsettled = ~(np.abs(step) < TOLERANCE)
        if not unsettled.any():
            break
        own, going = own.of(unsettled), going[unsettled]
    return slope, lean, information


def _interval_ends(
    own: SlopeRows, slope: Floats, person: Person, floor: Floats, probit: bool
) -> Floats:
    """Where the profile log-likelihood, which is concave, has fallen to `floor`: by Newton."""
    slope, lean, going = slope.copy(), person.lean.copy(), np.arange(own.n)
    for _ in range(MOST_STEPS):
        typical, leans = person.typical[going], person.with_lean[going]
        limit = FARTHEST / typical
        now = np.clip(slope[going], -limit, limit)
        if leans.any():
            some = going[leans]
            lean[some] = _best_leans(own.of(leans), now[leans], lean[some], probit)
        height, gradient = _likelihood_and_gradient(own, now, lean[going], typical, probit)
        fallen, flat = height - floor[going], gradient == 0.0
        slope[going] = now - np.where(flat, 0.0, fallen / np.where(flat, 1.0, gradient))
        unsettled = ~flat & ~(np.abs(fallen) < CLOSE * np.abs(gradient))
        if not unsettled.any():
            break
        own, going = own.of(unsettled), going[unsettled]
    return slope


def _estimates(own: SlopeRows, person: Person, wider: Floats, probit: bool) -> Floats:
    """Slopes, leans and both ends of intervals, in columns."""
    best, lean, information = _best_fits(own, person, probit)
    top, _ = _likelihood_and_gradient(own, best, lean, person.typical, probit)
    fall, fitted = CHI_SQUARE_95 * wider, person._replace(lean=lean)
    reach, floor = np.sqrt(fall / information), top - 0.5 * fall
    low, high = (
        _interval_ends(own, best + side * reach, fitted, floor, probit) for side in (-1.0, 1.0)
    )
    return np.column_stack((best, lean, low, high))
