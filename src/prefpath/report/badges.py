"""Verdicts as coloured badges."""

from __future__ import annotations

from typing import Any

from prefpath.diagnose.verdicts import (
    CONTRARY,
    FOLLOWS,
    GOES_WITH,
    INCONCLUSIVE,
    LEANS_LEFT,
    LEANS_RIGHT,
    NOISY,
    ONE_SIDED,
    OWN_TASTE,
    RANDOM,
    SHARPER,
    TOO_FEW,
    UNEXPLAINED,
)
from prefpath.report.escape import text
from prefpath.report.format import known

_MOODS = {
    FOLLOWS: "calm",
    GOES_WITH: "calm",
    TOO_FEW: "calm",
    INCONCLUSIVE: "calm",
    SHARPER: "taste",
    NOISY: "lean",
    UNEXPLAINED: "lean",
    CONTRARY: "alarm",
    OWN_TASTE: "taste",
    LEANS_LEFT: "lean",
    LEANS_RIGHT: "lean",
    ONE_SIDED: "alarm",
    RANDOM: "alarm",
}


def badge(word: str) -> str:
    """A verdict as safe HTML."""
    return f'<span class="badge {_MOODS.get(word, "")}">{text(word)}</span>'


def also_of(people: Any, k: int) -> list[str]:
    """What holds of someone beside the verdict."""
    words = people["also"][k] if "also" in people else None
    return str(words).split("; ") if known(words) else []
