"""Why an annotator stands out or does not: the evidence as short lines of words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prefpath.report.data import Columns
from prefpath.report.format import count, fixed, known, number, percent

_Write = Callable[[Any], str]


def _p_value(value: Any) -> str:
    return "below 0.0001" if value < 1e-4 else number(value, 2)


# Column (its interval in columns _low and _high, where there is one), words, how it is written.
_LINES: tuple[tuple[str, str, _Write], ...] = (
    ("votes", "Votes", count),
    ("left", "Left clicks", count),
    ("right", "Right clicks", count),
    ("ties", "Ties", count),
    ("agreement", "Votes that agree with the common ranking", percent),
    ("first_if_equal", "Chooses the left of two equal items", percent),
    ("p_position_bias", "p-value of the lean", _p_value),
    ("kendall_distance", "Pairs ranked unlike the crowd", percent),
    ("p_deviation", "p-value of the deviation", _p_value),
    ("position_bias", "Position bias on the path (log odds)", fixed),
    ("deviation", "Size of the deviation on the path", fixed),
    ("position_bias_entered", "Position bias enters at t", number),
    ("deviation_entered", "Deviation enters at t", number),
)


def evidence(people: Columns, row: int) -> list[list[str]]:
    """Pairs of words: what was looked at, and what was found."""
    lines = []
    for column, words, write in _LINES:
        if column in people and known(people[column][row]):
            lines.append([words, write(people[column][row]) + interval(people, column, row, write)])
    return lines


def interval(people: Columns, column: str, row: int, write: _Write) -> str:
    """The interval of a value in brackets, where there is one."""
    low, high = (people.get(f"{column}_{end}", {row: None})[row] for end in ("low", "high"))
    return f" ({write(low)} to {write(high)})" if known(low) and known(high) else ""


def reason(people: Columns, row: int) -> str:
    """The verdict's reason, and what else is to be said, in sentences."""
    parts = [people[column][row] for column in ("reason", "notes") if column in people]
    return " ".join(_sentence(str(part)) for part in parts if part)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:] + ("" if words.endswith(".") else ".")
