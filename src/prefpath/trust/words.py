"""Numbers and labels in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prefpath.votes.encode import BoolArray, Labels


def share_of(part: float, total: float) -> str:
    return f"{min(part / total, 1.0):.0%}" if total > 0 else "0%"


def counted(mask: BoolArray, noun: str) -> str:
    n = int(mask.sum())
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def named(labels: Labels | Sequence[Any], most: int = 5) -> str:
    shown = ", ".join(shortened(str(label)) for label in labels[:most])
    more = len(labels) - most
    return f"{shown} and {more:,} more" if more > 0 else shown


def shortened(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[:most] + "..."
