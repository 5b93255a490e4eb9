"""`Findings`: one object behind everything that is printed, written or drawn of a fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from prefpath.diagnose import (
    CountedVerdicts,
    Headline,
    OwnItems,
    own_items_favoured,
    verdicts_on,
)
from prefpath.findings.boards import Board, boards_of
from prefpath.findings.cautions import cautions
from prefpath.fitted import Fitted, HasFitted, as_fitted
from prefpath.inference import IntervalSettings, leaderboard_columns
from prefpath.inference.board import shared_position_effect, win_probability
from prefpath.inference.coefficients import coefficient_bounds
from prefpath.inference.columns import Anchor
from prefpath.inference.scales import Scale
from prefpath.inference.words import (
    describe_attention,
    describe_coefficients,
    describe_intervals,
    describe_shared_lean,
    describe_unbounded,
)
from prefpath.leaderboard import ties_meaning, with_names
from prefpath.trust import TrustPanel, trust_panel
from prefpath.weak import WeakEffects

Columns = Mapping[str, Any]

# Where votes stayed on a cluster, so many rows of annotators come to this machine; all are
# written, so many at a time.
MOST_ROWS_FROM_ELSEWHERE = 10_000


@dataclass(frozen=True, eq=False)
class Findings:
    """What a fit says; a number that is shown in two places is one field of this.

    Attributes
    ----------
    ranking : columns
        The leaderboard, group by group.
    annotators : columns
        Those who stand out first. Where votes stayed on a cluster these are the first 10,000
        rows; `annotator_parts` has all.
    headline : Headline
        How many annotators got which verdict, and how many are on the path.
    diagnosis : Diagnosis, or verdicts that stayed on a cluster
        What `annotators` is the table of.
    intervals : IntervalSettings
    scale, anchor
        On which scores are shown, and the item they are measured from.
    weak : WeakEffects or None
        Everybody's small effects, for personal rankings; never in who stands out.
    names : mapping
        What to call items, by their labels; the ranking then has a column "name".
    families : mapping or None
        The family of annotators and items, by their labels.
    """

    fitted: Fitted
    ranking: Columns
    annotators: Columns
    headline: Headline
    diagnosis: CountedVerdicts
    trust: TrustPanel
    intervals: IntervalSettings
    scale: Scale = "natural"
    anchor: Anchor = None
    weak: WeakEffects | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    families: Mapping[str, str] | None = None

    def name(self, item: Any) -> str:
        """What to call an item."""
        return self.names.get(str(item), str(item))

    @property
    def n_annotators_listed(self) -> int:
        """Rows of `annotators`: all of them, unless votes stayed on a cluster."""
        return len(self.annotators["annotator"])

    def annotator_parts(self) -> Iterator[Columns]:
        """The whole table of annotators, some rows at a time, in the order of `annotators`."""
        yield self.annotators
        order = self.diagnosis.standing_out_first
        for start in range(self.n_annotators_listed, len(order), MOST_ROWS_FROM_ELSEWHERE):
            yield self.diagnosis.rows(order[start : start + MOST_ROWS_FROM_ELSEWHERE])

    @cached_property
    def boards(self) -> tuple[Board, ...]:
        """One leaderboard for each group of items that were compared."""
        return boards_of(self.ranking)

    @property
    def q(self) -> float:
        """Target false-discovery rate of who stands out."""
        return self.headline.q

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """What to know before the first number."""
        return tuple(cautions(self.fitted))

    @cached_property
    def meaning_of_intervals(self) -> str | None:
        """Whom the intervals are about; None if there are none."""
        if "score_low" not in self.ranking or not self.fitted.votes.choice.any():
            return None
        return describe_intervals(self.fitted, self.intervals.about)

    @cached_property
    def meaning_of_unbounded(self) -> str | None:
        """Which scores the votes do not bound, and why; None if they bound all."""
        return describe_unbounded(self.ranking) if self.fitted.votes.choice.any() else None

    @cached_property
    def position_effect(self) -> dict[str, float | None] | None:
        """The lean everybody shares, with its interval; None if the model has none."""
        if not self.fitted.problem.common_position:
            return None
        how = self.intervals
        return shared_position_effect(self.fitted, how.level, how.about)

    @cached_property
    def meaning_of_position(self) -> str | None:
        """The same as a sentence."""
        effect = self.position_effect
        votes = self.fitted.votes
        voter = votes.voter if votes.n_annotators > 1 else None
        return None if effect is None else describe_shared_lean(effect, voter)

    @cached_property
    def coefficients(self) -> Columns | None:
        """What each feature is worth, with intervals; None without features."""
        if self.fitted.features is None or self.fitted.given_features is None:
            return None
        return coefficient_bounds(self.fitted, self.intervals)

    @property
    def meaning_of_coefficients(self) -> str | None:
        """How to read them; None without features."""
        found = self.coefficients
        if found is None:
            return None
        without = [low is None for low in found["low"]]
        return describe_coefficients(self.fitted, some_alike=any(without) and not all(without))

    @cached_property
    def own_items(self) -> OwnItems | None:
        """Whether annotators favour items of their own name or family; None if none has any."""
        how = self.intervals
        return own_items_favoured(self.fitted, families=self.families, level=how.level, q=self.q)

    @property
    def attention(self) -> dict[str, int] | None:
        """Whether annotators may see more or less sharply, and how many do; None if not."""
        if not self.fitted.problem.attention:
            return None
        return {"annotators": self.fitted.path.attention_count(self.fitted.t)}

    @cached_property
    def meaning_of_attention(self) -> str | None:
        """The same as a sentence."""
        return describe_attention(self.fitted, self.intervals.about)

    @cached_property
    def meaning_of_scores(self) -> str | None:
        """What scores and win rates are where votes have ties; None where there are none."""
        votes = self.fitted.votes
        ties = float(votes.weight[votes.choice == 0].sum() / votes.total_weight)
        return ties_meaning(ties) if self.fitted.loss.binary else None

    def win_probability(self, item: Any, other: Any) -> dict[str, float | None]:
        """Chance that an average annotator prefers `item` to `other`, with its interval."""
        return win_probability(self.fitted, item, other, self.intervals)

    def on_natural_scale(self) -> Findings:
        """The same with scores as they were fitted."""
        if self.scale == "natural":
            return self
        natural = with_names(leaderboard_columns(self.fitted, self.intervals), self.names)
        return replace(self, ranking=natural, scale="natural", anchor=None)

    def as_json(self) -> dict[str, Any]:
        """Everything, for machines."""
        fitted = self.fitted
        found, common = fitted.held_out, fitted.held_out_of_one_ranking
        return {
            "t": fitted.t,
            "balanced": fitted.balanced,
            "criterion": fitted.criterion,
            "held_out_error": None if found is None else found.error,
            "held_out_error_of_one_ranking": None if common is None else common.error,
            "held_out_wrong": None if found is None else found.wrong,
            "held_out_wrong_of_one_ranking": None if common is None else common.wrong,
            "headline": self.headline.as_dict(),
            "cautions": list(self.cautions),
            "intervals": self.meaning_of_intervals,
            "unbounded": self.meaning_of_unbounded,
            "position_effect": self.position_effect,
            "attention": self.attention,
            "scores": self.meaning_of_scores,
            "groups": [_board_json(board) for board in self.boards],
            "ranking": records(self.ranking),
            "annotators": records(self.annotators),
            "annotators_listed": self.n_annotators_listed,
            "own_items": None if self.own_items is None else self.own_items.as_dict(),
            "features": None if self.coefficients is None else records(self.coefficients),
            "trust": [
                {"name": c.name, "status": c.status, "finding": c.finding, "advice": c.advice}
                for c in self.trust.checks
            ],
        }


def find(
    model: Fitted | HasFitted,
    intervals: IntervalSettings | None = None,
    *,
    q: float = 0.1,
    scale: Scale = "natural",
    anchor: Anchor = None,
    weak: WeakEffects | None = None,
    names: Mapping[str, str] | None = None,
    families: Mapping[str, str] | None = None,
) -> Findings:
    """Ask inference, diagnosis and the trust panel everything there is to say of a fit.

    Parameters
    ----------
    model : Fitted, or a fitted PreferenceModel
    intervals : IntervalSettings, optional
    q : float
        Target false-discovery rate of who stands out.
    scale, anchor
        As in `PreferenceModel.ranking`.
    weak : WeakEffects, optional
        Everybody's small effects, for personal rankings.
    names : mapping, optional
        What to call items, by their labels.
    families : mapping, optional
        The family of annotators and of items, by their labels: does a judge favour its own?
    """
    fitted = as_fitted(model)
    settings = IntervalSettings() if intervals is None else intervals
    diagnosis = verdicts_on(fitted, q=q)
    ranking = leaderboard_columns(fitted, settings, scale=scale, anchor=anchor)
    shown = None if fitted.remote is None else MOST_ROWS_FROM_ELSEWHERE
    return Findings(
        fitted=fitted,
        ranking=with_names(ranking, names or {}),
        annotators=diagnosis.rows(diagnosis.standing_out_first[:shown]),
        headline=diagnosis.headline,
        diagnosis=diagnosis,
        trust=trust_panel(fitted.votes, about=settings.about),
        intervals=settings,
        scale=scale,
        anchor=anchor,
        weak=weak,
        names=names or {},
        families=families,
    )


def records(columns: Columns) -> list[dict[str, Any]]:
    """Columns as one record for each row."""
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _board_json(board: Board) -> dict[str, Any]:
    return {
        "group": board.number,
        "items": len(board.rows),
        "leader": board.leader,
        "certain": board.certain if board.rivals is not None else None,
        "may_be_first_too": None if board.rivals is None else list(board.rivals),
    }
