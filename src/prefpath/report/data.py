"""Everything the report shows, gathered from a fitted model as plain columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from prefpath.findings import Findings
from prefpath.fitted import Fitted
from prefpath.model.design import Ints
from prefpath.report.journey import Journey, gather_journey
from prefpath.report.personal import Personal, gather_personal
from prefpath.trust import TrustPanel
from prefpath.votes import Votes
from prefpath.votes.encode import Labels

Columns = Mapping[str, Any]


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
    cells: int = 20


@dataclass(frozen=True)
class Heading:
    """What the page says of itself.

    Attributes
    ----------
    title : str
    date : str
        When it was written.
    source : str or None
        Name of the file of votes, without the folders of the machine it was on.
    """

    title: str
    date: str
    source: str | None


@dataclass(frozen=True, eq=False)
class ReportData:
    """What the page shows.

    Attributes
    ----------
    findings : Findings
        Leaderboard, annotators, trust: complete; `limits` says how many rows are shown.
    names : mapping
        What to show for an item instead of its label.
    item_codes, annotator_codes : array
        Position of the shown rows' labels in the votes.
    journey : Journey
        The fit at every position of the slider.
    personal : Personal
        Rankings of the shown annotators beside the common one.
    """

    heading: Heading
    findings: Findings
    names: Mapping[str, str]
    item_codes: Ints
    annotator_codes: Ints
    journey: Journey
    personal: Personal
    limits: Limits

    @property
    def fitted(self) -> Fitted:
        return self.findings.fitted

    @property
    def votes(self) -> Votes:
        return self.fitted.votes

    @property
    def ranking(self) -> Columns:
        return self.findings.ranking

    @property
    def annotators(self) -> Columns:
        return self.findings.annotators

    @property
    def trust(self) -> TrustPanel:
        return self.findings.trust

    @property
    def level(self) -> float:
        return self.findings.intervals.level

    @property
    def chosen_by_folds(self) -> bool:
        """Whether held-out votes chose the point, not the user and not the path's end."""
        return self.journey.error is not None and not self.fitted.chosen_by_hand

    @property
    def n_items_shown(self) -> int:
        return len(self.item_codes)

    @property
    def n_annotators_shown(self) -> int:
        return len(self.annotator_codes)

    def name(self, item: Any) -> str:
        """What the page calls an item."""
        return self.names.get(str(item), str(item))


def gather(
    findings: Findings, limits: Limits, heading: Heading, names: Mapping[str, str]
) -> ReportData:
    """What the page needs beside the findings: the slider's times, personal rankings, codes."""
    votes = findings.fitted.votes
    item_codes = _codes(votes.items, findings.ranking["item"][: limits.items])
    annotator_codes = _codes(
        votes.annotators, findings.annotators["annotator"][: limits.annotators]
    )
    return ReportData(
        heading=heading,
        findings=findings,
        names=names,
        item_codes=item_codes,
        annotator_codes=annotator_codes,
        journey=_journey(findings, item_codes, annotator_codes, limits.lines),
        personal=gather_personal(
            findings.fitted, _common_ranks(findings), annotator_codes, findings.weak
        ),
        limits=limits,
    )


def _journey(findings: Findings, item_codes: Ints, annotator_codes: Ints, n_lines: int) -> Journey:
    """The fit along the path; at the chosen time with the scores of the leaderboard."""
    journey = gather_journey(findings.fitted, item_codes, annotator_codes, n_lines)
    journey.scores[journey.chosen] = findings.ranking["score"][: len(item_codes)]
    return journey


def _common_ranks(findings: Findings) -> Ints:
    """Rank of every item on the leaderboard, in the order of the votes' items."""
    ranks = np.empty(len(findings.fitted.votes.items), dtype=np.int64)
    ranks[_codes(findings.fitted.votes.items, findings.ranking["item"])] = findings.ranking["rank"]
    return ranks


def _codes(labels: Labels, wanted: Any) -> Ints:
    asked = np.asarray(wanted).tolist()
    known = set(asked)  # few of perhaps millions
    code = {label: k for k, label in enumerate(labels.tolist()) if label in known}
    return np.array([code[label] for label in asked], dtype=np.int64)
