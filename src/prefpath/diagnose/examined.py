"""Votes as the tests ask them, be they on this machine or elsewhere.

What is tested of an annotator needs their votes and the common scores; the common scores need
everybody's votes pooled. So the tests of all go through a few questions, each of which is
answered annotator by annotator or by sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from prefpath.diagnose.attention import Attention, measure_attention
from prefpath.diagnose.ballots import Ballots, Pooling
from prefpath.diagnose.beyond import BeyondSlope, look_beyond_slope
from prefpath.diagnose.consensus import Consensus
from prefpath.diagnose.lean import estimate_leans
from prefpath.diagnose.pvalues import Draws, lean_p_values, taste_p_values
from prefpath.diagnose.without_own import CommonMargins, Comparing, MarginsHere
from prefpath.model.design import Floats
from prefpath.votes.encode import BoolArray, Labels

# Whoever may lean has the lean estimated beside the slope; a lean that is not there costs power.
_MAY_LEAN = 0.1
_MAY_SEE_OTHERWISE = 0.05  # a lean of theirs is not measured by what the common scores expect
_STEPS_OF_A_LEAN = 5


class Tested(NamedTuple):
    """Who is tested for what."""

    lean: BoolArray
    taste: BoolArray


class Question(NamedTuple):
    """What a test of everybody asks.

    Attributes
    ----------
    consensus : Consensus
        The common model.
    draws : Draws
    interval : bool
        Whether attention is wanted with intervals.
    aside : array of bool
        Who is left out of the common model.
    tested : Tested
    """

    consensus: Consensus
    draws: Draws
    interval: bool
    aside: BoolArray
    tested: Tested


@dataclass(frozen=True, eq=False)
class Found:
    """P-values of the three tests, and the slopes."""

    p: dict[str, Floats]
    attention: Attention


class Examined(Pooling, Comparing, Protocol):
    """The votes of everybody, as the tests ask them."""

    @property
    def annotators(self) -> Labels: ...
    @property
    def sided(self) -> Floats: ...
    @property
    def margins(self) -> CommonMargins: ...

    def test(self, asked: Question) -> Found:
        """P-values of everybody against the common model last compared with."""


class VotesHere(MarginsHere):
    """Votes on this machine."""

    @property
    def annotators(self) -> Labels:
        return self.ballots.votes.annotators

    @property
    def sided(self) -> Floats:
        return self.ballots.sided

    def test(self, asked: Question) -> Found:
        return _test(self, asked)

    def beyond(self, attention: Attention, asked: BoolArray, draws: Draws) -> BeyondSlope:
        """What slope and lean do not explain, of some annotators."""
        return look_beyond_slope(self.ballots, self.margins, attention, asked, draws)


def _test(votes: VotesHere, question: Question) -> Found:
    """P-values of lean, taste and attention against a common model."""
    consensus, draws, interval, aside, tested = question
    ballots, margins = votes.ballots, votes.margins
    shared, threads = consensus.position, draws.n_threads
    together, p = votes.expected(consensus)
    plain = ballots.margin(consensus.scores) if shared else together
    p_lean = lean_p_values(ballots, together, tested.lean, threads, shared=shared, p=p)
    own = estimate_leans(ballots, plain, interval=False, n_threads=draws.n_threads).estimate
    margin = ballots.add_lean(plain, own)
    p_taste = taste_p_values(ballots, margin, consensus.score_error, aside, tested.taste, draws)
    attention = measure_attention(
        ballots,
        margins,
        tested.taste,
        own_lean=np.nan_to_num(p_lean, nan=1.0) <= _MAY_LEAN,
        common_lean=consensus.position,
        interval=interval,
        n_threads=draws.n_threads,
    )
    if shared:
        otherwise = np.fmin(p_taste, attention.p) <= _MAY_SEE_OTHERWISE
        asked = tested.lean & otherwise
        any_taste = _lean_p_value_of_any_taste(ballots, shared, asked, threads)
        p_lean = np.where(asked, np.fmax(p_lean, any_taste), p_lean)
    return Found({"lean": p_lean, "taste": p_taste, "attention": attention.p}, attention)


def _lean_p_value_of_any_taste(
    ballots: Ballots, shared: float, asked: BoolArray, n_threads: int | None
) -> Floats:
    """P-value of no lean beyond the shared one for those who need not follow the common scores.

    A shared lean shows less in the votes of someone who tells items sharply apart, and more in
    those of someone who does not look at them: whatever the taste, the left is chosen at least in
    half of the votes and at most as often as of two equal items. The largest p-value counts.
    """
    nothing = np.zeros(len(ballots.trials))
    each = [
        lean_p_values(ballots, ballots.add_lean(nothing, lean), asked, n_threads, shared=lean)
        for lean in np.linspace(0.0, shared, _STEPS_OF_A_LEAN)
    ]
    largest: Floats = np.maximum.reduce(each)
    return largest
