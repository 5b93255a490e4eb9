"""The trust panel and how it was computed, as HTML."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from prefpath.report.data import ReportData
from prefpath.report.escape import text
from prefpath.report.format import count, number, percent, plural
from prefpath.text import one
from prefpath.trust import TrustCheck

_SIGNS = {
    "passed": ("✓", "Passed"),
    "warn": ("!", "Look at this"),
    "fail": ("✗", "Failed"),
    "unchecked": ("?", "Cannot be checked"),
}
_LIBRARIES = ("prefpath", "numpy", "scipy", "numba", "scikit-learn", "bokeh")


def trust_section(data: ReportData) -> str:
    """Every check: what was found and what to do; those that passed or cannot be made too."""
    order = {"fail": 0, "warn": 1, "unchecked": 2, "passed": 3}
    checks = sorted(data.trust.checks, key=lambda check: order[check.status])
    rows = "".join(_check(check) for check in checks)
    return f"""
<section id="trust" aria-labelledby="trust-title"><h2 id="trust-title">Can it be trusted?</h2>
<p>Every check that was made, also those that passed.</p>
<ul class="checks">{rows}</ul></section>"""


def _check(check: TrustCheck) -> str:
    sign, words = _SIGNS[check.status]
    advice = f'<p class="advice">{text(_sentence(check.advice))}</p>' if check.advice else ""
    return (
        f'<li class="{check.status}"><span class="sign" aria-hidden="true">{sign}</span>'
        f'<div><h3>{text(_sentence(check.name, end=""))} <span class="status">{words}</span></h3>'
        f"<p>{text(_sentence(check.finding))}</p>{advice}</div></li>"
    )


def _sentence(words: str, end: str = ".") -> str:
    return words[:1].upper() + words[1:] + ("" if words.endswith((".", "?")) else end)


def method_section(data: ReportData) -> str:
    """Settings, versions, seed and data: enough to repeat it."""
    path = data.fitted.path
    solved = [
        ("Solver", path.solver),
        ("Gradient evaluations", count(path.n_evaluations)),
        ("Times", f"{path.n_times} from {number(path.times[0])} to {number(path.times[-1])}"),
        ("Chosen time", number(data.fitted.t, 6)),
        ("Chosen by", _chosen_by(data)),
        ("Intervals", _intervals(data)),
        ("False-discovery rate", percent(data.findings.q)),
    ]
    attention = ", and how sharply it is seen" if data.fitted.problem.attention else ""
    how = "; the time is chosen on votes held out" if data.chosen_by_folds else ""
    return f"""
<section id="method" aria-labelledby="method-title"><h2 id="method-title">How it was computed</h2>
<p>A common score for every item; where the votes ask for it, a deviation of the scores and a
position bias for {one(data.votes.voter)}{attention}. The path runs from one ranking for
all to everybody alone{how}.</p>
<div class="facts">
{_facts("Votes", _data_facts(data))}
{_facts("Path", solved)}
{_facts("Settings", ((key, _setting(value)) for key, value in data.fitted.settings.items()))}
{_facts("Versions", _versions())}
</div></section>"""


def _chosen_by(data: ReportData) -> str:
    cv = data.fitted.cross_validation
    if cv is None:
        return "no cross-validation"
    if data.fitted.chosen_by_hand:
        return "hand (stop_at)"
    rule = data.fitted.settings.get("rule", "best")
    return f"{cv.errors.shape[0]}-fold cross-validation, {cv.criterion}, rule: {rule}"


def _intervals(data: ReportData) -> str:
    how = data.findings.intervals
    if how.method is None:
        return "not computed"
    return f"{percent(how.level)}, {how.method}. {data.findings.meaning_of_intervals or ''}"


def _data_facts(data: ReportData) -> list[tuple[str, str]]:
    votes = data.votes
    facts = [
        ("Votes", count(votes.n_votes)),
        (f"{votes.voter.capitalize()}s", count(votes.n_annotators)),
        ("Items", count(votes.n_items)),
        ("Pairs compared", count(data.trust.n_pairs)),
        ("Ties", count(int(votes.count[votes.choice == 0].sum()))),
        ("Total weight", number(votes.total_weight, 6)),
    ]
    facts += [
        (str(key).replace("_", " "), _setting(value))
        for key, value in votes.origin.items()
        if key != "source" and value != []  # the source names folders of the user's machine
    ]
    if data.heading.source is not None:
        facts.insert(0, ("File", data.heading.source))
    return facts


def _setting(value: Any) -> str:
    """A setting in few words; arrays and frames by their shape only."""
    shape = getattr(value, "shape", None)
    if shape:
        return f"{type(value).__name__} of shape {tuple(shape)}"
    written = str(value)
    if Path(written).is_absolute():  # a file's name is enough; folders are nobody's business
        written = Path(written).name
    return written if len(written) <= 120 else written[:117] + "..."


def _versions() -> list[tuple[str, str]]:
    found = [("Python", platform.python_version())]
    for library in _LIBRARIES:
        try:
            found.append((library, version(library)))
        except PackageNotFoundError:  # run from a checkout that is not installed
            found.append((library, "not installed"))
    return found


def _facts(title: str, facts: Iterable[tuple[str, str]]) -> str:
    rows = "".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in facts)
    return f"<div><h3>{text(title)}</h3><dl>{rows}</dl></div>"


def summary(data: ReportData) -> str:
    """One line under the title."""
    votes = data.votes
    parts = [
        plural(votes.n_votes, "vote"),
        plural(votes.n_annotators, votes.voter),
        plural(votes.n_items, "item"),
        *([data.heading.source] if data.heading.source else []),
        data.heading.date,
        f"prefpath {dict(_versions())['prefpath']}",
    ]
    return " · ".join(text(part) for part in parts)
