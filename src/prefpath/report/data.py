"""Everything the report shows, gathered from a fitted model as plain columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from prefpath.diagnose import diagnose
from prefpath.diagnose.verdicts import UNREMARKABLE
from prefpath.fitted import Fitted, HasFitted, as_fitted
from prefpath.inference import IntervalSettings, Method, leaderboard_columns
from prefpath.model.design import Ints
from prefpath.report.journey import Journey, gather_journey
from prefpath.report.personal import Personal, gather_personal
from prefpath.trust import TrustPanel, trust_panel
from prefpath.votes import Votes
from prefpath.votes.encode import Labels

Columns = Mapping[str, Any]

"""Verdicts that single nobody out."""


@dataclass(frozen=True)
class Limits:
    """How much of a large crowd the page itself shows; the rest is in its downloads.

    Attributes
    ----------
    items : int
        Rows of the leaderboard.
    annotators : int
        Rows of the table of annotators: those who stand out first.
    lines : int
        Annotators drawn as lines of their own; the others become bands.
    cells : int
        Items on one side of a heat map.
    """

    items: int = 1000
    annotators: int = 500
    lines: int = 60
    cells: int = 25


@dataclass(frozen=True)
class Certainty:
    """How sure the page is to be.

    Attributes
    ----------
    interval : {"sandwich", "bootstrap"} or None
        As in `PreferenceModel.ranking`.
    level : float
        How often an interval is to hold the true score.
    q : float
        Share of the annotators singled out that may be singled out by chance.
    """

    interval: Method | None = "sandwich"
    level: float = 0.95
    q: float = 0.1


@dataclass(frozen=True, eq=False)
class ReportData:
    """What the page shows.

    Attributes
    ----------
    ranking, annotators : mapping of columns
        Complete; `limits` says how many rows are shown.
    item_codes, annotator_codes : array
        Position of the shown rows' labels in the votes.
    journey : Journey
        The fit at every position of the slider.
    personal : Personal
        Rankings of the shown annotators beside the common one.
    trust : TrustPanel
    settings : mapping
        What the fit was asked for.
    """

    fitted: Fitted
    ranking: Columns
    annotators: Columns
    item_codes: Ints
    annotator_codes: Ints
    journey: Journey
    personal: Personal
    trust: TrustPanel
    settings: Columns
    limits: Limits
    certainty: Certainty

    @property
    def votes(self) -> Votes:
        return self.fitted.votes

    @property
    def n_items_shown(self) -> int:
        return len(self.item_codes)

    @property
    def n_annotators_shown(self) -> int:
        return len(self.annotator_codes)


def gather(model: Fitted | HasFitted, limits: Limits, certainty: Certainty) -> ReportData:
    """Ask inference, diagnosis and the trust panel for everything the page shows of a fit."""
    fitted = as_fitted(model)
    votes = fitted.votes
    ranking = leaderboard_columns(fitted, IntervalSettings(certainty.interval, certainty.level))
    annotators = _standing_out_first(diagnose(fitted, q=certainty.q).columns())
    item_codes = _codes(votes.items, ranking["item"][: limits.items])
    annotator_codes = _codes(votes.annotators, annotators["annotator"][: limits.annotators])
    return ReportData(
        fitted=fitted,
        ranking=ranking,
        annotators=annotators,
        item_codes=item_codes,
        annotator_codes=annotator_codes,
        journey=gather_journey(fitted, item_codes, annotator_codes, limits.lines),
        personal=gather_personal(fitted, annotator_codes),
        trust=trust_panel(votes),
        settings=fitted.settings,
        limits=limits,
        certainty=certainty,
    )


def _standing_out_first(columns: Columns) -> Columns:
    """Annotators with a verdict of note, or on the path at the chosen time, before all others."""
    calm = np.isin(np.asarray(columns["verdict"]).astype(str), UNREMARKABLE)
    for effect in ("deviation", "position_bias"):
        calm &= np.asarray(columns[effect]) == 0
    order = np.argsort(calm, kind="stable")
    return {
        name: values[order] if isinstance(values, np.ndarray) else [values[k] for k in order]
        for name, values in columns.items()
    }


def _codes(labels: Labels, wanted: Any) -> Ints:
    code = {label: k for k, label in enumerate(labels.tolist())}
    return np.array([code[label] for label in np.asarray(wanted).tolist()], dtype=np.int64)
