"""Strengths on held-out votes: the likelihood's choice, corrected where it predicts badly.

The approximation behind the likelihood is poor where votes are few or nearly always agree, and
the votes that it sees have said who has entered. So three multipliers (of tastes, of leans and
attention, of the common scores) and the share of the variance that counts are chosen by
cross-validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from prefpath.model.design import Floats
from prefpath.model.losses import Loss
from prefpath.predict import Comparisons
from prefpath.selection.folds import Fold
from prefpath.weak.effects import Shares, WeakEffects
from prefpath.weak.layout import Ballots
from prefpath.weak.margins import Moments, attenuation
from prefpath.weak.strengths import (
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
_SHARES = (0.0, 0.25, 0.5, 1.0, 1.5)


class Judged(NamedTuple):
    """Loss and weight of each held-out vote, and the share of variance that makes it smallest."""

    cost: Floats
    weight: Floats
    shares: Shares

    @property
    def error(self) -> float:
        """Mean held-out loss."""
        return float(self.weight @ self.cost / self.weight.sum())

    def clearly_better(self, other: Judged) -> bool:
        """Whether the error is smaller by more than two standard errors, paired by vote."""
        gain = other.cost - self.cost
        mean = float(self.weight @ gain / self.weight.sum())
        spread = float(np.sqrt(self.weight**2 @ (gain - mean) ** 2)) / float(self.weight.sum())
        return mean > max(_WORTH, _SURE * spread)


@dataclass(eq=False)
class HeldOut:
    """Votes, and folds of them; each fold remembers its last mode as a start of the next."""

    ballots: Ballots
    groups: Groups
    entered: Entered
    folds: Sequence[Fold]
    starts: list[tuple[Floats, Floats]]

    def judge(self, chosen: Chosen) -> Judged:
        """Error on held-out votes under some strengths."""
        found = [self._one(k, chosen) for k in range(len(self.folds))]
        whole = Moments(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
        rows = np.concatenate([np.flatnonzero(fold.test) for fold in self.folds])
        weight = np.concatenate([fold.test[fold.test != 0] for fold in self.folds])
        choice, loss = self.ballots.votes.choice[rows], self.ballots.loss
        if not loss.binary:
            return Judged(_cost(loss, whole, Shares(), choice), weight, Shares())
        tried = [Shares(share, 0.0) for share in _SHARES]
        first = _best([Judged(_cost(loss, whole, s, choice), weight, s) for s in tried])
        tried = [Shares(first.shares.additive, share) for share in _SHARES[1:]]
        return _best([first, *(Judged(_cost(loss, whole, s, choice), weight, s) for s in tried)])

    def _one(self, k: int, chosen: Chosen) -> Moments:
        fold = self.folds[k]
        ballots = self.ballots.with_weight(fold.train)
        posterior = chosen.posterior(ballots, self.groups)
        q, tau = self.starts[k]
        start = rescaled(q, self.groups, tau, chosen.tau)
        state = find_rough_mode(posterior, start)
        self.starts[k] = state.q, chosen.tau
        effects = WeakEffects.at(ballots, self.entered, chosen, posterior, state)
        return effects.moments(Comparisons.of(ballots.votes, np.flatnonzero(fold.test)))


def _best(judged: list[Judged]) -> Judged:
    return judged[int(np.argmin([one.error for one in judged]))]


def _cost(loss: Loss, found: Moments, shares: Shares, choice: Floats) -> Floats:
    variance = shares.additive * found.additive + shares.slope * found.slope
    return loss.value(found.mean * attenuation(loss, variance), choice)


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
    return chosen, best


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
