"""Items the votes do not bound: whom they are above or below all the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np

from prefpath.model.design import Floats
from prefpath.pairs import PairCounts, evidence_of_tiers
from prefpath.votes.encode import BoolArray, CodeArray

Loose = Mapping[int, Floats]
"""Of each such item: log-likelihood that speaks for it against every other, negative if below."""


class _Errors(Protocol):
    @property
    def bounded(self) -> BoolArray: ...
    @property
    def covariance(self) -> Floats: ...
    @property
    def unclustered(self) -> Floats: ...


def loose_items(counts: PairCounts, errors: _Errors, voices: Callable[[int], int] | None) -> Loose:
    """Evidence of the tiers, as far as votes of one annotator are worth it.

    Parameters
    ----------
    voices : callable, or None
        How many annotators voted on an item, where intervals are about others like them: then an
        annotator counts as one voice at most, however often they preferred the item.
    """
    found = evidence_of_tiers(counts, ~errors.bounded)
    inflation = _inflation(errors)
    return {item: _at_most(lost / inflation, item, voices) for item, lost in found.items()}


def voices_of(left: CodeArray, right: CodeArray, annotator: CodeArray) -> Callable[[int], int]:
    """How many annotators voted on an item, of votes that say whose they are."""
    return lambda item: len(np.unique(annotator[(left == item) | (right == item)]))


def _inflation(errors: _Errors) -> float:
    """How much more the scores vary than if all votes were independent; at least 1."""
    clustered, single = np.diag(errors.covariance), np.diag(errors.unclustered)
    known = errors.bounded & (single > 0.0)
    return max(1.0, float(np.median(clustered[known] / single[known]))) if known.any() else 1.0


def _at_most(lost: Floats, item: int, voices: Callable[[int], int] | None) -> Floats:
    if voices is None:
        return lost
    most = voices(item) * np.log(2.0)
    return np.clip(lost, -most, most)
