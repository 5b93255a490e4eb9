"""By how much tastes nobody has found flatten the common score, and how surely that is known.

Averaged over annotators who differ a little, a choice is less decided than their average taste,
so that scores fitted without their deviations come out too small (marginal against conditional
effects; Zeger, Liang and Albert 1988). A follower's margin of standard deviation `s` around m*
has on average the probability of a margin

    m  =  m* / sqrt(1 + k s^2),      s^2 = tau^2 x.x,

exactly so, with k = 1, for normal choices, and closely for logistic ones; k is what makes it exact
at the typical margin. What is told of the followers' margins, `m* - m`, is carried over to the
scores by least squares with the votes' curvature. Two votes go together a little less, too:
`E[s_r s_q]` is smaller by `1 / (1 + k s^2)` than tau^2 says, which is put back first.

Losses without probabilities are flattened to second order: `w L'''(margin) tau^2 x.x / 2`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from prefpath.inference.consensus import common_hessian, slot_gradient
from prefpath.inference.evidence import Evidence
from prefpath.inference.unseen import UnseenVariance
from prefpath.model.design import Floats
from prefpath.model.losses import Loss

_DIFFERENCE = 1e-4
_LARGEST_VARIANCE = 4.0  # of a coefficient, in squared logits: beyond, nobody follows anything
_LEAST_SPREAD = 0.01
_NODES = np.polynomial.hermite_e.hermegauss(31)


class Attenuation(NamedTuple):
    """What unseen tastes do to the common part.

    Attributes
    ----------
    shift : array (n_coefficients,)
        Expected error of the consensus: what to take from it.
    jacobian : array (n_coefficients, n_coefficients)
        By how much the corrected coefficients move with the consensus.
    covariance : array (n_coefficients, n_coefficients)
        Of the correction itself, because the size of the tastes is estimated.
    mean_preference : bool
        Nothing is put back: the consensus stands for what the votes of the crowd come to.
    """

    shift: Floats
    jacobian: Floats
    covariance: Floats
    mean_preference: bool = False


def attenuation(
    evidence: Evidence,
    coefficient: Floats,
    bread: Floats,
    found: UnseenVariance,
    *,
    camps: bool = False,
) -> Attenuation:
    """Expected error of the common part that comes of tastes nobody has found.

    `camps` says that those who were found fall into some: the votes then stand for all together.
    """
    if camps or _is_mean_preference(evidence, found):
        return no_attenuation(evidence.n_coefficients, mean_preference=True)
    slots = _follower_slots(evidence, coefficient)
    spread, slope = _undo_attenuation(evidence.problem.loss, slots, found)
    if spread == 0.0:
        return no_attenuation(evidence.n_coefficients)
    shift, moves = _carry_over(evidence, bread, slots, spread)
    more, _ = _carry_over(evidence, bread, slots, spread * (1.0 + _DIFFERENCE))
    jacobian = np.eye(evidence.n_coefficients)
    if moves is not None:
        jacobian += bread @ common_hessian(evidence, coefficient, moves, slots.choice)
    along = (more - shift) / (spread * _DIFFERENCE) * slope * found.error
    return Attenuation(shift, jacobian, np.outer(along, along))


def no_attenuation(n: int, *, mean_preference: bool = False) -> Attenuation:
    """Nothing is taken from the consensus."""
    return Attenuation(np.zeros(n), np.eye(n), np.zeros((n, n)), mean_preference)


def _is_mean_preference(evidence: Evidence, found: UnseenVariance) -> bool:
    """Whether unseen tastes may be large, and then of any shape: no bell curve is assumed.

    A minority with another taste flattens scores otherwise than one. Where most were found to
    have a taste of their own, the common score is the middle of those.
    """
    return found.may_matter and 2 * evidence.n_deviating < evidence.n_present


class _FollowerSlots(NamedTuple):
    """Followers' pooled comparisons: margin, `x.x`, weight and mean choice."""

    margin: Floats
    size: Floats
    weight: Floats
    choice: Floats


def _follower_slots(evidence: Evidence, coefficient: Floats) -> _FollowerSlots:
    slots, phi = evidence.slots, evidence.problem.features
    weight, choice = evidence.slot_votes.followers
    theta = evidence.scores(coefficient)
    margin = theta[slots.left] - theta[slots.right] + slots.offset
    margin += slots.position * evidence.common_bias(coefficient)
    size: Floats = np.full(len(margin), 2.0)
    if phi is not None:
        size = ((phi[slots.left] - phi[slots.right]) ** 2).sum(axis=1)
    return _FollowerSlots(margin, size, weight, choice)


def _undo_attenuation(
    loss: Loss, slots: _FollowerSlots, found: UnseenVariance
) -> tuple[float, float]:
    """tau^2 whose attenuated value was found, and its derivative in that value."""
    total = slots.weight.sum()
    if found.value == 0.0 or total == 0.0 or not loss.binary:
        return found.value, 1.0
    size = float(slots.weight @ slots.size / total)

    def attenuated(variance: float) -> float:
        return variance / (1.0 + _typical_k(loss, slots, variance) * variance * size)

    if attenuated(_LARGEST_VARIANCE) <= found.value:
        return _LARGEST_VARIANCE, 0.0
    variance = float(
        brentq(lambda v: attenuated(v) - found.value, found.value, _LARGEST_VARIANCE, rtol=1e-6)
    )
    factor = 1.0 + _typical_k(loss, slots, variance) * variance * size
    return variance, factor**2


def _typical_k(loss: Loss, slots: _FollowerSlots, variance: float) -> float:
    """k of `m = m* / sqrt(1 + k s^2)`, exact at the followers' root mean square margin."""
    total = slots.weight.sum()
    # A smaller spread has the same k, of which rounding would leave nothing.
    spread = max(float(np.sqrt(variance * (slots.weight @ slots.size) / total)), _LEAST_SPREAD)
    typical = max(float(np.sqrt(slots.weight @ slots.margin**2 / total)), 0.1)
    nodes, share = _NODES

    def short_of(margin: float) -> float:  # of losing: small chances keep all of their digits
        mean = loss.probability(spread * nodes - margin) @ share / share.sum()
        return float(loss.probability(np.array([-typical]))[0] - mean)

    decided = brentq(short_of, typical, typical * (2.0 + spread) ** 2, rtol=1e-9)
    return max(((decided / typical) ** 2 - 1.0) / spread**2, 0.0)


def _carry_over(
    evidence: Evidence, bread: Floats, slots: _FollowerSlots, variance: float
) -> tuple[Floats, Floats | None]:
    """Error of the common part for a variance; weights by which it moves with the consensus."""
    loss = evidence.problem.loss
    if not loss.binary:
        third = _third_derivative(loss, slots)
        drift = slot_gradient(evidence, slots.weight * third * variance * slots.size / 2.0)
        return bread @ drift, None
    k = _typical_k(loss, slots, variance)
    stretch = np.sqrt(1.0 + k * variance * slots.size) - 1.0
    curvature = slots.weight * loss.curvature(slots.margin, slots.choice)
    shift = -bread @ slot_gradient(evidence, curvature * stretch * slots.margin)
    return shift, slots.weight * stretch


def _third_derivative(loss: Loss, slots: _FollowerSlots) -> Floats:
    ends = [loss.curvature(slots.margin + s * _DIFFERENCE, slots.choice) for s in (1.0, -1.0)]
    third: Floats = (ends[0] - ends[1]) / (2.0 * _DIFFERENCE)
    return third
