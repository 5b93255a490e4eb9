"""Rivals that know annotators: hierarchical logistic models, L1, and judges' discriminations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np

from prefpath.baselines.annotator_effects import (
    Effects,
    EffectsModel,
    Precisions,
    Slope,
    Tastes,
    fit_effects,
    multiplier_of,
)
from prefpath.baselines.base import Baseline, Fit, Grid, Votings, as_grid, centred
from prefpath.baselines.training import Training
from prefpath.baselines.tuning import Criterion
from prefpath.votes.encode import FloatArray


@dataclass(frozen=True, kw_only=True)
class AnnotatorEffects(Baseline):
    """What these rivals share: normal priors on scores and on effects of annotators.

    Precisions are tuned by cross-validated log-loss; margins and probabilities are those of the
    annotator who voted. Somebody unknown has no effect of their own.
    """

    probabilistic: ClassVar[bool] = True
    uses_annotators: ClassVar[bool] = True
    personal: ClassVar[bool] = True
    _slope: ClassVar[Slope] = "none"
    _with_taste: ClassVar[bool] = True
    _l1: ClassVar[bool] = False

    criterion: Criterion = "log-loss"
    score: Grid = (1.0, 0.1)

    def _precisions(self) -> Iterator[Precisions]:
        """Every setting, the simplest first."""
        raise NotImplementedError

    def _fit_path(self, training: Training) -> Sequence[Fit]:
        model = EffectsModel.of(training, slope=self._slope, with_taste=self._with_taste)
        found = np.zeros(sum(model.sizes))
        path = []
        for precisions in self._precisions():  # each starts where the one before ended
            found = fit_effects(model, precisions, start=found, l1=self._l1)
            setting = {k: v for k, v in precisions._asdict().items() if np.isfinite(v)}
            scores = centred(training.item_design @ model.blocks(found)[0], training.item_weight)
            path.append(Fit(scores, setting, effects=_effects(model, training, found)))
        return path

    def _margins(self, fit: Fit, asked: Votings) -> FloatArray:
        effects: Effects = fit.effects
        who = asked.annotator.astype(np.int64)
        margin = effects.multiplier[who] * (fit.scores[asked.left] - fit.scores[asked.right])
        margin = margin + asked.known * effects.lean[who]
        if effects.tastes is not None:
            margin += effects.tastes.difference(who, asked.left, asked.right)
        return margin


def _effects(model: EffectsModel, training: Training, parameters: FloatArray) -> Effects:
    _, taste, lean, slope = model.blocks(parameters)
    tastes = None
    if len(taste) and training.features is None:
        tastes = Tastes(model.taste_key, taste, None, training.n_items)
    elif len(taste):
        own = np.vstack([taste.reshape(model.n_annotators, -1), np.zeros(model.common.shape[1])])
        tastes = Tastes(None, own, training.features, training.n_items)
    return Effects(
        multiplier_of(model.slope, np.append(slope, 0.0))[0], np.append(lean, 0.0), tastes
    )


@dataclass(frozen=True, kw_only=True)
class Ridge(AnnotatorEffects):
    """Hierarchical logistic regression: scores, and a taste and a lean for every annotator.

    `P(u says i over j) = sigmoid(s_i - s_j + taste_ui - taste_uj + lean_u)`, all with normal
    priors.

    Parameters
    ----------
    score, taste, lean : float or tuple of float
        Precisions of the priors.
    """

    name: ClassVar[str] = "ridge"

    taste: Grid = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
    lean: Grid = (10.0, 1.0, 0.1)

    def _precisions(self) -> Iterator[Precisions]:
        for score, lean, taste in product(*map(as_grid, (self.score, self.lean, self.taste))):
            yield Precisions(score, taste, lean)


@dataclass(frozen=True, kw_only=True)
class RidgeSlopes(AnnotatorEffects):
    """`Ridge` in which annotators also see differences of scores more or less sharply.

    The score difference is multiplied by `1 + slope_u`: 0 answers at random, -1 contrarily.

    Parameters
    ----------
    score, taste, lean, slope : float or tuple of float
        Precisions of the priors.
    """

    name: ClassVar[str] = "ridge with slopes"
    _slope: ClassVar[Slope] = "linear"

    taste: Grid = (30.0, 10.0, 3.0, 1.0)
    lean: Grid = (10.0, 1.0, 0.1)
    slope: Grid = (3.0, 0.3)

    def _precisions(self) -> Iterator[Precisions]:
        grids = map(as_grid, (self.score, self.lean, self.slope, self.taste))
        for score, lean, slope, taste in product(*grids):
            yield Precisions(score, taste, lean, slope)


@dataclass(frozen=True, kw_only=True)
class L1(AnnotatorEffects):
    """`Ridge` with an L1 penalty on tastes and leans in the ridge's place: most are zero.

    Parameters
    ----------
    score : float or tuple of float
        Precision of the scores' normal prior.
    penalty : float or tuple of float
        Of an absolute taste or lean, beside the log-likelihood summed over votes.
    """

    name: ClassVar[str] = "L1 logistic"
    _l1: ClassVar[bool] = True

    penalty: Grid = (10.0, 5.0, 3.0, 2.0, 1.0, 0.5)

    def _precisions(self) -> Iterator[Precisions]:
        for score, penalty in product(as_grid(self.score), as_grid(self.penalty)):
            yield Precisions(score, penalty, penalty)


@dataclass(frozen=True, kw_only=True)
class BTSigma(AnnotatorEffects):
    """Bradley-Terry with a discrimination for every judge: `sigmoid((s_i - s_j) / sigma_u)`.

    A discrimination is positive, so that nobody is contrary. `log sigma` has a normal prior,
    which keeps a judge of few votes near the others.

    Parameters
    ----------
    score, discrimination : float or tuple of float
        Precisions of the priors.

    References
    ----------
    M. Qian, G. Sun, M. J. F. Gales and K. M. Knill (2026). Who can we trust? LLM-as-a-jury
    for comparative assessment. arXiv 2602.16610. Written from the model, not from its code.
    """

    name: ClassVar[str] = "BT-sigma"
    _slope: ClassVar[Slope] = "log"
    _with_taste: ClassVar[bool] = False

    discrimination: Grid = (10.0, 3.0, 1.0, 0.3, 0.1)

    def _precisions(self) -> Iterator[Precisions]:
        for score, own in product(as_grid(self.score), as_grid(self.discrimination)):
            yield Precisions(score, slope=own)


@dataclass(frozen=True, kw_only=True)
class HeterogeneousJudges(AnnotatorEffects):
    """Consensus, a judge's sensitivity to it, and residual disagreement on items.

    `sigmoid(a_u (s_i - s_j) + taste_ui - taste_uj)` with positive `a_u`. Normal priors separate
    the three where the paper constrains the residuals to be orthogonal to the consensus.

    Parameters
    ----------
    score, taste, sensitivity : float or tuple of float
        Precisions of the priors.

    References
    ----------
    S. Yu, Y. Wang, Y. Chen, G. Li and J.-H. Du (2026). Heterogeneous judge-aware ranking with
    sensitivity, disagreement, and confidence. arXiv 2605.05073. Written from the model.
    """

    name: ClassVar[str] = "heterogeneous judges"
    _slope: ClassVar[Slope] = "log"

    taste: Grid = (100.0, 30.0, 10.0, 3.0, 1.0)
    sensitivity: Grid = (10.0, 1.0, 0.1)

    def _precisions(self) -> Iterator[Precisions]:
        grids = map(as_grid, (self.score, self.sensitivity, self.taste))
        for score, sensitivity, taste in product(*grids):
            yield Precisions(score, taste, slope=sensitivity)
