"""`Diagnosis`: everything known of each annotator, with a verdict and the evidence for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from prefpath.diagnose.ballots import probability
from prefpath.diagnose.beyond import BeyondSlope
from prefpath.diagnose.counted import CountedVerdicts
from prefpath.diagnose.crowd import CrowdHere, Facts
from prefpath.diagnose.discoveries import Discoveries
from prefpath.diagnose.discovery import LEAST_VOTES
from prefpath.diagnose.facts import AnnotatorFacts
from prefpath.diagnose.lean import Leans
from prefpath.diagnose.pvalues import Draws
from prefpath.diagnose.reasons import CrowdFacts
from prefpath.diagnose.table import table_columns
from prefpath.diagnose.verdicts import Measures, choose_words
from prefpath.fitted import Fitted
from prefpath.leaderboard import side_clicks
from prefpath.model.design import Floats, Ints
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray
from prefpath.votes.graph import saw_one_order


@dataclass(frozen=True, eq=False)
class Diagnosis(AnnotatorFacts, CountedVerdicts):
    """What the votes and the path say of each annotator at time `t`.

    Its attributes are those of `AnnotatorFacts`.
    """

    @cached_property
    def words(self) -> Ints:
        """Verdict of each annotator, as its place in `VERDICTS`."""
        return choose_words(self.measures)

    @property
    def on_path(self) -> BoolArray:
        """Who has a deviation or a position bias on the path at t."""
        result: BoolArray = (self.tastes.size != 0) | (self.position_bias != 0)
        return result

    def rows(self, who: Ints) -> dict[str, Any]:
        """One row for each of some annotators, in the order given."""
        return table_columns(self, who)


class Judging(NamedTuple):
    """What verdicts on some annotators are made of beside their votes.

    Attributes
    ----------
    found : Discoveries or None
        Tests of these annotators; None where nobody was tested.
    unlike : array of bool
        Who of them is named for attention, as verdicts take it (`unlike_in_attention`).
    entered : dict of arrays
        When each kind of effect of theirs entered the path.
    crowd : CrowdFacts
        What is said of all, those elsewhere included.
    q : float
    draws : Draws
    """

    found: Discoveries | None
    unlike: BoolArray
    entered: dict[str, Floats]
    crowd: CrowdFacts
    q: float
    draws: Draws


def judge(fitted: Fitted, crowd: CrowdHere, asked: Judging) -> Diagnosis:
    """Verdicts on annotators whose votes are here, once it is known who is named."""
    votes = fitted.votes
    tests = _no_tests(votes.n_annotators)
    if asked.found is not None:
        tests = _further_tests(crowd, asked.found, asked.draws)
    facts, clicks = crowd.facts(), side_clicks(votes)
    return Diagnosis(
        votes=votes,
        t=fitted.t,
        q=asked.q,
        ties=clicks[2],
        entered=asked.entered,
        position_bias=fitted.position_bias + 0.0,  # no minus zero
        lean=tests.lean,
        tastes=facts.tastes,
        measures=_measures(votes, tests, facts, clicks, asked),
        discoveries=asked.found,
        crowd=asked.crowd,
    )


@dataclass(frozen=True, eq=False)
class _Tests:
    """Who is named, what is beyond attention, and leans, also beyond the shared one."""

    found: Discoveries | None
    beyond: BeyondSlope | None
    lean: Leans
    beyond_shared: Leans
    chance: Leans


def _no_tests(n_annotators: int) -> _Tests:
    nothing = np.full(n_annotators, np.nan)
    leans = Leans(nothing, nothing, nothing)
    return _Tests(None, None, leans, leans, leans)


def _measures(
    votes: Votes, tests: _Tests, facts: Facts, clicks: tuple[Floats, Floats, Floats], asked: Judging
) -> Measures:
    """Everything the rules look at; not a number where there was no test."""
    found, beyond = tests.found, tests.beyond
    n = votes.n_annotators
    unknown, nobody = np.full(n, np.nan), np.zeros(n, dtype=bool)
    left, right, _ = clicks
    attention = None if found is None else found.attention
    decisive = facts.decisive
    alone = (decisive >= LEAST_VOTES) & (asked.crowd.n_annotators == 1)  # nobody to differ from
    return Measures(
        decisive=decisive,
        left=left,
        right=right,
        agreement=facts.agreement,
        tested=alone if found is None else ~np.isnan(found.p_taste),
        leans=nobody if found is None else found.leaning & _excludes_none(tests.beyond_shared),
        deviates=nobody if found is None else found.deviating,
        unlike=asked.unlike,
        p_lean=unknown if found is None else found.p_lean,
        p_taste=unknown if found is None else found.p_taste,
        p_attention=unknown if found is None else found.p_attention,
        p_no_taste=unknown if beyond is None else beyond.p_no_taste,
        p_own_ranking=unknown if beyond is None else beyond.p_own_ranking,
        correlation_high=unknown if beyond is None else beyond.correlation_high,
        attention=unknown if attention is None else attention.estimate,
        attention_low=unknown if attention is None else attention.low,
        attention_high=unknown if attention is None else attention.high,
        lean=tests.beyond_shared.estimate,
        lean_low=tests.beyond_shared.low,
        lean_high=tests.beyond_shared.high,
        first=tests.chance.estimate,
        first_low=tests.chance.low,
        first_high=tests.chance.high,
        one_order=saw_one_order(votes),
    )


def _excludes_none(lean: Leans) -> BoolArray:
    """Whose interval has no lean outside it: a word beside an interval that denies it misleads.

    It may deny it where their taste, which the test needs not know, explains the same clicks.
    """
    result: BoolArray = (lean.low > 0.0) | (lean.high < 0.0)
    return result


def unlike_in_attention(found: Discoveries) -> BoolArray:
    """Who sees otherwise than the crowd; where most would be sharper than it, they are the crowd.

    Scores of items that only won or only lost are too near each other, whatever their size.
    """
    sharper = found.unlike_in_attention & (found.attention.low > 1.0)
    if 2 * np.count_nonzero(sharper) <= np.count_nonzero(~np.isnan(found.p_taste)):
        return found.unlike_in_attention
    result: BoolArray = found.unlike_in_attention & ~sharper
    return result


def _further_tests(crowd: CrowdHere, found: Discoveries, draws: Draws) -> _Tests:
    """What is asked of annotators when the lists are known."""
    examined = crowd.examined()
    named = found.deviating | found.unlike_in_attention
    beyond = examined.beyond(found.attention, named, draws)
    lean = crowd.leans(
        found.consensus.scores,
        found.deviating,
        found.unlike_in_attention,
        found.attention.estimate,
    )
    position, probit = found.consensus.position, examined.shape.probit
    return _Tests(
        found,
        beyond,
        lean,
        lean.map(lambda part: part - position),
        lean.map(lambda part: probability(part, probit)),
    )
