"""What came of a comparison: one outcome a method and split, and their summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Outcome:
    """How one method did on one split."""

    method: str
    split: int
    mismatch: float
    log_loss: float | None
    seconds: float


@dataclass(frozen=True)
class Summary:
    """How one method did on all splits; `std` is None where there is one split only."""

    method: str
    n_splits: int
    min: float
    mean: float
    max: float
    std: float | None
    log_loss: float | None
    seconds: float

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Summary:
        """Summary of one method's outcomes."""
        errors = np.array([outcome.mismatch for outcome in outcomes])
        costs = [outcome.log_loss for outcome in outcomes if outcome.log_loss is not None]
        return cls(
            method=outcomes[0].method,
            n_splits=len(outcomes),
            min=float(errors.min()),
            mean=float(errors.mean()),
            max=float(errors.max()),
            std=float(errors.std(ddof=1)) if len(errors) > 1 else None,
            log_loss=float(np.mean(costs)) if costs else None,
            seconds=float(np.mean([outcome.seconds for outcome in outcomes])),
        )

    @property
    def standard_error(self) -> float | None:
        """Of the mean, as if splits were independent (they share votes, so it is too small)."""
        return None if self.std is None else self.std / self.n_splits**0.5


@dataclass(frozen=True)
class Comparison:
    """All outcomes, and why methods are missing that could not be run.

    Attributes
    ----------
    least_mismatch : float
        What nobody can go below: ties are half an error whatever is predicted.
    """

    outcomes: tuple[Outcome, ...]
    failures: Mapping[str, str] = field(default_factory=dict)
    least_mismatch: float = 0.0

    def summaries(self) -> list[Summary]:
        """One summary a method, the least mean mismatch first."""
        by_method: dict[str, list[Outcome]] = {}
        for outcome in self.outcomes:
            by_method.setdefault(outcome.method, []).append(outcome)
        found = [Summary.of(outcomes) for outcomes in by_method.values()]
        return sorted(found, key=lambda summary: summary.mean)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "least_mismatch": self.least_mismatch,
            "methods": [asdict(summary) for summary in self.summaries()],
            "failures": dict(self.failures),
            "outcomes": [asdict(outcome) for outcome in self.outcomes],
        }
