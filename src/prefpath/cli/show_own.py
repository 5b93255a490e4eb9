"""Whether annotators favour their own items, on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from prefpath.cli.app import table
from prefpath.cli.show_people import between, chance, more
from prefpath.text import abridged, listed, one

if TYPE_CHECKING:
    from prefpath.diagnose import OwnItems
    from prefpath.findings import Findings

_VERDICTS = {"favours its own": "favours", "against its own": "against"}


def show_own_items(console: Console, findings: Findings, top: int) -> None:
    """Annotators who vote on items of their own name or family; nothing where nobody does."""
    found = findings.own_items
    if found is None:
        return
    level = f"{findings.intervals.level:.0%}".replace("%", " %")
    sure = found.columns["expected"][0] is not None  # else they are strengths
    headings = [
        (found.voter, "left"),
        ("own", "left"),
        ("won", "right"),
        *([("expected", "right"), ("if equal", "right")] if sure else [("favour", "right")]),
        (f"{level} interval", "right"),
        ("verdict", "left"),
    ]
    n = len(found.items)
    rows = [_row(findings, found, k) for k in range(min(top, n))]
    console.print()
    title = f"Does {one(found.voter)} favour its own?"
    console.print(table(title, *_without(headings, rows, _empty(findings, rows))))
    more(console, n, top, found.voter)
    console.print(found.meaning, markup=False, highlight=False)


def _empty(findings: Findings, rows: list[list[str]]) -> list[str]:
    """Columns that say nothing: whose own are of their own name, and verdicts where none is."""
    named = [] if any(findings.families or ()) else ["own"]
    return named if any(row[-1] for row in rows) else [*named, "verdict"]


def _row(findings: Findings, found: OwnItems, k: int) -> list[str]:
    row = {name: values[k] for name, values in found.columns.items()}
    if row["expected"] is None:
        sizes = [f"{row['favour']:.2f}", between(row["favour_low"], row["favour_high"], _number)]
    else:
        ends = row["own_if_equal_low"], row["own_if_equal_high"]
        sizes = [f"{row['expected']:.0%}", chance(row["own_if_equal"]), between(*ends, chance)]
    said = [abridged(row["annotator"], 24), _own(findings, found, k), f"{row['won']:.0%}"]
    return [*said, *sizes, _VERDICTS.get(row["verdict"], "")]


def _own(findings: Findings, found: OwnItems, k: int) -> str:
    """The family, where one is known, or else the items."""
    family = (findings.families or {}).get(str(found.columns["annotator"][k]))
    return abridged(family or listed([findings.name(item) for item in found.items[k]], 2), 24)


def _without(
    headings: list[tuple[str, str]], rows: list[list[str]], names: Sequence[str]
) -> tuple[list[tuple[str, str]], list[list[str]]]:
    keep = [k for k, (name, _) in enumerate(headings) if name not in names]
    return [headings[k] for k in keep], [[row[k] for k in keep] for row in rows]


def _number(value: float) -> str:
    return f"{value:.2f}"
