"""Words that all solvers share: how the common part moves, who is told, what a path cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

# How the common part moves: by its gradient flow, or as the exact minimiser (linear loss).
Common = Literal["flow", "minimise"]
# Called as `progress(t, active_annotators)` at every knot.
Progress = Callable[[float, int], None]


@dataclass
class Work:
    """What a path cost."""

    steps: int = 0
    rejected: int = 0
    redone: int = 0
    evaluations: int = 0
    said_slow: bool = False
