"""Strengths on held-out votes: the likelihood's choice, corrected where it predicts badly.

The approximation behind the likelihood is poor where votes are few or nearly always agree, and
the votes that it sees have said who has entered. So multipliers (of tastes, of leans and
attention, of the common scores), the share of the variance that counts and the scale of the
margins are chosen by cross-validation. Who has entered is asked of the path of each fold's own
votes: the path of all votes has seen those held out, and the entered would seem to need too little
shrinkage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from prefpath.model.design import Floats
from prefpath.model.losses import Loss
from prefpath.predict import Comparisons
from prefpath.selection.folds import Fold
from prefpath.weak.effects import Shares, WeakEffects
from prefpath.weak.layout import Ballots
from prefpath.weak.margins import Moments
from prefpath.weak.slopes import has_chances
from prefpath.weak.strengths import (
    ATTENTION,
    FEATURES,
    LEANS,
    SCORES,
    TASTE_FEATURES,
    Chosen,
    Entered,
    Groups,
    find_rough_mode,
    rescaled,
)

MULTIPLIED = (
    list(range(TASTE_FEATURES, LEANS)),
    list(range(LEANS, LEANS + 4)),
    [FEATURES, SCORES],
)
_FACTOR = 1.5
_MOST_STEPS = 8
_ROUNDS = 2
_WORTH = 1e-4  # of held-out loss: less is not worth a step
_SURE = 2.0
_SHARES = (0.0, 0.25, 0.5, 1.5)  # beside 1
_SCALES = (0.5, 1.5)
_NEWTON_STEPS = 20


class Judged(NamedTuple):
    """Margin, loss and weight of each held-out vote, and the shares that make the loss smallest."""

    margin: Floats
    cost: Floats
    weight: Floats
    shares: Shares

    @property
    def error(self) -> float:
        """Mean held-out loss."""
        return float(self.weight @ self.cost / self.weight.sum())

    def gain_over(self, other: Judged) -> tuple[float, float]:
        """How much smaller the error is, and its standard error, paired by vote."""
        gain, total = other.cost - self.cost, float(self.weight.sum())
        mean = float(self.weight @ gain) / total
        return mean, float(np.sqrt(self.weight**2 @ (gain - mean) ** 2)) / total

    def clearly_better(self, other: Judged) -> bool:
        """Whether the error is smaller by more than two standard errors."""
        gain, error = self.gain_over(other)
        return gain > max(_WORTH, _SURE * error)


class FoldOfVotes(NamedTuple):
    """A fold, who has entered on the path of its training votes, and the groups that makes."""

    fold: Fold
    entered: Entered
    groups: Groups


@dataclass(eq=False)
class HeldOut:
    """Votes, and folds of them; each fold remembers its last mode as a start of the next."""

    ballots: Ballots
    folds: Sequence[FoldOfVotes]
    starts: list[tuple[Floats, Floats]]

    def judge(self, chosen: Chosen) -> Judged:
        """Error on held-out votes under some strengths, by the share that makes it least."""
        found = self._moments(chosen, mixed=False)
        return min(self._by_shares(found, Shares()), key=lambda one: one.error)

    def judge_shares(self, chosen: Chosen, *, mixed: bool) -> Judged:
        """What becomes of margins and variances; `mixed` tries slopes as distributions.

        These are taken where they predict better at all: both ways are as simple. Of the variance
        all counts, as theory says, unless another share is clearly better.
        """
        found = self._moments(chosen, mixed)
        ways = [Shares(), Shares(mixed=True)] if mixed else [Shares()]
        way = min((self._judged(found, shares) for shares in ways), key=lambda one: one.error)
        return _best_if_clear(self._by_shares(found, way.shares))

    def _by_shares(self, found: Moments, shares: Shares) -> list[Judged]:
        others = _SHARES if self.ballots.loss.binary else ()
        return [self._judged(found, shares._replace(additive=share)) for share in (1.0, *others)]

    def _moments(self, chosen: Chosen, mixed: bool) -> Moments:
        found = [self._one(k, chosen, mixed) for k in range(len(self.folds))]
        return Moments(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    def _judged(self, found: Moments, shares: Shares) -> Judged:
        margin = shares.margins(self.ballots.loss, found)
        return Judged(margin, self.ballots.loss.value(margin, self.choice), self.weight, shares)

    @cached_property
    def weight(self) -> Floats:
        """Weights of the held-out votes, fold after fold."""
        return np.concatenate([each.fold.test[each.fold.test != 0] for each in self.folds])

    @cached_property
    def choice(self) -> Floats:
        """What was chosen in the held-out votes, fold after fold."""
        rows = [np.flatnonzero(each.fold.test) for each in self.folds]
        return self.ballots.votes.choice[np.concatenate(rows)]

    def _one(self, k: int, chosen: Chosen, mixed: bool) -> Moments:
        fold, entered, groups = self.folds[k]
        ballots = self.ballots.with_weight(fold.train)
        posterior = chosen.posterior(ballots, groups)
        q, tau = self.starts[k]
        start = rescaled(q, groups, tau, chosen.tau)
        state = find_rough_mode(posterior, start)
        self.starts[k] = state.q, chosen.tau
        shares = Shares(mixed=mixed)
        effects = WeakEffects.at(ballots, entered, chosen, posterior, state, shares)
        return effects.moments(Comparisons.of(ballots.votes, np.flatnonzero(fold.test)))


def _best_if_clear(judged: list[Judged]) -> Judged:
    """The best, or the first unless the best is better by more than two standard errors.

    Shares differ by less in held-out loss than chance makes: the least one would mostly be noise.
    """
    best = judged[int(np.argmin([one.error for one in judged]))]
    gain, error = best.gain_over(judged[0])
    return best if gain > _SURE * error else judged[0]


def scale_of_margins(loss: Loss, judged: Judged, choice: Floats) -> float:
    """The factor on the margins that predicts held-out votes best, drawn to 1 by its error.

    Of what it differs from 1 by, z standard errors, the part `1 - 1 / z^2` is not expected by
    chance. Within one standard error it stays 1.
    """
    if not loss.binary:
        return 1.0
    scale, bend = 1.0, 1.0
    for _ in range(_NEWTON_STEPS):
        slope, curvature = loss.derivatives(scale * judged.margin, choice)
        bend = max(float((judged.weight * curvature) @ judged.margin**2), 1e-300)
        step = float((judged.weight * slope) @ judged.margin) / bend
        scale = float(np.clip(scale - step, *_SCALES))
        if abs(step) < 1e-6:
            break
    away = scale - 1.0
    return 1.0 + away * max(0.0, 1.0 - 1.0 / max(bend * away**2, 1e-300))


def better_of(held_out: HeldOut, plain: Chosen, chosen: Chosen) -> Chosen:
    """The plainer of two, unless held-out votes are clearly predicted better by the other."""
    if chosen is plain:
        return plain
    simpler = held_out.judge(plain)
    return chosen if held_out.judge(chosen).clearly_better(simpler) else plain


def tune(held_out: HeldOut, chosen: Chosen) -> tuple[Chosen, Judged]:
    """Multiply strengths up or down for as long as held-out votes are predicted better."""
    best = held_out.judge(chosen)
    for _ in range(_ROUNDS):
        before = best
        for turn in MULTIPLIED:
            if not chosen.tau[turn].any():
                continue
            for factor in (_FACTOR, 1.0 / _FACTOR):
                start = best
                chosen, best = _climb(held_out, chosen, best, turn, factor)
                if best is not start:
                    break
        if best is before:
            break
    slopes_vary = bool(chosen.tau[ATTENTION] > 0.0) and has_chances(held_out.ballots.loss)
    return chosen, held_out.judge_shares(chosen, mixed=slopes_vary)


def _climb(
    held_out: HeldOut, chosen: Chosen, best: Judged, turn: list[int], factor: float
) -> tuple[Chosen, Judged]:
    for _ in range(_MOST_STEPS):
        tau = chosen.tau.copy()
        tau[turn] *= factor
        tried = replace(chosen, tau=tau)
        judged = held_out.judge(tried)
        if not judged.clearly_better(best):
            break
        chosen, best = tried, judged
    return chosen, best
