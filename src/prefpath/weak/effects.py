"""`WeakEffects`: everybody's small effects beside the refitted common scores; for prediction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from prefpath.model.design import Floats
from prefpath.model.losses import Loss
from prefpath.predict import Comparisons
from prefpath.votes.encode import BoolArray
from prefpath.weak.layout import Axes, Ballots, Coefficients
from prefpath.weak.margins import (
    Asked,
    Moments,
    Seen,
    attenuation,
    common_difference,
    moments,
)
from prefpath.weak.mode import Posterior, State
from prefpath.weak.slopes import has_chances, margin_of, mixed_margins, slope_weights
from prefpath.weak.strengths import ATTENTION, SCORES, TASTE_FEATURES, TASTES, Chosen, Entered

_MOST_OTHERS = 64  # annotators a stranger is taken for one of
_CERTAIN = 1e-12


class Shares(NamedTuple):
    """What is made of a margin and its approximate variance, as held-out votes say.

    `additive` is how much of the variance counts, that of the attention aside: its posterior is
    skewed, and a normal one would have far too many look away. `mixed`: the attention is a
    distribution (`weak/slopes.py`) and not a number. `scale` multiplies the margins.
    """

    additive: float = 1.0
    scale: float = 1.0
    mixed: bool = False

    def margins(self, loss: Loss, found: Moments) -> Floats:
        """Margins whose probabilities are calibrated, but for the scale."""
        mean = found.mixed if self.mixed else found.mean
        return mean * attenuation(loss, self.additive * found.additive)


@dataclass(frozen=True, eq=False)
class WeakEffects:
    """Refitted common scores and everybody's own effects, all shrunk by Gaussian priors.

    Attributes
    ----------
    loss : Loss
    chosen : Chosen
        Strength of each kind of effect, as a standard deviation.
    shares : Shares
        How much of a margin's variance counts.
    values, variance : Coefficients
        Posterior mode of each coefficient and its approximate variance.
    seen : Seen
        Which items each annotator has seen.
    axes : Axes or None
        On which the features' coefficients are.
    turned : array (n_items, n_features)
        Features of the items on these axes.
    entered : Entered
        Who has sparse effects: theirs have a prior of their own.
    slopes : array (n_annotators, len(GRID)) or None
        Probability of each slope of `weak.slopes.GRID`, where `shares.mixed`.
    """

    loss: Loss
    chosen: Chosen
    shares: Shares
    values: Coefficients
    variance: Coefficients
    seen: Seen
    axes: Axes | None
    turned: Floats
    entered: Entered
    slopes: Floats | None = None

    @classmethod
    def at(
        cls,
        ballots: Ballots,
        entered: Entered,
        chosen: Chosen,
        posterior: Posterior,
        state: State,
        shares: Shares = Shares(),  # noqa: B008  (immutable)
    ) -> WeakEffects:
        """The effects at a mode."""
        diagonal = np.maximum(posterior.diagonal(state, posterior.slopes(state)), _CERTAIN)
        variance = posterior.scale.like(posterior.scale.flat() ** 2 / diagonal)
        seen = Seen(ballots.design.seen, ballots.design.seen_item)
        features, slopes = ballots.design.features, None
        if shares.mixed:
            slopes = slope_weights(ballots, state, float(chosen.tau[ATTENTION]))
        return cls(
            ballots.loss,
            chosen,
            shares,
            state.values,
            variance,
            seen,
            ballots.axes,
            features,
            entered,
            slopes,
        )

    @property
    def strengths(self) -> dict[str, float]:
        """Standard deviation of each kind of effect, where it is not zero."""
        return self.chosen.named()

    @cached_property
    def scores(self) -> Floats:
        """Common score of every item, shrunk."""
        if not self.turned.size:
            return self.values.item
        scores: Floats = self.values.item + self.turned @ self.values.common
        return scores

    def personal_scores(self, code: int) -> Floats:
        """Scores one annotator (by code) gives to every item, on their own scale."""
        first, last = self.seen.start[code], self.seen.start[code + 1]
        scores: Floats = (1.0 + self.values.attention[code]) * self.scores
        scores[self.seen.item[first:last]] += self.values.own[first:last]
        if self.turned.size:
            n_features = self.turned.shape[1]
            scores += self.turned @ self.values.taste[code * n_features : (code + 1) * n_features]
        return scores

    def margins(self, comparisons: Comparisons, features: Floats | None = None) -> Floats:
        """Margin of each comparison, such that `loss.probability` of it is calibrated.

        Items may have code -1 if `features`, the difference of left and right in the user's
        features, say what is known of them.
        """
        asked = Asked.of(comparisons, self.turned)
        if features is not None and self.axes is not None:
            asked = asked._replace(features=features @ self.axes.turn)
        known = asked.annotator >= 0
        margin = np.empty(len(known))
        margin[known] = self._of_known(_take(asked, known))
        margin[~known] = self._of_strangers(_take(asked, ~known))
        return margin

    def moments(self, comparisons: Comparisons) -> Moments:
        """Mean and variance of the margins of known annotators and items."""
        return self._moments(Asked.of(comparisons, self.turned))

    def _moments(self, asked: Asked) -> Moments:
        tau = self.chosen.tau
        prior = np.append(tau[TASTES + self.entered.taste] ** 2, tau[SCORES] ** 2)
        found = moments(self.values, self.variance, prior, self.seen, asked)
        if self.slopes is None:
            return found
        gap, steep = common_difference(self.values, asked), self.values.attention[asked.annotator]
        rest = found.mean - (1.0 + steep) * gap
        mixed = mixed_margins(self.loss, gap, rest, self.slopes[asked.annotator])
        return found._replace(mixed=mixed)

    def _of_known(self, asked: Asked) -> Floats:
        return self.shares.scale * self.shares.margins(self.loss, self._moments(asked))

    def _of_strangers(self, asked: Asked) -> Floats:
        """A stranger is one of the known annotators, with a taste of their own."""
        gap = common_difference(self.values, asked)
        lean, attention = self._others
        margin = asked.position * self.values.position[0] + np.outer(1.0 + attention, gap)
        margin += np.outer(lean, asked.position)
        if not has_chances(self.loss):
            return margin.mean(axis=0)
        chance = self.loss.probability(margin * attenuation(self.loss, self._taste_variance(asked)))
        return margin_of(self.loss, chance.mean(axis=0))

    @cached_property
    def _others(self) -> tuple[Floats, Floats]:
        """Leans and attention of annotators, evenly by attention, at most 64 of them."""
        order = np.lexsort((self.values.lean, self.values.attention))
        n_others = min(len(order), _MOST_OTHERS)
        chosen = order[((np.arange(n_others) + 0.5) * len(order) / n_others).astype(int)]
        return self.values.lean[chosen], self.values.attention[chosen]

    def _taste_variance(self, asked: Asked) -> Floats:
        """Variance of a margin by the taste of somebody unknown."""
        tau, entered = self.chosen.tau, self.entered.taste
        own = 2.0 * np.mean(tau[TASTES + entered] ** 2)
        by_features = np.mean(tau[TASTE_FEATURES + entered] ** 2)
        variance: Floats = own + by_features * np.sum(asked.features**2, axis=1)
        return variance


def _take(asked: Asked, which: BoolArray) -> Asked:
    return Asked(
        asked.annotator[which],
        asked.left[which],
        asked.right[which],
        asked.position[which],
        asked.features[which],
    )
