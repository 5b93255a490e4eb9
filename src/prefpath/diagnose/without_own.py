"""Common scores as they are without an annotator's own votes: what these are measured against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from prefpath.diagnose.ballots import Ballots, PooledShape
from prefpath.diagnose.consensus import CommonModel, Consensus
from prefpath.diagnose.few.margins import leave_out_of_few, score_of_few
from prefpath.diagnose.lean_kernels import Counts
from prefpath.diagnose.null_model import NullModel
from prefpath.diagnose.pvalues import over_shards
from prefpath.diagnose.without_own_kernels import leave_out_shard, score_of_pooled_slope
from prefpath.model.design import Floats, Ints
from prefpath.votes.encode import BoolArray
from prefpath.votes.segments import rows_of

# Whoever has a larger share of all votes is left out by fitting again; at most 50 can have it.
_HEAVY = 0.02
_LEFT_IN = 0.01  # what a vote taken out still weighs: enough where nobody else saw an item
_SMALLEST_VARIANCE = 0.01
_NEWTON_STEPS = 20
_SLOPES = (0.25, 4.0)  # beyond these the common scores say next to nothing


@dataclass(frozen=True, eq=False)
class CommonMargins:
    """What the crowd says of each comparison, the annotator's own votes left out.

    Attributes
    ----------
    difference : array (n_cells,)
        Common score of the left item less that of the right one, shrunk by its reliability and
        scaled so that those who follow the crowd have slope 1 on it.
    score_variance : array, one for each item an annotator has seen
        Variance of the error of its common score.
    spread : float
        Standard deviation of the true common scores, estimated.
    """

    difference: Floats
    score_variance: Floats
    spread: float


class Comparing(Protocol):
    """Votes that can be compared with the common scores, each annotator's own left out."""

    @property
    def decisive(self) -> Floats: ...

    def leave_out(
        self, consensus: Consensus, weight: Floats, chosen: BoolArray, spread: float | None
    ) -> None:
        """Margins of the chosen annotators without their own votes, these weighing so much.

        With `spread`, of everybody, from nothing.
        """

    def slope_terms(
        self, slope: float, position: float, followers: BoolArray
    ) -> tuple[float, float]:
        """Score and information of one slope of the followers' choices on the margins."""

    def rescale(self, scale: float) -> None:
        """Multiply the margins."""


class MarginsHere:
    """Margins of votes on this machine."""

    def __init__(self, ballots: Ballots, n_threads: int | None = None) -> None:
        self.ballots, self._n_threads = ballots, n_threads
        self.margins = CommonMargins(np.zeros(0), np.zeros(0), 1.0)
        self._last: tuple[Consensus, Floats, Floats] | None = None

    def expected(self, consensus: Consensus) -> tuple[Floats, Floats]:
        """Margin and probability of each cell at a common model; of the last one they are kept."""
        if self._last is None or self._last[0] is not consensus:
            # Arrays of the last model serve again: fresh memory takes as long as filling it.
            margin, p = (None, None) if self._last is None else self._last[1:]
            margin = self.ballots.margin(consensus.scores, consensus.position, margin)
            self._last = consensus, margin, self.ballots.probability(margin, p)
        return self._last[1:]

    @property
    def decisive(self) -> Floats:
        return self.ballots.decisive

    @property
    def shape(self) -> PooledShape:
        return self.ballots.shape

    @property
    def pairs(self) -> Ints:
        return self.ballots.pairs

    def pooled(self, weight: Floats | None) -> tuple[Floats, Floats]:
        return self.ballots.pooled(weight)

    def leave_out(
        self, consensus: Consensus, weight: Floats, chosen: BoolArray, spread: float | None
    ) -> None:
        if spread is not None:
            self.margins = CommonMargins(*self._buffers(), spread)
        null = self._null(consensus, chosen)
        _leave_out(self.ballots, null, consensus, weight, chosen, self.margins, self._n_threads)

    def _buffers(self) -> tuple[Floats, Floats]:
        """Arrays for margins and variances: those of the last round, all of which is filled again.

        Fresh memory is what takes most of the time of filling it.
        """
        n_cells, n_seen = len(self.ballots.trials), int(self.ballots.design.seen[-1])
        last = self.margins
        if len(last.difference) == n_cells and len(last.score_variance) == n_seen:
            return last.difference, last.score_variance
        return np.zeros(n_cells), np.zeros(n_seen)

    def _null(self, consensus: Consensus, chosen: BoolArray) -> NullModel:
        """What a common model expects of the cells of those chosen; of others nothing is said."""
        ballots = self.ballots
        if chosen.all():
            margin, p = self.expected(consensus)
            slope = ballots.slope_at(margin, p, ballots.for_a_moment)
        else:
            cells = rows_of(ballots.design.cells, np.flatnonzero(chosen))
            p, slope = np.empty(len(ballots.trials)), np.empty(len(ballots.trials))
            apart = consensus.scores[ballots.left[cells]] - consensus.scores[ballots.right[cells]]
            margin = apart + ballots.design.position[cells] * consensus.position
            p[cells] = ballots.probability(margin)
            slope[cells] = ballots.slope_at(margin, p[cells])
        return NullModel(ballots.trials, ballots.wins, p, slope, consensus.score_error)

    def slope_terms(
        self, slope: float, position: float, followers: BoolArray
    ) -> tuple[float, float]:
        ballots = self.ballots
        counts = Counts(ballots.trials, ballots.wins, self.margins.difference)
        terms = ballots.in_numpy_if_few(score_of_pooled_slope, score_of_few)
        score, information = terms(
            slope, position, ballots.design, counts, ballots.probit, followers
        )
        return score, information

    def rescale(self, scale: float) -> None:
        of = self.margins
        np.multiply(of.difference, scale, out=of.difference)
        np.multiply(of.score_variance, scale**2, out=of.score_variance)
        self.margins = CommonMargins(of.difference, of.score_variance, of.spread * scale)


def margins_without_own(
    ballots: Ballots, common: CommonModel, consensus: Consensus, aside: BoolArray, **how: Any
) -> CommonMargins:
    """`compare_with_others` of votes on this machine."""
    here = MarginsHere(ballots)
    compare_with_others(here, common, consensus, aside, **how)
    return here.margins


def compare_with_others(
    votes: Comparing,
    common: CommonModel,
    consensus: Consensus,
    aside: BoolArray,
    *,
    unlike: BoolArray | None = None,
    refit: bool = True,
) -> None:
    """Leave every annotator's votes out of the common scores they are compared with.

    By one step of Newton's method with the diagonal of the information (close where items met
    many others); by fitting again, with `refit`, for those with more than 2 % of all votes.
    Those `unlike` the others in attention have no say in what slope 1 is.
    """
    weight, decisive = np.where(aside, _LEFT_IN, 1.0), votes.decisive
    votes.leave_out(consensus, weight, np.ones(len(aside), dtype=bool), _spread(consensus))
    if refit:
        for u in np.flatnonzero(~aside & (decisive > _HEAVY * decisive.sum())):
            others = weight.copy()
            others[u] = _LEFT_IN
            votes.leave_out(common.fit(others), others, np.arange(len(aside)) == u, None)
    followers = ~aside if unlike is None else ~(aside | unlike)
    votes.rescale(_pooled_slope(votes, consensus.position, followers))


def _spread(consensus: Consensus) -> float:
    """Standard deviation of the true scores: the observed one without the errors."""
    variance = consensus.score_error**2
    weight = 1.0 / (1.0 + variance) ** 2
    own = consensus.scores - np.average(consensus.scores, weights=weight)
    excess = float(np.average(own**2 - variance, weights=weight))
    return float(np.sqrt(max(excess, _SMALLEST_VARIANCE)))


def _leave_out(
    ballots: Ballots,
    null: NullModel,
    consensus: Consensus,
    weight: Floats,
    chosen: BoolArray,
    out: CommonMargins,
    n_threads: int | None,
) -> None:
    # With features every vote moves every score: those are left as they are.
    prior = out.spread**-2.0 if ballots.features is None else 0.0
    scores = consensus.scores

    shard = ballots.in_numpy_if_few(leave_out_shard, leave_out_of_few)

    def one_shard(who: Ints) -> None:
        shard(who, ballots.design, null, scores, weight, prior, out_arrays)

    out_arrays = (out.difference, out.score_variance)
    over_shards(one_shard, ballots, chosen, n_threads)


def _pooled_slope(votes: Comparing, position: float, followers: BoolArray) -> float:
    """Slope of the followers' choices on the margins: 1 where these are calibrated."""
    slope = 1.0
    for _ in range(_NEWTON_STEPS):
        score, information = votes.slope_terms(slope, position, followers)
        step = score / max(information, 1e-300)
        slope = float(np.clip(slope + np.clip(step, -0.5, 0.5), *_SLOPES))
        if abs(step) < 1e-3 * slope:
            break
    return slope
