"""The mean taste of these annotators, each counting alike: what their votes alone say of it.

The path's common score leans on the middle of the tastes and on whoever voted most; asked about
*these* annotators a reader means their average. So everybody gets scores of their own,

    own scores of u  =  common  +  d_u,      d_u ~ N(0, tau^2) in each coefficient,

`tau^2` by the EM algorithm (Laplace's approximation, errors of the common part counted), and the
target is the mean of the own scores. With `A_u` the curvature of u's votes at their own scores,
`K_u = A_u + phi / tau^2` and `S = sum_u (A_u - A_u K_u^-1 A_u)`, the mean moves with the common
part by `M = 1 - mean of K_u^-1 A_u` and its covariance is

    phi (M S^-1 M^T + sum of K_u^-1 / U^2),

phi being the dispersion of the votes. For much the same votes of everybody this is the pooled
fit's; for annotators who saw little it says that their taste is not known. Attention is no
parameter here: who sees half of every difference has scores half as far apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, sparse

from prefpath.inference.absorption import annotator_coefficients, own_hessian
from prefpath.inference.consensus import Consensus, invert
from prefpath.inference.evidence import Evidence
from prefpath.inference.gradients import annotator_gradients
from prefpath.model.design import Floats, Ints
from prefpath.model.losses import Loss
from prefpath.predict import Comparisons, state_margins
from prefpath.votes.encode import BoolArray
from prefpath.votes.trials import trials_of_rows

_FIRST_VARIANCE, _SMALLEST, _LARGEST = 0.25, 1e-4, 25.0  # squared logits
_MOST_ROUNDS, _FEWEST_ROUNDS, _LOOKS_AT_AN_ANNOTATOR = 40, 4, 20_000
_SETTLED = 0.02  # relative change of tau^2, and absolute one of a coefficient
_LONGEST_STEP = 2.0
_LEAST_DISPERSION = 1e-6
_LEAST_OF_DECISIVE = 0.5  # what chance has of the dispersion of decisive votes, at least
_LEAST_PRIOR = 1e-12  # of the curvature: less is swallowed by rounding


@dataclass(frozen=True, eq=False)
class MeanTaste:
    """Mean of the annotators' own coefficients.

    Attributes
    ----------
    coefficient, covariance : array
        The common position effect, if any, is the last.
    variance : float
        Of the annotators' own parts, in each coefficient.
    """

    coefficient: Floats
    covariance: Floats
    variance: float


@dataclass(frozen=True, eq=False)
class _Round:
    """One look at everybody's votes: the common part's step, own parts after theirs, their mean."""

    step: Floats
    own: Floats
    mean: Floats
    covariance: Floats
    variance: float


def mean_taste(evidence: Evidence, start: Consensus) -> MeanTaste:
    """Mean taste of all who have votes in the evidence, with its covariance."""
    present = np.flatnonzero(np.diff(evidence.problem.design.cells) > 0).astype(np.int64)
    common, variance = start.coefficient, _FIRST_VARIANCE
    most = min(_MOST_ROUNDS, max(_FEWEST_ROUNDS, _LOOKS_AT_AN_ANNOTATOR // len(present)))
    for _ in range(most):
        found = _look(evidence, common, present, variance)
        settled = np.abs(found.step).max(initial=0.0) < _SETTLED
        settled &= abs(found.variance / variance - 1.0) < _SETTLED
        common, variance = common + found.step, found.variance
        evidence = replace(evidence, own=found.own)
        if settled:
            break
    found = _look(evidence, common, present, variance)
    centred = _without_level(evidence)
    mean = centred @ (common + found.step + found.mean)
    return MeanTaste(mean, centred @ found.covariance @ centred.T, variance)


def _look(evidence: Evidence, common: Floats, present: Ints, variance: float) -> _Round:
    """Newton's step in the common and all own parts, the next variance, and the mean's error."""
    gradient, dispersion = annotator_gradients(evidence, common), _dispersion(evidence, common)
    parts = [_Part(evidence, int(u), common, gradient, dispersion, variance) for u in present]
    size, n = evidence.n_coefficients, len(parts)
    curvature, pull = np.zeros((size, size)), np.zeros(size)
    for part in parts:
        curvature[np.ix_(part.touched, part.touched)] += part.left
        pull[part.touched] += part.pull
    bread = invert(evidence, curvature)
    step = np.clip(-bread @ pull, -_LONGEST_STEP, _LONGEST_STEP)
    own, mean = evidence.own.copy(), np.zeros(size)
    for part in parts:
        own[part.block] = part.stepped(step)
        mean[part.own_touched] += own[part.block] / n
    square = float(own @ own) + sum(part.expected_square(bread) for part in parts)
    each = square / max(sum(part.n_own for part in parts), 1)
    covariance = _error_of_mean(evidence, parts, bread, variance)
    return _Round(step, own, mean, covariance, min(max(each, _SMALLEST), _LARGEST))


def _error_of_mean(
    evidence: Evidence, parts: list[_Part], bread: Floats, variance: float
) -> Floats:
    """`M S^-1 M^T + sum of K_u^-1 / U^2`; of what u has not seen only the variance is known."""
    size, n = evidence.n_coefficients, len(parts)
    sensitivity, spread = np.eye(size), np.zeros((size, size))
    unseen = np.full(size, float(n))
    for part in parts:
        block = part.own_touched
        sensitivity[np.ix_(block, part.touched)] -= part.follows / n
        spread[np.ix_(block, block)] += part.uncertain / n**2
        unseen[block] -= 1.0
    unseen[~_is_own(evidence)] = 0.0
    spread[np.diag_indices(size)] += unseen * variance / n**2
    result: Floats = sensitivity @ bread @ sensitivity.T + spread
    return result


def _dispersion(evidence: Evidence, common: Floats) -> float:
    """Squared slopes over curvature, at the own scores: about 1 where the loss is a likelihood."""
    problem = evidence.problem
    votes, design = problem.votes, problem.design
    width = problem.n_common
    columns = design.seen_item
    if problem.features is not None:
        columns = np.tile(np.arange(width, dtype=np.int64), votes.n_annotators)
    shape = (votes.n_annotators, width)
    rows = np.flatnonzero(evidence.bounded[votes.left] & evidence.bounded[votes.right])
    margin = state_margins(
        Comparisons.of(votes, rows),
        theta=evidence.scores(common),
        deviation=sparse.csr_matrix((evidence.own, columns, design.blocks), shape=shape),
        bias=evidence.own_bias,
        common_bias=evidence.common_bias(common),
        features=problem.features,
    )
    choice, weight = votes.choice[rows], problem.weight[rows]
    each = weight / np.maximum(trials_of_rows(votes)[rows], 1e-300)
    slope = problem.loss.gradient(margin, choice)
    curvature = problem.loss.curvature(margin, choice)
    ratio = (weight * each * slope**2).sum() / max((weight * curvature).sum(), 1e-300)
    return float(max(ratio, _least_dispersion(problem.loss, choice, weight)))


def _least_dispersion(loss: Loss, choice: Floats, weight: Floats) -> float:
    """What the dispersion is at least, however closely own scores fit.

    Wins and losses of a likelihood have dispersion 1, ties 0. A handful of votes can be fitted by
    own scores exactly, and would then seem to be without chance: tastes of any size, surely known.
    """
    if not loss.binary or not np.isin(choice, (-1.0, 0.0, 1.0)).all():
        return _LEAST_DISPERSION
    decisive = float((weight * choice**2).sum() / max(weight.sum(), 1e-300))
    return max(_LEAST_OF_DECISIVE * decisive, _LEAST_DISPERSION)


class _Part:
    """What one annotator's votes say of the common and of their own coefficients."""

    def __init__(
        self,
        evidence: Evidence,
        u: int,
        common: Floats,
        gradients: tuple[Floats, Floats],
        dispersion: float,
        variance: float,
    ) -> None:
        design = evidence.problem.design
        self.touched = annotator_coefficients(evidence, u)
        self.block = slice(int(design.blocks[u]), int(design.blocks[u + 1]))
        self.own = evidence.own[self.block]
        self.n_own = len(self.own)
        self.own_touched = self.touched[: self.n_own]
        shared = len(self.touched)
        hessian = own_hessian(evidence, u, common)[:shared, :shared] / dispersion
        across = hessian[: self.n_own]
        prior = np.maximum(1.0 / variance, _LEAST_PRIOR * np.diag(hessian)[: self.n_own])
        inner = across[:, : self.n_own] + np.diag(prior)
        factor = linalg.cho_factor(inner, lower=True, check_finite=False)
        blocks, position = gradients
        gradient = np.append(blocks[self.block], position[u])[:shared] / dispersion
        self.uncertain = linalg.cho_solve(factor, np.eye(self.n_own), check_finite=False)
        self.follows = self.uncertain @ across
        self.towards = self.uncertain @ (gradient[: self.n_own] + self.own / variance)
        self.left = hessian - across.T @ self.follows
        self.pull = gradient - across.T @ self.towards

    def stepped(self, step: Floats) -> Floats:
        """Own part after the common one has made its step."""
        move = -self.towards - self.follows @ step[self.touched]
        return self.own + np.clip(move, -_LONGEST_STEP, _LONGEST_STEP)

    def expected_square(self, bread: Floats) -> float:
        """Trace of the own part's covariance, the common part not being known either."""
        inner = bread[np.ix_(self.touched, self.touched)]
        return float(np.trace(self.uncertain) + np.sum(self.follows * (self.follows @ inner)))


def _is_own(evidence: Evidence) -> BoolArray:
    """Coefficients of which everybody has one of their own, where votes bound them."""
    own = np.arange(evidence.n_coefficients) < evidence.problem.n_common
    return own & evidence.free


def _without_level(evidence: Evidence) -> Floats:
    """Projection of the coefficients that takes each component's level out."""
    centred = np.eye(evidence.n_coefficients)
    if evidence.problem.features is None:
        free = np.flatnonzero(evidence.free)
        centred[np.ix_(free, free)] -= evidence.level
    return centred
