"""`write_report`: a fitted model in, one self-contained HTML file out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path as FilePath

from prefpath.errors import SettingError
from prefpath.findings import Findings, find
from prefpath.fitted import Fitted, HasFitted
from prefpath.inference import IntervalSettings, Method
from prefpath.population import About
from prefpath.report.data import Heading, Limits, gather
from prefpath.report.page import render
from prefpath.stages import REPORT, tell
from prefpath.writing import check_file, write_text


def write_report(
    model: Findings | Fitted | HasFitted,
    path: str | FilePath,
    *,
    title: str = "Preference report",
    names: Mapping[str, str] | None = None,
    max_items: int = 1000,
    max_annotators: int = 500,
    interval: Method | None = "sandwich",
    level: float = 0.95,
    q: float = 0.1,
    about: About | None = None,
) -> FilePath:
    """Write what a fitted model found as one HTML file that needs no network.

    Parameters
    ----------
    model : fitted PreferenceModel, Fitted, or Findings
        Findings are shown as they are; `interval`, `level` and `q` are then theirs.
    path : str or Path
        Where to write; an existing file is replaced.
    title : str
    names : mapping, optional
        What to show for an item, by its label.
    max_items, max_annotators : int
        Rows the page shows; all of them are in its downloads.
    interval, level, about
        Of the scores, as in `PreferenceModel.ranking`.
    q : float
        Target false-discovery rate of the annotators singled out.

    Returns
    -------
    Path
        Where it was written.

    Raises
    ------
    SettingError
        If the file cannot be written; said before anything is computed.
    MachineError
        If the disk is full. A file that was there before is then as it was.
    MissingExtra
        Without Bokeh.
    """
    if max_items < 1 or max_annotators < 1:
        raise SettingError(
            f"the report is to show {max_items} items and {max_annotators} annotators",
            expected="at least one of each",
        )
    check_file(path, "the report's file")
    limits = Limits(items=max_items, annotators=max_annotators)
    findings = model
    if not isinstance(findings, Findings):
        weak = getattr(findings, "weak_", None)  # a model's; a Fitted has none
        how = IntervalSettings(interval, level, about=about)
        findings = find(findings, how, q=q, weak=weak)
        findings.diagnosis.close()  # the page shows what has come from a cluster already
    tell(REPORT, 0.0)
    data = gather(findings, limits, _heading(findings, title), names or findings.names)
    tell(REPORT, 0.1)
    page = render(data)
    tell(REPORT, 1.0)
    return write_text(path, page)


def _heading(findings: Findings, title: str) -> Heading:
    source = findings.fitted.votes.origin.get("source")
    name = None if source is None else FilePath(str(source)).name
    return Heading(title, datetime.now().astimezone().strftime("%-d %B %Y"), name)
