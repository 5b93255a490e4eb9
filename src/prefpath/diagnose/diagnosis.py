"""`diagnose`: everything known of each annotator, with a verdict and the evidence for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast, get_args

import numpy as np

from prefpath.diagnose.ballots import probability
from prefpath.diagnose.beyond import BeyondSlope
from prefpath.diagnose.crowd import Crowd, CrowdHere, Facts
from prefpath.diagnose.discoveries import EFFECTS, Discoveries, Null
from prefpath.diagnose.discovery import LEAST_VOTES, Settings, discover_in
from prefpath.diagnose.examined import Examined
from prefpath.diagnose.facts import AnnotatorFacts
from prefpath.diagnose.headline import Headline
from prefpath.diagnose.lean import Leans
from prefpath.diagnose.multiplicity import check_rate
from prefpath.diagnose.pvalues import Draws
from prefpath.diagnose.reasons import CrowdFacts
from prefpath.diagnose.table import table_columns
from prefpath.diagnose.verdicts import RANKING_OTHERWISE, VERDICTS, Measures, choose_words
from prefpath.errors import SettingError
from prefpath.fitted import Fitted, HasFitted, as_fitted
from prefpath.inference.board import shared_position_effect
from prefpath.leaderboard import side_clicks
from prefpath.machine import blas_threads_for
from prefpath.model.design import Floats, Ints
from prefpath.path import Kind, Path
from prefpath.stages import WHO_STANDS_OUT, tell
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray, Labels
from prefpath.votes.graph import saw_one_order


@dataclass(frozen=True, eq=False)
class Diagnosis(AnnotatorFacts):
    """What the votes and the path say of each annotator at time `t`.

    Its attributes are those of `AnnotatorFacts`.
    """

    @property
    def order(self) -> Ints:
        """Annotators, the first to enter the path first, then the busiest."""
        first = np.minimum.reduce(list(self.entered.values()))
        return np.lexsort((-self.votes.annotator_weight, first))

    @cached_property
    def words(self) -> Ints:
        """Verdict of each annotator, as its place in `VERDICTS`."""
        return choose_words(self.measures)

    @property
    def counts(self) -> dict[str, int]:
        """How many annotators have each verdict; every word, in the order of `VERDICTS`."""
        counted = np.bincount(self.words, minlength=len(VERDICTS)).tolist()
        return dict(zip(VERDICTS, counted, strict=True))

    @cached_property
    def headline(self) -> Headline:
        """The one count that terminal, JSON and report show."""
        entered = {
            kind: int(np.count_nonzero(times <= self.t)) for kind, times in self.entered.items()
        }
        return Headline(self.counts, self.q, self.t, entered, self.crowd.common_first)

    def who(self, *words: str) -> Labels:
        """Labels of those with one of some verdicts, in the order of the table."""
        unknown = set(words) - set(VERDICTS)
        if unknown:
            raise SettingError(
                f"there is no verdict {sorted(unknown)[0]!r}", expected=" or ".join(VERDICTS)
            )
        wanted = np.isin(self.words, [VERDICTS.index(word) for word in words])
        return self.votes.annotators[self.order[wanted[self.order]]]

    @property
    def followers(self) -> Votes:
        """The votes of those whose choices are not shown to be unlike the common ranking.

        Fitted by themselves they give the ranking of those who follow, with its intervals. Who
        leans or sees sharper stays: they rank the items alike.
        """
        stays = ~np.isin(self.words, [VERDICTS.index(word) for word in RANKING_OTHERWISE])
        votes = self.votes.take(stays[self.votes.annotator])
        offsets = np.append(votes.offsets[:-1][stays], votes.offsets[-1])
        return replace(votes, annotators=votes.annotators[stays], offsets=offsets)

    def of(self, annotator: Any) -> dict[str, Any]:
        """Everything about one annotator."""
        u = self.votes.annotator_code(annotator)
        columns = table_columns(self, np.array([u]))
        return {name: _plain(values[0]) for name, values in columns.items()}

    def columns(self, first: int | None = None) -> dict[str, Any]:
        """One row for each annotator, or the `first` so many; those who stand out come first.

        Columns in which something may be unknown are lists with None, the others arrays.
        """
        return table_columns(self, self.order[:first])


def diagnose(
    model: Fitted | HasFitted,
    *,
    q: float = 0.1,
    null: Null = "model",
    least_votes: int = LEAST_VOTES,
    n_draws: int = 1_000,
    seed: int | None = None,
) -> Diagnosis:
    """Say of every annotator of a fitted model what stands out, how surely, and why.

    Parameters
    ----------
    model : fitted PreferenceModel, or Fitted
        What depends on time is said at the time it stopped.
    q, null, least_votes, n_draws
        As in `discover`.
    seed : int, optional
        As in `discover`; the fit's own by default.

    Examples
    --------
    >>> from prefpath import PreferenceModel, simulate_crowd
    >>> crowd = simulate_crowd(4_000, 40, 6, activity="even", deviants=1, clickers=1, seed=0)
    >>> found = diagnose(PreferenceModel(cv=0, n_times=10, t_ratio=5.0).fit(crowd.votes))
    >>> found.of(crowd.deviants[0])["verdict"]
    'own taste'
    """
    check_rate(q)
    fitted = as_fitted(model)
    votes = fitted.votes
    tests = _no_tests(votes.n_annotators)
    draws_from = (fitted.seed or 0) if seed is None else seed
    how = Settings(q, null, least_votes, Draws(n_draws, draws_from, fitted.n_threads))
    with blas_threads_for(votes.n_items), crowd_of(fitted) as crowd:
        # somebody to differ from, in something
        if votes.n_annotators > 1 and votes.choice.any():
            examined = crowd.examined()
            if examined.decisive.max() >= least_votes:
                tests = _run_tests(fitted, crowd, examined, how)
        facts = crowd.facts()
    return Diagnosis(
        votes=votes,
        t=fitted.t,
        q=q,
        ties=side_clicks(votes)[2],
        entered={kind: _entry_times(fitted.path, kind) for kind in EFFECTS},
        position_bias=fitted.position_bias + 0.0,  # no minus zero
        lean=tests.lean,
        tastes=facts.tastes,
        measures=_measures(fitted, tests, facts),
        discoveries=tests.found,
        crowd=CrowdFacts(votes.n_annotators, least_votes, tests.common_first),
    )


@contextmanager
def crowd_of(fitted: Fitted) -> Iterator[Crowd]:
    """The annotators of a fit: their votes are here, or in the shards of a cluster."""
    if fitted.remote is None:
        yield CrowdHere(fitted)
        return
    from prefpath.diagnose.remote import crowd_elsewhere

    with crowd_elsewhere(fitted) as crowd:
        yield crowd


def _entry_times(path: Path, kind: str) -> Floats:
    """Entry times of an effect; never, where this path has no such effect."""
    if kind not in get_args(Kind):
        return np.full(len(path.annotators), np.inf)
    return path.entry_times(cast(Kind, kind))


@dataclass(frozen=True, eq=False)
class _Tests:
    """Who is named, what is beyond attention, and leans, also beyond the shared one."""

    found: Discoveries | None
    beyond: BeyondSlope | None
    lean: Leans
    beyond_shared: Leans
    chance: Leans
    common_first: float | None = None


def _no_tests(n_annotators: int) -> _Tests:
    nothing = np.full(n_annotators, np.nan)
    leans = Leans(nothing, nothing, nothing)
    return _Tests(None, None, leans, leans, leans)


def _measures(fitted: Fitted, tests: _Tests, facts: Facts) -> Measures:
    """Everything the rules look at; not a number where there was no test."""
    votes, found, beyond = fitted.votes, tests.found, tests.beyond
    n = votes.n_annotators
    unknown, nobody = np.full(n, np.nan), np.zeros(n, dtype=bool)
    left, right, _ = side_clicks(votes)
    attention = None if found is None else found.attention
    decisive = facts.decisive
    alone = (decisive >= LEAST_VOTES) & (n == 1)  # not too few votes, but nobody to differ from
    return Measures(
        decisive=decisive,
        left=left,
        right=right,
        agreement=facts.agreement,
        tested=alone if found is None else ~np.isnan(found.p_taste),
        leans=nobody if found is None else found.leaning,
        deviates=nobody if found is None else found.deviating,
        unlike=nobody if found is None else _unlike_in_attention(found),
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


def _unlike_in_attention(found: Discoveries) -> BoolArray:
    """Who sees otherwise than the crowd; where most would be sharper than it, they are the crowd.

    Scores of items that only won or only lost are too near each other, whatever their size.
    """
    sharper = found.unlike_in_attention & (found.attention.low > 1.0)
    if 2 * np.count_nonzero(sharper) <= np.count_nonzero(~np.isnan(found.p_taste)):
        return found.unlike_in_attention
    result: BoolArray = found.unlike_in_attention & ~sharper
    return result


def _run_tests(fitted: Fitted, crowd: Crowd, examined: Examined, how: Settings) -> _Tests:
    shared = fitted.problem.common_position
    found = discover_in(
        examined, how, position_bias=fitted.problem.position_bias, common_position=shared
    )
    named = found.deviating | found.unlike_in_attention
    beyond = examined.beyond(found.attention, named, how.draws)
    tell(WHO_STANDS_OUT, 0.9)
    lean = crowd.leans(found.consensus.scores, found.unlike_in_attention, found.attention.estimate)
    tell(WHO_STANDS_OUT, 1.0)
    position, probit = found.consensus.position, examined.shape.probit
    return _Tests(
        found,
        beyond,
        lean,
        lean.map(lambda part: part - position),
        lean.map(lambda part: probability(part, probit)),
        shared_position_effect(fitted)["first_probability"] if shared else None,
    )


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
