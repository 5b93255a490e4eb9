"""Covariance of the common part, clustered by annotator.

Whole annotators are the draws: their votes share a taste. With `g_u` the gradient of annotator
u's votes at the consensus and `A_u` their curvature (what their own part leaves of it), the
covariance is `P (sum_u h_u h_u^T) P`, where `P` is the inverse of `sum_u A_u` and
`h_u = (1 - A_u P)^-1 g_u` is the gradient where u had no say: the jackknife's correction
(CR3), without which a busy annotator hides their own influence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy import sparse

from prefpath.inference.absorption import (
    absorb,
    annotator_coefficients,
    balanced_pull,
    balanced_sizes,
)
from prefpath.inference.attenuation import Attenuation, attenuation
from prefpath.inference.consensus import (
    Consensus,
    common_hessian,
    fit_consensus,
    invert,
)
from prefpath.inference.dispersion import squares_and_curvature
from prefpath.inference.evidence import Evidence, deviating_annotators
from prefpath.inference.gradients import annotator_gradients
from prefpath.inference.leaning import balance_leans, curvature_left
from prefpath.inference.leverage import remove_leverage
from prefpath.inference.shared_taste import are_camps, deviating_to_ask
from prefpath.inference.unseen import Told, UnseenVariance, told_by, unseen_variance
from prefpath.model.design import Floats, Ints
from prefpath.pairs.squares import squared
from prefpath.stages import INTERVALS, tell

# Shares of the time that the intervals of a million votes take, for who watches.
_AFTER_CONSENSUS, _AFTER_CURVATURE, _AFTER_LEVERAGE = 0.15, 0.4, 0.65
_TOLD_EVERY = 100  # annotators with a deviation
_NUMBERS_KEPT = 50_000_000  # of the curvature of those: 400 MB


@dataclass(frozen=True, eq=False)
class Clustered:
    """Covariance of the common part at the consensus.

    Attributes
    ----------
    consensus : Consensus
    inverse : array
        Inverse of the curvature, the annotators' own parts re-estimated.
    covariance : array
        Clustered by annotator.
    unclustered : array
        As if every vote were drawn by itself and the annotators' own parts were known: no
        estimate is better.
    gradient : sparse array (n_annotators, n_coefficients)
        Each annotator's pull at the consensus.
    held : array
        Curvature of the active annotators together, own parts re-estimated.
    sizes : array (n_annotators,)
        Length of each deviation where it balances the penalty.
    attenuation : Attenuation
        What unseen tastes are expected to have taken from the consensus.
    degrees_of_freedom : float
        Annotators less one, as the jackknife's covariance wants (Hansen 2025).
    """

    consensus: Consensus
    inverse: Floats
    covariance: Floats
    unclustered: Floats
    gradient: sparse.csr_array
    held: Floats
    sizes: Floats
    attenuation: Attenuation
    degrees_of_freedom: float

    @property
    def settled(self) -> Floats:
        """The common part intervals are around."""
        return self.consensus.coefficient - self.attenuation.shift

    def settle(self, draws: Floats) -> Floats:
        """Draws of the consensus with what unseen tastes took put back; infinite ones stay."""
        moved = draws - self.consensus.coefficient
        known = np.isfinite(moved)
        corrected = self.settled + np.where(known, moved, 0.0) @ self.attenuation.jacobian.T
        return np.where(known, corrected, draws)

    def of_settled(self, covariance: Floats) -> Floats:
        """A covariance of the consensus as one of the common part intervals are around."""
        jacobian = self.attenuation.jacobian
        result: Floats = jacobian @ covariance @ jacobian.T + self.attenuation.covariance
        return result


class Annotators(Protocol):
    """What the covariance needs of the annotators' votes, be these here or elsewhere."""

    gradient: sparse.csr_array
    sizes: Floats

    def settle(self, coefficient: Floats) -> Floats:
        """Curvature of the active together, own parts re-estimated, at a consensus."""

    def spread(self, bread: Floats) -> Spread:
        """How the annotators' pulls vary, each as it is where they had no say."""

    def unseen(self, bread: Floats) -> UnseenVariance:
        """Variance of the tastes that nobody has found."""

    def pulls(self, who: Ints) -> sparse.csr_array:
        """How some annotators pull on the common coefficients, a row each."""


class Spread(NamedTuple):
    """Sums over annotators: `h h^T` and h, squared slopes and curvature of votes, and rows."""

    products: Floats
    drift: Floats
    squares: float
    curvature: float
    n_rows: int


class AnnotatorsHere:
    """Annotators whose votes are on this machine."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence

    def settle(self, coefficient: Floats) -> Floats:
        evidence, self._coefficient = self._evidence, coefficient
        self._blocks, self._position = annotator_gradients(evidence, coefficient)
        self.sizes = balanced_sizes(evidence, coefficient, self._blocks)
        self._kept: dict[int, Floats] = {}
        held = _deviating_curvature(evidence, coefficient, self.sizes, self._kept)
        held += curvature_left(evidence, coefficient)
        _balance(evidence, self._blocks, self._position)
        self.gradient = as_rows(evidence, self._blocks, self._position)
        return held

    def spread(self, bread: Floats) -> Spread:
        evidence, blocks, position = self._evidence, self._blocks.copy(), self._position.copy()
        at, kept = (self._coefficient, self.sizes), self._kept
        remove_leverage(evidence, *at, bread, blocks, position, kept)
        corrected = as_rows(evidence, blocks, position)
        return Spread(
            squared(corrected),
            np.asarray(corrected.sum(axis=0)),
            *squares_and_curvature(evidence, self._coefficient),
        )

    def unseen(self, bread: Floats) -> UnseenVariance:
        return unseen_variance(self._evidence, self._coefficient, bread, self.gradient)

    def pulls(self, who: Ints) -> sparse.csr_array:
        return sparse.csr_array(self.gradient[who][:, : self._evidence.problem.n_common])

    def told_by(self, bread: Floats, who: Ints) -> Told:
        """What the votes of some followers tell of that."""
        return told_by(self._evidence, self._coefficient, bread, self.gradient, who)


def cluster_covariance(evidence: Evidence, annotators: Annotators | None = None) -> Clustered:
    """Sandwich covariance of the common part at the consensus beside the offsets."""
    tell(INTERVALS, 0.0)
    crowd = AnnotatorsHere(evidence) if annotators is None else annotators
    consensus = fit_consensus(evidence)
    tell(INTERVALS, _AFTER_CONSENSUS)
    held = crowd.settle(consensus.coefficient)
    bread = invert(evidence, _follower_curvature(evidence, consensus.coefficient) + held)
    tell(INTERVALS, _AFTER_CURVATURE)
    spread, n_present = crowd.spread(bread), evidence.n_present
    tell(INTERVALS, _AFTER_LEVERAGE)
    drift = spread.drift / max(n_present, 1)
    meat = spread.products - n_present * np.outer(drift, drift)
    meat *= (n_present - 1) / max(n_present, 1)
    # Squared gradients over curvature: about 1 where the loss is a likelihood, and where nobody who
    # follows has a vote that weighs anything.
    told = spread.n_rows > 0 and spread.curvature > 0.0
    dispersion = spread.squares / spread.curvature if told else 1.0
    unclustered = dispersion * consensus.inverse
    # One annotator cannot show how annotators differ: their votes are then all there is.
    alone = n_present < 2
    camps = are_camps(evidence, crowd.pulls(deviating_to_ask(evidence)))
    found = attenuation(evidence, consensus.coefficient, bread, crowd.unseen(bread), camps=camps)
    tell(INTERVALS, 1.0)
    return Clustered(
        consensus=consensus,
        inverse=bread,
        covariance=unclustered if alone else bread @ meat @ bread,
        unclustered=unclustered,
        gradient=crowd.gradient,
        held=held,
        sizes=crowd.sizes,
        attenuation=found,
        degrees_of_freedom=np.inf if alone else float(n_present - 1),
    )


def _follower_curvature(evidence: Evidence, coefficient: Floats) -> Floats:
    return common_hessian(evidence, coefficient, *evidence.slot_votes.followers)


def _deviating_curvature(
    evidence: Evidence, coefficient: Floats, sizes: Floats, kept: dict[int, Floats]
) -> Floats:
    """Of all together; that of each is kept for `remove_leverage` while there is room."""
    room = _NUMBERS_KEPT
    total = np.zeros((evidence.n_coefficients, evidence.n_coefficients))
    deviating = deviating_annotators(evidence)
    for k, u in enumerate(deviating):
        touched = annotator_coefficients(evidence, u)
        left = absorb(evidence, int(u), coefficient, float(sizes[u])).matrix()
        total[np.ix_(touched, touched)] += left
        room -= left.size
        if room >= 0:
            kept[int(u)] = left
        if k % _TOLD_EVERY == 0:
            share = k / len(deviating)
            tell(INTERVALS, _AFTER_CONSENSUS + share * (_AFTER_CURVATURE - _AFTER_CONSENSUS))
    return total


def _balance(evidence: Evidence, blocks: Floats, position_gradient: Floats) -> None:
    """Put the balance of the penalty in for the gradients of the active, in place."""
    balance_leans(evidence, position_gradient)
    ends = evidence.problem.design.blocks
    for u in deviating_annotators(evidence):
        block = slice(int(ends[u]), int(ends[u + 1]))
        pull = balanced_pull(evidence, int(u), blocks[block], float(position_gradient[u]))
        blocks[block], position_gradient[u] = pull[:-1], pull[-1]


def as_rows(evidence: Evidence, blocks: Floats, position_gradient: Floats) -> sparse.csr_array:
    """Annotators' gradients as the rows of a sparse matrix over the common coefficients."""
    problem = evidence.problem
    design, n_annotators = problem.design, problem.votes.n_annotators
    width = problem.n_common
    columns = design.seen_item if problem.features is None else _tiled(width, n_annotators)
    rows = sparse.csr_array((blocks, columns, design.blocks), shape=(n_annotators, width))
    if problem.common_position:
        rows = sparse.hstack((rows, sparse.csr_array(position_gradient[:, None])), format="csr")
    return sparse.csr_array(rows)


def _tiled(width: int, times: int) -> Ints:
    return np.tile(np.arange(width, dtype=np.int64), times)
