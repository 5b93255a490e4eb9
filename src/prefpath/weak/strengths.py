"""How strong each kind of effect is, by marginal likelihood.

A group of coefficients shares a standard deviation tau. Where the marginal likelihood is
largest, tau^2 is the group's sum of squares over its effective degrees of freedom: the fixed
point of MacKay, and of Fellner and Schall.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from prefpath.model.design import Floats, Ints
from prefpath.path import Path
from prefpath.votes.encode import BoolArray
from prefpath.votes.graph import connected_components
from prefpath.weak.blocks import KINDS, Scales, fill_blocks
from prefpath.weak.layout import Ballots, Coefficients
from prefpath.weak.mode import Posterior, State, find_mode

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
    "entered attention (contrary)",
)
FEATURES, SCORES, TASTE_FEATURES, TASTES, LEANS, ATTENTION = 0, 1, 2, 4, 6, 8

_START = np.array([1.0, 1.0, 0.3, 1.0, 0.3, 1.0, 0.3, 1.0, 0.3, 0.7])
_LEAST, _MOST = 0.01, 50.0  # below, a group says nothing and is switched off
_ENTERED = np.array(["entered" in name for name in GROUPS])
_PSEUDO = 2.0
_CONTRARY = -1.5
_LARGE = 0.5  # standard deviation of slopes that are 1 on average
_MOST_STEPS = 15
_CLOSE = 0.05
_ROUGH = (
    2e-5  # of the log-likelihood of a vote: how near a mode is found while strengths are chosen
)


class Entered(NamedTuple):
    """Who has a sparse taste or lean at the chosen time, and who is contrary.

    Of a sparse attention only the contrary count. All others who have one entered by the size of
    a single estimate: a wide prior of their own would leave them unshrunk, and they predict worse.
    """

    taste: BoolArray
    lean: BoolArray
    attention: BoolArray

    @classmethod
    def on(cls, path: Path, t: float) -> Entered:
        """Those of a path at time t."""
        n_annotators = len(path.annotators)
        taste = np.zeros(n_annotators, dtype=bool)
        taste[path.active_deviations(t)[0]] = True
        return cls(taste, path.position_bias(t) != 0.0, path.attention(t) < _CONTRARY)


class Groups(NamedTuple):
    """Group of each coefficient; -1 for the position effect, which has a flat prior."""

    common: Ints
    item: Ints
    position: Ints
    taste: Ints
    own: Ints
    lean: Ints
    attention: Ints

    def flat(self) -> Ints:
        """All in one array."""
        return np.concatenate(self)


def groups_of(ballots: Ballots, entered: Entered) -> Groups:
    """Which coefficients share a standard deviation."""
    return Groups(
        np.full(ballots.n_features, FEATURES),
        np.full(ballots.votes.n_items, SCORES),
        np.array([-1]),
        np.repeat(TASTE_FEATURES + entered.taste, ballots.n_features),
        np.repeat(TASTES + entered.taste, np.diff(ballots.design.seen)),
        LEANS + entered.lean,
        ATTENTION + entered.attention,
    )


def scale_of(ballots: Ballots, groups: Groups, tau: Floats) -> Coefficients:
    """Standard deviation of each coefficient; leans have none where sides do not matter."""
    known = Coefficients(*(tau[group] for group in groups))
    # Where no vote tells of sides, nothing would hold an effect with a flat prior.
    telling = bool((ballots.target.weight * ballots.design.position).any())
    position = np.array([1.0 if ballots.common_position and telling else 0.0])
    return known._replace(position=position)


@dataclass(frozen=True, eq=False)
class Chosen:
    """Standard deviations of the groups, and the variance of a choice about its margin.

    The noise is 1 where the loss is a likelihood.
    """

    tau: Floats
    noise: float = 1.0

    def named(self) -> dict[str, float]:
        """Strengths that are not zero, by the groups' names."""
        named = zip(GROUPS, self.tau.tolist(), strict=True)
        return {name: tau for name, tau in named if tau > 0}

    def posterior(self, ballots: Ballots, groups: Groups) -> Posterior:
        """The posterior of some votes under these priors."""
        return Posterior(with_noise(ballots, self.noise), scale_of(ballots, groups, self.tau))


def rescaled(q: Floats, groups: Groups, old: Floats, new: Floats) -> Floats:
    """The same coefficients under other standard deviations, as a start."""
    ratio = np.divide(old, new, out=np.zeros_like(old), where=new > 0)
    moved: Floats = q * np.append(ratio, 1.0)[groups.flat()]  # the last one is for group -1
    return moved


def choose_strengths(ballots: Ballots, groups: Groups, *, attention: bool = True) -> Chosen:
    """Standard deviations of all groups where the marginal likelihood is largest."""
    chosen = Chosen(np.where(_present(ballots, groups), _START, 0.0))
    if not attention:
        chosen.tau[ATTENTION : ATTENTION + 2] = 0.0
    momentum, last = np.ones(len(GROUPS)), np.zeros(len(GROUPS))
    q = np.zeros(len(groups.flat()))
    for _ in range(_MOST_STEPS):
        posterior = chosen.posterior(ballots, groups)
        state = find_rough_mode(posterior, q)
        degrees = degrees_of_freedom(posterior, state, groups)
        change = _change(groups, chosen.tau, state, degrees)
        # steps that go on in one direction grow: towards zero they would be many
        momentum = np.where(change * last > 0, np.minimum(momentum * 1.5, 4.0), 1.0)
        last = change
        tau = np.minimum(chosen.tau * np.exp(momentum * change), _MOST)
        tau = np.where(tau < _LEAST, 0.0, tau)
        q = rescaled(state.q, groups, chosen.tau, tau)
        chosen = Chosen(tau, _noise_of(ballots, state, degrees))
        if np.abs(change[tau > 0]).max(initial=0.0) < _CLOSE:
            break
    return chosen


def slopes_took_over(chosen: Chosen) -> bool:
    """Whether slopes differ by so much that they, and not the scores, may have taken the scale.

    Where items have few votes each, scores near 0 and slopes of any size fit them as well, and
    both predict nothing: it is then asked of held-out votes.
    """
    return bool(chosen.tau[ATTENTION] > _LARGE)


def find_rough_mode(posterior: Posterior, q: Floats) -> State:
    """The mode, well enough to judge strengths by."""
    return find_mode(posterior, q, tolerance=_ROUGH * float(posterior.ballots.weight.sum()))


def with_noise(ballots: Ballots, noise: float) -> Ballots:
    """The votes with their weights over the noise."""
    if noise == 1.0:
        return ballots
    weight = ballots.target.weight / noise
    weight.setflags(write=False)
    return replace(ballots, target=ballots.target._replace(weight=weight))


def degrees_of_freedom(posterior: Posterior, state: State, groups: Groups) -> Floats:
    """How many coefficients of each group the votes determine.

    Annotators' blocks are exact, the common part given; the common coefficients are each taken
    alone, with what their votes say once the annotators' own part is free.
    """
    ballots, scale, slope = posterior.ballots, posterior.scale, posterior.slopes(state)
    leverage = np.zeros(len(state.margin))
    by_kind = np.zeros((ballots.votes.n_annotators, KINDS))
    scales = Scales(scale.taste, scale.own, scale.lean, scale.attention)
    fill_blocks(ballots.design, scales, slope, leverage, by_kind)
    kept = np.clip(1.0 - slope.curvature * leverage, 0.0, 1.0)
    common = scale.like(posterior.diagonal(state, slope._replace(curvature=slope.curvature * kept)))
    degrees: Floats = np.bincount(
        _group_of_kinds(groups, ballots.design.seen).ravel(), by_kind.ravel(), len(GROUPS)
    ).astype(np.float64)
    degrees[FEATURES] = np.sum(1.0 - 1.0 / common.common)
    degrees[SCORES] = max(np.sum(1.0 - 1.0 / common.item) - _unseen_levels(ballots), 0.0)
    return degrees


def _group_of_kinds(groups: Groups, seen: Ints) -> Ints:
    """Group of each annotator's coefficients of each kind (n_annotators x kinds)."""
    own = np.append(groups.own, TASTES)[np.minimum(seen[:-1], len(groups.own))]
    features = own - TASTES + TASTE_FEATURES
    return np.stack((features, own, groups.lean, groups.attention), axis=1)


def _unseen_levels(ballots: Ballots) -> int:
    """Levels of the scores that no vote sees: one a component."""
    return int(connected_components(ballots.votes).max()) + 1


def _present(ballots: Ballots, groups: Groups) -> BoolArray:
    flat = groups.flat()
    present: BoolArray = np.bincount(flat[flat >= 0], minlength=len(GROUPS)) > 0
    if not ballots.position_bias:
        present[LEANS : LEANS + 2] = False
    return present


def _change(groups: Groups, tau: Floats, state: State, degrees: Floats) -> Floats:
    """Step of log tau.

    Entered effects are few: theirs has two more degrees of freedom, of the size of the common
    scores (for the attention, of 1).
    """
    flat = groups.flat()
    ours = flat >= 0
    squares = np.bincount(flat[ours], state.q[ours] ** 2, len(GROUPS))
    pseudo = np.where(_ENTERED, _PSEUDO, 0.0)
    usual = np.full(len(tau), max(tau[FEATURES], tau[SCORES]))
    usual[ATTENTION + 1] = 1.0
    above = tau**2 * squares + pseudo * usual**2
    below = tau**2 * (degrees + pseudo)
    live = (tau > 0) & (below > 0)
    change = np.zeros(len(tau))
    change[live] = 0.5 * np.log(np.maximum(above[live] / below[live], 1e-4))
    return change


def _noise_of(ballots: Ballots, state: State, degrees: Floats) -> float:
    """Variance of a choice about its margin; 1 where the loss is a likelihood."""
    if ballots.loss.binary:
        return 1.0
    total = float(ballots.weight.sum())
    away = state.margin[ballots.cell_of_row] - ballots.votes.choice
    free = max(total - float(degrees.sum()), 0.1 * total)
    return max(float(ballots.weight @ away**2) / free, 1e-12)
