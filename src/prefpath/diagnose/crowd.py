"""The annotators of a fit as a diagnosis asks them, their votes being on this machine."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from prefpath.diagnose.ballots import Ballots
from prefpath.diagnose.examined import VotesHere
from prefpath.diagnose.lean import Leans, estimate_leans
from prefpath.diagnose.tastes import Tastes, agreement_with, describe_tastes
from prefpath.fitted import Fitted
from prefpath.model.design import Floats, Ints
from prefpath.predict import Comparisons, state_margins
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray
from prefpath.votes.segments import rows_of, sums_between

# A margin of the linear model is an expected choice: around 0 it is worth two logits.
_LOGITS_A_CHOICE = 2.0


class Facts(NamedTuple):
    """What is told of each annotator without a test.

    Weight of decisive votes, share of them that goes with the common scores, deviations.
    """

    decisive: Floats
    agreement: Floats
    tastes: Tastes


class CrowdHere:
    """Annotators whose votes are on this machine."""

    def __init__(self, fitted: Fitted) -> None:
        self._fitted = fitted

    @cached_property
    def _votes(self) -> VotesHere:
        return VotesHere(Ballots.of_problem(self._fitted.problem), self._fitted.n_threads)

    def examined(self) -> VotesHere:
        return self._votes

    def facts(self) -> Facts:
        fitted = self._fitted
        votes = fitted.votes
        tastes = describe_tastes(votes, fitted.path, fitted.t)
        return Facts(_decisive_weight(votes), agreement_with(votes, fitted.scores), tastes)

    def leans(
        self, scores: Floats, deviating: BoolArray, unlike: BoolArray, slope: Floats
    ) -> Leans:
        """Lean of everybody beside the common scores, as the test of a lean sees them.

        Beside their deviation as well, for those shown to be `deviating`: of others it is a guess,
        and takes up some of a lean. Beside their slope instead, for those who are `unlike` the
        crowd in attention.
        """
        fitted, ballots = self._fitted, self._votes.ballots
        cells, offset = ballots.design.cells, ballots.margin(scores)
        own = rows_of(cells, np.flatnonzero(deviating))
        offset[own] += _own_margins(fitted, ballots, own)
        along = rows_of(cells, np.flatnonzero(unlike))
        steep = np.repeat(slope[unlike], np.diff(cells)[unlike])
        offset[along] = steep * self._votes.margins.difference[along]
        lean = estimate_leans(ballots, offset, n_threads=fitted.n_threads)
        known = (ballots.sided > 0) & fitted.problem.position_bias
        return lean.map(lambda part: np.where(known, part, np.nan))


def _decisive_weight(votes: Votes) -> Floats:
    return sums_between(votes.offsets, votes.weight * (votes.choice != 0))


def _own_margins(fitted: Fitted, ballots: Ballots, cells: Ints) -> Floats:
    """What the deviations at the chosen time add to the margin of some cells, in logits."""
    scale = 1.0 if fitted.loss.binary else _LOGITS_A_CHOICE
    owner = np.searchsorted(ballots.design.cells, cells, side="right") - 1
    asked = Comparisons(
        owner, ballots.left[cells], ballots.right[cells], np.zeros(len(cells), dtype=bool)
    )
    return scale * state_margins(
        asked,
        theta=np.zeros(ballots.votes.n_items),
        deviation=fitted.deviation,
        bias=np.zeros(ballots.n_annotators),
        common_bias=0.0,
        features=fitted.features,
    )
