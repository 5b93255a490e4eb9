"""Penalties: how deviations and position biases are kept sparse. A value and a prox, no more."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from prefpath.errors import SettingError

Array = NDArray[np.float64]


class Penalty(ABC):
    """A penalty of one annotator's deviation; position bias always pays its absolute value.

    Attributes
    ----------
    name : str
        What a user types.
    group : bool
        An annotator's deviation enters as a whole (else entry by entry).
    """

    name: ClassVar[str]
    group: ClassVar[bool]

    @abstractmethod
    def value(self, deviation: Array) -> float:
        """Penalty of one annotator's deviation."""

    @abstractmethod
    def prox(self, z: Array, threshold: float = 1.0) -> Array:
        """Minimiser of `threshold * value(x) + ||x - z||^2 / 2`."""

    @abstractmethod
    def dual_norm(self, z: Array) -> float:
        """The prox of `z` is zero exactly where this is at most the threshold."""


@dataclass(frozen=True)
class GroupPenalty(Penalty):
    """`||xi||_2` for each annotator: a taste of one's own enters as a whole."""

    name = "group"
    group = True

    def value(self, deviation: Array) -> float:
        return float(np.linalg.norm(deviation))

    def prox(self, z: Array, threshold: float = 1.0) -> Array:
        size = float(np.linalg.norm(z))
        if size <= threshold:
            return np.zeros_like(z)
        return z * (1.0 - threshold / size)

    def dual_norm(self, z: Array) -> float:
        return float(np.linalg.norm(z))


@dataclass(frozen=True)
class L1Penalty(Penalty):
    """`||xi||_1` for each annotator: every coefficient enters by itself."""

    name = "l1"
    group = False

    def value(self, deviation: Array) -> float:
        return float(np.abs(deviation).sum())

    def prox(self, z: Array, threshold: float = 1.0) -> Array:
        return np.sign(z) * np.maximum(np.abs(z) - threshold, 0.0)

    def dual_norm(self, z: Array) -> float:
        return float(np.abs(z).max(initial=0.0))


PENALTIES: dict[str, type[Penalty]] = {p.name: p for p in (GroupPenalty, L1Penalty)}


def as_penalty(penalty: str | Penalty | None, *, has_features: bool) -> Penalty:
    """A penalty by its name; None is group without features and l1 with them."""
    if penalty is None:
        return L1Penalty() if has_features else GroupPenalty()
    if isinstance(penalty, Penalty):
        return penalty
    if penalty not in PENALTIES:
        raise SettingError(
            f"there is no penalty {penalty!r}", expected=f"one of {', '.join(PENALTIES)}"
        )
    return PENALTIES[penalty]()
