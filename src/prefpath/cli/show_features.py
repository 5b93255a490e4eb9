"""What features are worth, on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console

from prefpath.cli.app import table
from prefpath.cli.show_people import between, more
from prefpath.text import abridged

if TYPE_CHECKING:
    from prefpath.findings import Findings


def show_features(console: Console, findings: Findings, top: int) -> None:
    """Coefficients of the features, those that move scores most first; nothing without any."""
    columns = findings.coefficients
    if columns is None:
        return
    order = np.argsort(-np.abs(columns["over_range"]), kind="stable")
    level = f"{findings.intervals.level:.0%}".replace("%", " %")
    headings = [
        ("feature", "left"),
        ("coefficient", "right"),
        (f"{level} interval", "right"),
        ("lowest to highest", "right"),
    ]
    rows = [
        [
            abridged(columns["feature"][k]),
            _short(columns["coefficient"][k]),
            between(columns["low"][k], columns["high"][k], _short),
            f"{round(columns['over_range'][k], 2) + 0.0:+.2f}",
        ]
        for k in order[:top]
    ]
    console.print()
    console.print(table("What the features are worth", headings, rows))
    more(console, len(order), top, "feature")
    console.print(findings.meaning_of_coefficients, markup=False, highlight=False)


def _short(value: float) -> str:
    """Three digits that count: a year is worth little, a genre much.

    >>> _short(0.0123456), _short(-1.23456), _short(0.0), _short(1234.5)
    ('0.0123', '-1.23', '0', '1234')
    """
    if value == 0.0:
        return "0"
    places = 2 - int(np.floor(np.log10(abs(value))))
    return f"{value:.{min(max(places, 0), 6)}f}"
