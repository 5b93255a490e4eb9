"""One HTML file: no network, and no script but the two whose fingerprints it names."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import Any

from prefpath.report.charts import bokeh_script, chart_items, charts
from prefpath.report.data import ReportData
from prefpath.report.escape import script_json, text
from prefpath.report.payload import payload
from prefpath.report.sections import (
    annotator_section,
    answer_cards,
    board_section,
    journey_section,
    map_section,
    path_section,
    slider,
)
from prefpath.report.trust import method_section, summary, trust_section
from prefpath.report.words import answers
from prefpath.stages import REPORT, tell

_NAVIGATION = (
    ("journey", "Leaderboard"),
    ("people", ""),
    ("paths", "Paths"),
    ("maps", "Who beats whom"),
    ("trust", "Trust"),
    ("method", "Method"),
)


def render(data: ReportData) -> str:
    """The whole page."""
    title = data.heading.title
    figures = charts(data)
    tell(REPORT, 0.5)
    frames = {name: _chart_frame(name, words) for name, (_, words) in figures.items()}
    scripts = (bokeh_script(), _asset("report.js"))
    people = f"{data.votes.voter.capitalize()}s"
    links = "".join(f'<a href="#{name}">{words or people}</a>' for name, words in _NAVIGATION)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="prefpath">
<title>{text(title)}</title>
<style>{_asset("report.css")}</style>
</head>
<body>
<header><h1>{text(title)}</h1><p class="summary">{summary(data)}</p></header>
<main>
{answer_cards(data, answers(data))}
<nav aria-label="Sections">{links}</nav>
{journey_section(data)}
<div class="ride">
{slider(data)}
{board_section(data, frames)}
{annotator_section(data)}
{path_section(data, frames)}
</div>
{map_section(data)}
{trust_section(data)}
{method_section(data)}
</main>
<footer><p>Made by prefpath on {text(data.heading.date)}. This file is complete: it needs no
network.</p></footer>
{_json("report-data", payload(data))}
{_json("report-charts", chart_items(figures))}
{"".join(f"<script>{script}</script>" for script in scripts)}
</body>
</html>
"""


def _chart_frame(name: str, words: str) -> str:
    return f'<div class="chart" id="chart-{name}" role="img" aria-label="{text(words)}"></div>'


def _json(name: str, value: Any) -> str:
    return f'<script type="application/json" id="{name}">{script_json(value)}</script>'


def _policy(scripts: tuple[str, ...]) -> str:
    """Nothing may be loaded, and only these scripts may run, whatever a label says."""
    prints = " ".join(f"'sha256-{_fingerprint(script)}'" for script in scripts)
    return f"default-src 'none'; script-src {prints}; style-src 'unsafe-inline'; img-src data:"


def _fingerprint(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def _asset(name: str) -> str:
    return (files("prefpath.report") / "assets" / name).read_text(encoding="utf-8")
