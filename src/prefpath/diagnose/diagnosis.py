"""`diagnose`: everything known of each annotator, with a verdict and the evidence for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from prefpath.diagnose.ballots import Ballots
from prefpath.diagnose.discovery import LEAST_VOTES, Discoveries, Null, Settings, discover_in
from prefpath.diagnose.evidence import (
    Attention,
    Tastes,
    agreement_with,
    describe_tastes,
    measure_attention,
)
from prefpath.diagnose.lean import Leans, estimate_leans
from prefpath.diagnose.multiplicity import check_rate
from prefpath.diagnose.pvalues import Draws
from prefpath.diagnose.table import judge, table_columns
from prefpath.diagnose.verdicts import Verdict
from prefpath.fitted import Fitted, HasFitted, as_fitted
from prefpath.leaderboard import side_clicks
from prefpath.model.design import Floats, Ints
from prefpath.predict import Comparisons, state_margins
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray
from prefpath.votes.graph import saw_one_order

# A margin of the linear model is an expected choice: around 0 it is worth two logits.
_LOGITS_A_CHOICE = 2.0


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What the votes and the path say of each annotator at time `t`.

    Attributes
    ----------
    left, right, ties : array (n_annotators,)
        Clicks where sides are known.
    agreement : array (n_annotators,)
        Share of decisive votes that go with the common ranking.
    entered_deviation, entered_bias : array (n_annotators,)
        When they entered the path; inf is never.
    position_bias : array (n_annotators,)
        On the path at `t`, shrunk; 0 before it entered.
    lean : Leans
        Unpenalised, with interval (`estimate_leans`), the common scores and the deviation at
        `t` being known; not a number where no side is known.
    first_if_equal : Leans
        The same as the probability of choosing the first of two equal items.
    decisive : array (n_annotators,)
        Weight of the votes that prefer an item.
    one_order : array of bool (n_annotators,)
        Saw every item on one side only.
    """

    votes: Votes
    t: float
    left: Floats
    right: Floats
    ties: Floats
    agreement: Floats
    entered_deviation: Floats
    entered_bias: Floats
    position_bias: Floats
    lean: Leans
    first_if_equal: Leans
    tastes: Tastes
    attention: Attention | None
    discoveries: Discoveries | None
    decisive: Floats
    one_order: BoolArray

    @property
    def order(self) -> Ints:
        """Annotators, the first to enter the path first, then the busiest."""
        first = np.minimum(self.entered_deviation, self.entered_bias)
        return np.lexsort((-self.votes.annotator_weight, first))

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

    def verdicts(self, who: Ints | None = None) -> list[Verdict]:
        """What is said of annotators (codes; None is all), with the reason in words."""
        return judge(self, np.arange(self.votes.n_annotators) if who is None else who)


def diagnose(
    model: Fitted | HasFitted,
    *,
    q: float = 0.1,
    null: Null = "model",
    least_votes: int = LEAST_VOTES,
    n_draws: int = 2_000,
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
    votes, path, t = fitted.votes, fitted.path, fitted.t
    tests = _no_tests(votes.n_annotators)
    if votes.n_annotators > 1 and votes.choice.any():  # somebody to differ from, in something
        ballots = Ballots.of_problem(fitted.problem)
        if ballots.decisive.max() >= least_votes:
            draws_from = (fitted.seed or 0) if seed is None else seed
            how = Settings(q, null, least_votes, Draws(n_draws, draws_from, fitted.n_threads))
            tests = _run_tests(fitted, ballots, how)
    left, right, ties = side_clicks(votes)
    return Diagnosis(
        votes=votes,
        t=t,
        left=left,
        right=right,
        ties=ties,
        agreement=agreement_with(votes, fitted.scores),
        entered_deviation=path.entry_times("deviation"),
        entered_bias=path.entry_times("position_bias"),
        position_bias=fitted.position_bias + 0.0,  # no minus zero
        lean=tests.lean,
        first_if_equal=tests.chance,
        tastes=describe_tastes(votes, path, t),
        attention=tests.attention,
        discoveries=tests.found,
        decisive=_decisive_weight(votes),
        one_order=saw_one_order(votes),
    )


@dataclass(frozen=True, eq=False)
class _Tests:
    """Who is named, who heeds the items, and how far everybody leans, also as a probability."""

    found: Discoveries | None
    attention: Attention | None
    lean: Leans
    chance: Leans


def _no_tests(n_annotators: int) -> _Tests:
    nothing = np.full(n_annotators, np.nan)
    return _Tests(None, None, Leans(nothing, nothing, nothing), Leans(nothing, nothing, nothing))


def _decisive_weight(votes: Votes) -> Floats:
    weight: Floats = np.zeros(votes.n_annotators)
    weight += np.bincount(votes.annotator, votes.weight * (votes.choice != 0), len(weight))
    return weight


def _run_tests(fitted: Fitted, ballots: Ballots, how: Settings) -> _Tests:
    found = discover_in(
        ballots,
        how,
        position_bias=fitted.problem.position_bias,
        common_position=fitted.problem.common_position,
    )
    tested = ~np.isnan(found.p_taste)
    attention = measure_attention(ballots, found.consensus, tested, how.draws)
    lean, chance = _leans(fitted, ballots, found)
    return _Tests(found, attention, lean, chance)


def _leans(fitted: Fitted, ballots: Ballots, found: Discoveries) -> tuple[Leans, Leans]:
    """Lean of everybody beside their deviation at the chosen time, and as a probability."""
    scale = 1.0 if fitted.loss.binary else _LOGITS_A_CHOICE
    offset = ballots.margin(found.consensus.scores)
    no_bias = np.zeros(ballots.n_annotators)
    asked = Comparisons(
        ballots.annotator, ballots.left, ballots.right, np.zeros(len(offset), dtype=bool)
    )
    offset += scale * state_margins(
        asked,
        theta=np.zeros(ballots.votes.n_items),
        deviation=fitted.deviation,
        bias=no_bias,
        common_bias=0.0,
        features=fitted.features,
    )
    lean = estimate_leans(ballots, offset, n_threads=fitted.n_threads)
    known = (ballots.sided > 0) & fitted.problem.position_bias
    lean = Leans(*(np.where(known, part, np.nan) for part in (lean.estimate, lean.low, lean.high)))
    chance = Leans(*(ballots.probability(part) for part in (lean.estimate, lean.low, lean.high)))
    return lean, chance


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
