"""Why an annotator stands out or does not: the evidence as short lines of words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prefpath.report.data import Columns
from prefpath.report.format import count, fixed, known, number, percent

_Write = Callable[[Any], str]


def _p_value(value: Any) -> str:
    if not known(value):
        return "–"
    return "below 0.0001" if value < 1e-4 else number(value, 2)


# Column, its words, how it is written. Columns a model does not have are left out.
_LINES: tuple[tuple[str, str, _Write], ...] = (
    ("votes", "Votes", count),
    ("left", "Left clicks", count),
    ("right", "Right clicks", count),
    ("ties", "Ties", count),
    ("agreement", "Agreement with the common ranking", percent),
    ("position_bias", "Position bias (log odds of left)", fixed),
    ("deviation", "Size of the deviation", fixed),
    ("position_bias_entered", "Position bias enters at t", number),
    ("deviation_entered", "Deviation enters at t", number),
)


def evidence(people: Columns, row: int) -> list[list[str]]:
    """Pairs of words: what was looked at, and what was found."""
    lines = []
    for column, words, write in _LINES:
        if column in people:
            value = people[column][row]
            lines.append([words, write(value) if known(value) else "–"])
    return lines
