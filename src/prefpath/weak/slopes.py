"""How sharply each annotator sees, as a distribution: the crowd's own, and each one's given votes.

A normal prior of the attention pulls everybody to the middle of the crowd. Where a third answers at
random there is nobody in that middle: the crowd's distribution of slopes on a grid (by EM) says so,
and an annotator's probability is the mean over the slopes they may have.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logit, ndtri

from prefpath.model.design import Floats
from prefpath.model.losses import Loss
from prefpath.model.scalar_losses import BRADLEY_TERRY, THURSTONE_MOSTELLER
from prefpath.weak.layout import Ballots
from prefpath.weak.mode import State

GRID = np.linspace(-2.0, 3.0, 41)
_PSEUDO = 2.0  # annotators that the normal prior is worth
_EM_STEPS = 200
_CLOSE = 1e-4
_CERTAIN = 1e-12


def has_chances(loss: Loss) -> bool:
    """Whether margins are probabilities in another form."""
    return loss.code in (BRADLEY_TERRY, THURSTONE_MOSTELLER)


def margin_of(loss: Loss, chance: Floats) -> Floats:
    """The margin with this probability."""
    inside = np.clip(chance, _CERTAIN, 1.0 - _CERTAIN)
    margin: Floats = logit(inside) if loss.code == BRADLEY_TERRY else ndtri(inside)
    return margin


def slope_weights(ballots: Ballots, state: State, spread: float) -> Floats:
    """Probability of each slope of `GRID` for each annotator (n_annotators x grid).

    Scores, tastes and leans are those of the mode. The crowd's distribution has two more
    annotators of slopes N(1, spread^2), which keeps it smooth where annotators are few.
    """
    likelihood = _likelihoods(ballots, state)
    # Nothing is impossible: else whoever votes so would have no slope at all.
    usual = np.maximum(np.exp(-0.5 * ((GRID - 1.0) / spread) ** 2), _CERTAIN)
    usual /= usual.sum()
    crowd = usual
    for _ in range(_EM_STEPS):
        each = _posterior(likelihood, crowd)
        new = (each.sum(axis=0) + _PSEUDO * usual) / (len(each) + _PSEUDO)
        moved, crowd = float(np.abs(new - crowd).max()), new
        if moved < _CLOSE:
            break
    return _posterior(likelihood, crowd)


def mixed_margins(loss: Loss, gap: Floats, rest: Floats, weight: Floats) -> Floats:
    """Margins of the mean probabilities; `weight` is that of each comparison's annotator."""
    chance = np.zeros(len(gap))
    for k, slope in enumerate(GRID):
        chance += weight[:, k] * loss.probability(slope * gap + rest)
    return margin_of(loss, chance)


def _likelihoods(ballots: Ballots, state: State) -> Floats:
    """Likelihood of each annotator's votes under each slope, the largest of an annotator 1."""
    cells = ballots.design.cells
    who = np.repeat(np.arange(len(cells) - 1), np.diff(cells))
    rest = state.margin - (1.0 + state.terms.attention[who]) * state.gap
    choice, weight = ballots.target
    cost = np.empty((len(cells) - 1, len(GRID)))
    for k, slope in enumerate(GRID):
        lost = weight * ballots.loss.value(slope * state.gap + rest, choice)
        cost[:, k] = np.bincount(who, lost, len(cost))
    likelihood: Floats = np.exp(cost.min(axis=1, keepdims=True) - cost)
    return likelihood


def _posterior(likelihood: Floats, crowd: Floats) -> Floats:
    each = likelihood * crowd
    posterior: Floats = each / each.sum(axis=1, keepdims=True)
    return posterior
