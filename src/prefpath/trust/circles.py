"""Circles of preference, beside what a single ranking and chance would give."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import chdtri

from prefpath.hodge import HodgeDecomposition, hodge_decompose
from prefpath.hodge.flow import PairFlow
from prefpath.hodge.gradient import fit_scores, gradient_of
from prefpath.pairs import PairCounts, fit_bradley_terry, pool_pairs
from prefpath.trust.panel import TrustCheck
from prefpath.trust.words import share_of
from prefpath.votes import Votes
from prefpath.votes.encode import FloatArray

MORE_THAN_EXPECTED = 1.5
RARELY = 0.01  # how often chance alone may be taken for circles
FEW_CIRCLES = 0.05
_RIDGE = 1e-3  # keeps scores finite where an item never lost; far below the weight of one vote


def check_circles(votes: Votes) -> TrustCheck:
    """Whether circles hold more of the crowd's preference than one ranking would leave there."""
    parts = hodge_decompose(votes)
    if len(parts.weight) - len(parts.items) + parts.n_components == 0:
        finding = "cannot be checked: no items were compared in a circle"
        return TrustCheck("circles", "unchecked", finding)
    energy = parts.energy
    few = parts.cyclicity < FEW_CIRCLES
    expected = expected_circles(parts, _decided(votes))
    expectable = few or energy.local + energy.harmonic <= expected.at_most
    if expectable and majorities_form_no_circle(parts):
        finding = "what most prefer has no circle (a over b over c over a)"
        return TrustCheck("circles", "passed", finding)
    finding = (
        f"circles (a over b over c over a) hold {parts.cyclicity:.0%} of what the crowd "
        f"prefers: triangles {share_of(energy.local, energy.total)}, longer circles "
        f"{share_of(energy.harmonic, energy.total)}; one ranking and chance would give about "
        f"{share_of(expected.energy, energy.total)}"
    )
    if expectable:
        return TrustCheck("circles", "passed", finding)
    return TrustCheck(
        "circles",
        "warn",
        finding,
        "no single ranking explains this: the items differ in more ways than one"
        if votes.n_annotators == 1
        else f"no single ranking explains this: {votes.voter}s differ, or the items differ in more "
        "ways than one; look at who deviates",
    )


def majorities_form_no_circle(parts: HodgeDecomposition) -> bool:
    """Whether nobody comes back to an item by going from each to one that most prefer to it.

    Energy alone does not tell: it counts every bend of the scale, and where everybody agrees on
    one order choices of 1 bend it as much as they can.
    """
    decided = parts.flow != 0
    up = parts.flow[decided] > 0
    first, second = parts.first[decided], parts.second[decided]
    ends = np.where(up, first, second), np.where(up, second, first)
    n_items = len(parts.items)
    beats = coo_array((np.ones(len(up)), ends), shape=(n_items, n_items))
    n_classes, _ = connected_components(beats.tocsr(), connection="strong")
    return bool(n_classes == n_items)


class ExpectedCircles(NamedTuple):
    """Energy in circles without any real one: a bent scale's, and that of scattered votes."""

    bent: float
    noise: float
    n_circles: int

    @property
    def energy(self) -> float:
        """On average."""
        return self.bent + self.noise

    @property
    def at_most(self) -> float:
        """What is still no news: a few circles vary more than many, as a chi-square does."""
        largest = float(chdtri(self.n_circles, RARELY)) / self.n_circles
        return max(MORE_THAN_EXPECTED * self.energy, self.bent + largest * self.noise)


def expected_circles(parts: HodgeDecomposition, decided: FloatArray) -> ExpectedCircles:
    """Energy in circles if all votes that decide came from one Bradley-Terry ranking.

    `decided` is the mean square choice of each pair: the share of its votes that were no ties. Two
    things put energy there without any real circle. The mean choice, that share times tanh of half
    the difference of scores, is not itself a difference of scores: that part is projected. And
    votes scatter: a pair's flow has weighted variance `decided - mean^2`, of which circles get
    their share of the dimensions.
    """
    mean = decided * _bradley_terry_flow(parts, decided)
    flow = PairFlow(len(parts.items), parts.first, parts.second, parts.weight, mean)
    bent = mean - gradient_of(flow, fit_scores(flow, parts.component))
    n_pairs = len(parts.weight)
    n_circles = n_pairs - len(parts.items) + parts.n_components
    noise = np.clip(decided - mean**2, 0.0, None).sum() * n_circles / n_pairs
    return ExpectedCircles(float((parts.weight * bent**2).sum()), float(noise), n_circles)


def _bradley_terry_flow(parts: HodgeDecomposition, decided: FloatArray) -> FloatArray:
    """The mean choice of the votes of each pair that decide, by the scores of all such votes."""
    some = np.flatnonzero(decided > 0.0)
    choice = np.clip(parts.flow[some] / decided[some], -1.0, 1.0)
    weight = parts.weight[some] * np.minimum(decided[some], 1.0)
    first, second = parts.first[some], parts.second[some]
    counts = PairCounts(len(parts.items), first, second, weight, choice)
    scores = fit_bradley_terry(counts, ridge=_RIDGE).scores
    flow: FloatArray = np.tanh((scores[parts.first] - scores[parts.second]) / 2.0)
    return flow


def _decided(votes: Votes) -> FloatArray:
    """Mean square choice of each pair: 1 without ties, and without strengths."""
    ends = np.minimum(votes.left, votes.right), np.maximum(votes.left, votes.right)
    pooled = pool_pairs(*ends, votes.choice**2, votes.weight, n_items=votes.n_items)
    return np.asarray(pooled.choice)
