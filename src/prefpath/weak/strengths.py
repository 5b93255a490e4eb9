"""How strong each kind of effect is: variances by the Laplace approximation's likelihood.

A group of coefficients shares a standard deviation tau. At the maximum of the marginal
likelihood, tau^2 is the sum of squares of the group's posterior means over its effective
degrees of freedom (MacKay's and Fellner and Schall's fixed point; with the mode in place of the
mean it is PQL, which is too small where votes are few).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numba import njit

from prefpath.model.design import Floats, Ints
from prefpath.model.losses import scalar_curvature
from prefpath.votes.encode import BoolArray
from prefpath.votes.graph import connected_components
from prefpath.weak.blocks import Scales, fill_blocks
from prefpath.weak.kernels import Slope
from prefpath.weak.layout import Ballots, Coefficients
from prefpath.weak.mode import Posterior, State, find_mode, solve_newton

COMMON, ITEM = 0, 1
GROUPS = (
    "features",
    "scores",
    "features of tastes",
    "features of entered tastes",
    "tastes",
    "entered tastes",
    "leans",
    "entered leans",
    "attention",
    "entered attention",
)
_ENTERED = np.array([name.startswith("entered") or " entered " in name for name in GROUPS])
_START = np.array([1.0, 1.0, 0.3, 1.0, 0.3, 1.0, 0.3, 1.0, 0.3, 0.7])
_LEAST, _MOST = 0.01, 20.0
_PSEUDO = 2.0
_MOST_STEPS = 15
_CLOSE = 0.05
FACTOR = 1.0


class Entered(NamedTuple):
    """Who has a sparse taste, lean and attention at the chosen time."""

    taste: BoolArray
    lean: BoolArray
    attention: BoolArray


def groups_of(ballots: Ballots, entered: Entered) -> Coefficients:
    """Group of each coefficient; -1 for the position effect, which has a flat prior."""
    zeros = ballots.zeros()
    n_seen = np.diff(ballots.design.seen)
    groups = (
        np.full(len(zeros.common), COMMON),
        np.full(len(zeros.item), ITEM),
        np.array([-1]),
        np.repeat(2 + entered.taste, ballots.n_features),
        np.repeat(4 + entered.taste, n_seen),
        6 + entered.lean,
        8 + entered.attention,
    )
    return Coefficients(*groups)


def scale_of(ballots: Ballots, groups: Coefficients, tau: Floats) -> Coefficients:
    """Standard deviation of each coefficient."""
    known = Coefficients(*(tau[group] for group in groups))
    lean = known.lean if ballots.position_bias else np.zeros_like(known.lean)
    position = np.array([1.0 if ballots.common_position else 0.0])
    return known._replace(position=position, lean=lean)


@dataclass(frozen=True, eq=False)
class Spent:
    """What the votes say of a mode.

    Attributes
    ----------
    leverage : array (n_cells,)
        Posterior variance of each cell's margin.
    degrees : array (n_groups,)
        Effective degrees of freedom of each group.
    mean : array
        Posterior mean of q to first order: the mode, moved by the skewness.
    """

    leverage: Floats
    degrees: Floats
    mean: Floats
    q2: Floats


def spend(posterior: Posterior, state: State, groups: Coefficients) -> Spent:
    """Degrees of freedom, leverages and means at a mode."""
    ballots, scale = posterior.ballots, posterior.scale
    slope = posterior.slopes(state)
    leverage = np.zeros(len(state.margin))
    by_kind = np.zeros((ballots.votes.n_annotators, 4))
    scales = Scales(scale.taste, scale.own, scale.lean, scale.attention)
    fill_blocks(ballots.design, scales, slope, leverage, by_kind)
    kept = np.clip(1.0 - slope.bend * leverage, 0.0, 1.0)
    common = scale.like(posterior.diagonal(state, slope._replace(bend=slope.bend * kept)))
    leverage += kept**2 * _common_variance(posterior, state, common)
    degrees = _by_group(ballots, groups, by_kind)
    degrees[COMMON] = np.sum(1.0 - 1.0 / common.common)
    degrees[ITEM] = max(np.sum(1.0 - 1.0 / common.item) - _unseen_levels(ballots), 0.0)
    sk=FACTOR*_skewness(posterior, state, slope, leverage)
    return Spent(leverage, degrees, state.q - sk, np.clip(state.q**2-2*sk*state.q,.25*state.q**2,2*state.q**2))


def _unseen_levels(ballots: Ballots) -> int:
    """Levels of the scores that no vote sees: one a component, none where features fix them."""
    return 0 if ballots.n_features else len(np.unique(connected_components(ballots.votes)))


def _by_group(ballots: Ballots, groups: Coefficients, by_kind: Floats) -> Floats:
    n_annotators = ballots.votes.n_annotators
    tastes = groups.attention * 0
    if len(groups.own):
        first = np.minimum(ballots.design.seen[:-1], len(groups.own) - 1)
        tastes = groups.own[first] - 4
    group = np.stack((2 + tastes, 4 + tastes, groups.lean, groups.attention), axis=1)
    assert by_kind.shape == (n_annotators, 4)
    return np.bincount(group.ravel(), weights=by_kind.ravel(), minlength=len(GROUPS))


def _common_variance(posterior: Posterior, state: State, diagonal: Coefficients) -> Floats:
    """Variance of each cell's margin from the common scores, each taken alone."""
    scale, design = posterior.scale, posterior.ballots.design
    per_cell = np.diff(design.cells)
    start = np.repeat(design.seen[:-1], per_cell)
    left, right = design.seen_item[start + design.left_at], design.seen_item[start + design.right_at]
    item = scale.item**2 / diagonal.item
    variance: Floats = item[left] + item[right]
    for d in range(posterior.ballots.n_features):
        moved = design.features[left, d] - design.features[right, d]
        variance += moved**2 * scale.common[d] ** 2 / diagonal.common[d]
    return variance * np.repeat(1.0 + state.terms.attention, per_cell) ** 2


def _skewness(posterior: Posterior, state: State, slope: Slope, leverage: Floats) -> Floats:
    """How far the posterior mean of q lies from the mode, to first order."""
    loss, (choice, weight) = posterior.ballots.loss, posterior.ballots.target
    if not np.isfinite(loss.max_curvature_change):
        return np.zeros_like(state.q)
    third = np.empty_like(state.margin)
    fill_third(loss.code, loss.parameter, state.margin, choice, weight, third)
    right = posterior.pulled(state, 0.5 * leverage * third)
    return solve_newton(posterior, state, slope, right)


@njit(cache=True, nogil=True, error_model="numpy")
def fill_third(
    code: int, parameter: float, margin: Floats, choice: Floats, weight: Floats, third: Floats
) -> None:
    """Third derivative of every cell's weighted loss, by a central difference."""
    h = 1e-4
    for c in range(len(margin)):
        above = scalar_curvature(code, parameter, margin[c] + h, choice[c])
        below = scalar_curvature(code, parameter, margin[c] - h, choice[c])
        third[c] = weight[c] * (above - below) / (2.0 * h)


class Chosen(NamedTuple):
    """Standard deviations of the groups, noise of the votes, and how many steps it took."""

    tau: Floats
    noise: float
    n_steps: int


def choose_strengths(ballots: Ballots, entered: Entered) -> Chosen:
    """Standard deviations of all groups where the marginal likelihood is largest."""
    groups = groups_of(ballots, entered)
    present = _present(ballots, groups)
    tau = np.where(present, _START, 0.0)
    noise, momentum, last = 1.0, np.ones(len(tau)), np.zeros(len(tau))
    q = np.zeros(len(groups.flat()))
    for step in range(1, _MOST_STEPS + 1):
        posterior = Posterior(with_noise(ballots, noise), scale_of(ballots, groups, tau))
        state = find_mode(posterior, q, tolerance=0.05)
        spent = spend(posterior, state, groups)
        noise = _noise_of(ballots, state, spent)
        change = _change(groups, tau, spent)
        momentum = np.where(change * last > 0, np.minimum(momentum * 1.5, 4.0), 1.0)
        last = change
        new = np.minimum(tau * np.exp(momentum * change), _MOST)
        new = np.where(new < _LEAST, 0.0, new)
        q = state.q * _ratio(tau, new)[groups.flat()]
        tau = new
        if np.abs(change[tau > 0]).max(initial=0.0) < _CLOSE:
            break
    return Chosen(tau, noise, step)


def with_noise(ballots: Ballots, noise: float) -> Ballots:
    """The votes with weights over the noise's variance."""
    if noise == 1.0:
        return ballots
    weight = ballots.target.weight / noise
    weight.setflags(write=False)
    return replace(ballots, target=ballots.target._replace(weight=weight))


def _present(ballots: Ballots, groups: Coefficients) -> BoolArray:
    flat = groups.flat()
    present: BoolArray = np.bincount(flat[flat >= 0], minlength=len(GROUPS)) > 0
    if not ballots.position_bias:
        present[6:8] = False
    return present


def _ratio(old: Floats, new: Floats) -> Floats:
    """What keeps a coefficient as it is when its scale changes; the last one is for group -1."""
    ratio = np.divide(old, new, out=np.zeros_like(old), where=new > 0)
    return np.append(ratio, 1.0)


def _change(groups: Coefficients, tau: Floats, spent: Spent) -> Floats:
    """Step of log tau in the fixed-point iteration."""
    flat = groups.flat()
    ours = flat >= 0
    squares = np.bincount(flat[ours], weights=spent.q2[ours], minlength=len(GROUPS))
    pseudo = np.where(_ENTERED, _PSEUDO, 0.0)
    usual = np.full(len(tau), max(tau[COMMON], tau[ITEM]))
    usual[9] = 1.0
    above = tau**2 * squares + pseudo * usual**2
    below = tau**2 * (spent.degrees + pseudo)
    change = np.zeros(len(tau))
    live = (tau > 0) & (below > 0)
    change[live] = 0.5 * np.log(np.maximum(above[live] / below[live], 1e-4))
    return change


def _noise_of(ballots: Ballots, state: State, spent: Spent) -> float:
    """Variance of a choice about its margin; 1 where the loss is a likelihood."""
    if ballots.loss.binary:
        return 1.0
    rows = ballots.votes
    squares = ballots.weight @ (state.margin[ballots.cell_of_row] - rows.choice) ** 2
    free = max(rows.total_weight - spent.degrees.sum(), 0.1 * rows.total_weight)
    return float(max(squares / free, 1e-12))
