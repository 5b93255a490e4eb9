"""Numbers and labels in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prefpath import text
from prefpath.votes.encode import BoolArray, Labels


def share_of(part: float, total: float) -> str:
    return f"{min(part / total, 1.0):.0%}" if total > 0 else "0%"


def counted(mask: BoolArray, noun: str) -> str:
    return text.counted(int(mask.sum()), noun)


def named(labels: Labels | Sequence[Any], most: int = 5) -> str:
    return text.listed(labels, most)
