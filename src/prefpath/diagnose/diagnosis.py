"""`diagnose`: everything known of each annotator, with a verdict and the evidence for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from prefpath.diagnose.ballots import Ballots, trials_of_rows
from prefpath.diagnose.discovery import LEAST_VOTES, Discoveries, Null, discover
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
from prefpath.diagnose.verdicts import Evidence, Verdict, give_verdict
from prefpath.leaderboard import side_clicks
from prefpath.model.design import Floats, Ints
from prefpath.model.losses import as_loss
from prefpath.predict import Comparisons, state_margins
from prefpath.votes import Votes
from prefpath.votes.encode import Labels
from prefpath.votes.graph import saw_one_order

if TYPE_CHECKING:
    from prefpath.estimators import PreferenceModel

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
    verdicts: tuple[Verdict, ...]

    @property
    def order(self) -> Ints:
        """Annotators, the first to enter the path first, then the busiest."""
        first = np.minimum(self.entered_deviation, self.entered_bias)
        return np.lexsort((-self.votes.annotator_weight, first))

    def of(self, annotator: Any) -> dict[str, Any]:
        """Everything about one annotator."""
        u = self.votes.annotator_code(annotator)
        return {name: _plain(values[u]) for name, values in self._by_code.items()}

    def columns(self) -> dict[str, Any]:
        """One row for each annotator, those who stand out first.

        Columns in which something may be unknown are lists with None, the others arrays.
        """
        order = self.order
        return {name: _in_order(values, order) for name, values in self._by_code.items()}

    @cached_property
    def _by_code(self) -> dict[str, Any]:
        """The columns in the order of the annotators' codes."""
        found, items, n = self.discoveries, self.votes.items, self.votes.n_annotators
        untested, nobody = np.full(n, np.nan), np.zeros(n, dtype=bool)
        return {
            "annotator": self.votes.annotators,
            "verdict": np.array([verdict.word for verdict in self.verdicts]),
            "votes": self.votes.annotator_weight,
            "left": self.left,
            "right": self.right,
            "ties": self.ties,
            "agreement": _or_none(self.agreement),
            "position_bias": self.position_bias,
            "position_bias_entered": _or_none(self.entered_bias),
            "gamma": _or_none(self.lean.estimate),
            "gamma_low": _or_none(self.lean.low),
            "gamma_high": _or_none(self.lean.high),
            "first_if_equal": _or_none(self.first_if_equal.estimate),
            "first_if_equal_low": _or_none(self.first_if_equal.low),
            "first_if_equal_high": _or_none(self.first_if_equal.high),
            "p_position_bias": _or_none(found.p_lean if found else untested),
            "biased": found.leaning if found else nobody,
            "deviation": self.tastes.size,
            "deviation_entered": _or_none(self.entered_deviation),
            "most_up": _labels_or_none(items, self.tastes.most_up),
            "most_down": _labels_or_none(items, self.tastes.most_down),
            "kendall_distance": self.tastes.distance,
            "p_deviation": _or_none(found.p_taste if found else untested),
            "deviates": found.deviating if found else nobody,
            "reason": np.array([verdict.reason for verdict in self.verdicts]),
            "notes": ["; ".join(verdict.notes) or None for verdict in self.verdicts],
        }


def diagnose(
    model: PreferenceModel,
    *,
    q: float = 0.1,
    null: Null = "model",
    least_votes: int = LEAST_VOTES,
    n_draws: int = 2_000,
    seed: int = 0,
) -> Diagnosis:
    """Say of every annotator of a fitted model what stands out, how surely, and why.

    Parameters
    ----------
    model : PreferenceModel
        Fitted; what depends on time is said at `model.t_`.
    q, null, least_votes, n_draws, seed
        As in `discover`.

    Examples
    --------
    >>> from prefpath import PreferenceModel, simulate_crowd
    >>> crowd = simulate_crowd(4_000, 40, 6, activity="even", deviants=1, clickers=1, seed=0)
    >>> found = diagnose(PreferenceModel(cv=0, n_times=10, t_ratio=5.0).fit(crowd.votes))
    >>> found.of(crowd.deviants[0])["verdict"]
    'own taste'
    """
    check_rate(q)
    votes, path, t = model.votes_, model.path_, model.t_
    tests = _no_tests(votes.n_annotators)
    if _testable(votes, least_votes):
        how = {"q": q, "null": null, "least_votes": least_votes, "n_draws": n_draws, "seed": seed}
        tests = _run_tests(model, how)
    left, right, ties = side_clicks(votes)
    agreement = agreement_with(votes, path.scores(t))
    evidence = _gather(votes, left, right, agreement, tests)
    return Diagnosis(
        votes=votes,
        t=t,
        left=left,
        right=right,
        ties=ties,
        agreement=agreement,
        entered_deviation=path.entry_times("deviation"),
        entered_bias=path.entry_times("position_bias"),
        position_bias=path.position_bias(t) + 0.0,  # no minus zero
        lean=tests.lean,
        first_if_equal=tests.chance,
        tastes=describe_tastes(votes, path, t),
        attention=tests.attention,
        discoveries=tests.found,
        verdicts=tuple(give_verdict(each) for each in evidence),
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


def _testable(votes: Votes, least_votes: int) -> bool:
    """There is somebody to differ from, and votes enough of somebody to tell."""
    decisive = votes.without_ties()
    trials = np.bincount(decisive.annotator, trials_of_rows(decisive))
    return votes.n_annotators > 1 and bool(trials.max(initial=0.0) >= least_votes)


def _run_tests(model: PreferenceModel, how: dict[str, Any]) -> _Tests:
    votes, loss, features = model.votes_, as_loss(model.loss), model.path_.features
    found = discover(
        votes,
        loss=loss,
        features=features,
        position_bias=model.position_bias,
        common_position=model.common_position,
        n_threads=model.n_threads,
        **how,
    )
    use_position = model.position_bias or model.common_position
    ballots = Ballots.of(votes, loss=loss, features=features, use_position=use_position)
    draws = Draws(how["n_draws"], how["seed"], model.n_threads)
    attention = measure_attention(ballots, found.consensus, ~np.isnan(found.p_taste), draws)
    lean, chance = _leans(model, ballots, found)
    return _Tests(found, attention, lean, chance)


def _leans(model: PreferenceModel, ballots: Ballots, found: Discoveries) -> tuple[Leans, Leans]:
    """Lean of everybody beside their deviation at the chosen time, and as a probability."""
    path = model.path_
    scale = 1.0 if as_loss(model.loss).binary else _LOGITS_A_CHOICE
    offset = ballots.margin(found.consensus.scores)
    no_bias = np.zeros(ballots.n_annotators)
    asked = Comparisons(
        ballots.annotator, ballots.left, ballots.right, np.zeros(len(offset), dtype=bool)
    )
    offset += scale * state_margins(
        asked,
        theta=np.zeros(ballots.votes.n_items),
        deviation=path.deviation(model.t_),
        bias=no_bias,
        common_bias=0.0,
        features=path.features,
    )
    lean = estimate_leans(ballots, offset, n_threads=model.n_threads)
    known = (ballots.sided > 0) & bool(model.position_bias)
    lean = Leans(*(np.where(known, part, np.nan) for part in (lean.estimate, lean.low, lean.high)))
    chance = Leans(*(ballots.probability(part) for part in (lean.estimate, lean.low, lean.high)))
    return lean, chance


def _gather(
    votes: Votes, left: Floats, right: Floats, agreement: Floats, tests: _Tests
) -> list[Evidence]:
    """What the rules of the verdicts look at, annotator by annotator."""
    n, found, attention, chance = votes.n_annotators, tests.found, tests.attention, tests.chance
    unknown, nobody, certain = np.full(n, np.nan), np.zeros(n, dtype=bool), np.ones(n)
    columns = {
        "decisive": np.bincount(votes.annotator, votes.weight * (votes.choice != 0), n).tolist(),
        "left": left.tolist(),
        "right": right.tolist(),
        "agreement": _or_none(agreement),
        "leans": (found.leaning if found else nobody).tolist(),
        "deviates": (found.deviating if found else nobody).tolist(),
        "p_lean": _or_none(found.p_lean if found else unknown),
        "p_taste": _or_none(found.p_taste if found else unknown),
        "p_follows": (attention.p_follows if attention else certain).tolist(),
        "p_ignores": (attention.p_ignores if attention else certain).tolist(),
        "first_if_equal": _or_none(chance.estimate),
        "first_low": _or_none(chance.low),
        "first_high": _or_none(chance.high),
        "one_order": saw_one_order(votes).tolist(),
    }
    rows = zip(*columns.values(), strict=True)
    return [Evidence(**dict(zip(columns, row, strict=True))) for row in rows]


def _or_none(values: Floats) -> list[float | None]:
    """Plain numbers; None for what is not known or never was."""
    return [value if np.isfinite(value) else None for value in values.tolist()]


def _labels_or_none(labels: Labels, codes: Ints) -> list[Any]:
    return [_plain(labels[code]) if code >= 0 else None for code in codes]


def _in_order(values: Any, order: Ints) -> Any:
    return [values[u] for u in order] if isinstance(values, list) else values[order]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
