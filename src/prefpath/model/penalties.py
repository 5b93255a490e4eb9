"""Penalties: how deviations and position biases are kept sparse.

A penalty is a value, a dual norm and a prox. The dual norm and the prox exist once, compiled,
and are known by the penalty's code: kernels, recorders and paths all call `dual_norm` and
`scaled_prox` of this file. docs/adding-a-penalty.md says how to add one.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from prefpath.compiling import inner_kernel, kernel
from prefpath.errors import SettingError

Array = NDArray[np.float64]

GROUP, L1 = range(2)


class Penalty(ABC):
    """A penalty of one annotator's deviation; position bias always pays its absolute value.

    Attributes
    ----------
    name : str
        What a user types.
    code : int
        What the compiled kernels know the penalty by.
    group : bool
        An annotator's deviation enters as a whole (else entry by entry).
    """

    name: ClassVar[str]
    code: ClassVar[int]
    group: ClassVar[bool]

    @abstractmethod
    def value(self, deviation: Array) -> float:
        """Penalty of one annotator's deviation."""

    @abstractmethod
    def pair_norm(self, features: Array | None) -> float:
        """Largest dual norm of one vote's gradient in a deviation, for slope 1."""

    @abstractmethod
    def laplacian_bounds(self, share: Array, heaviest: Array) -> tuple[Array, Array]:
        """Bounds of the dual norm of a graph Laplacian times a change of the scores.

        Without features an annotator's gradient changes by such a product. The first bound is
        for a change whose range is 1, the second for one whose 2-norm is 1; `share` is the
        annotator's weight and `heaviest` the weight of the item they voted on most.
        """

    def prox(self, z: Array, threshold: float = 1.0) -> Array:
        """Minimiser of `threshold * value(x) + ||x - z||^2 / 2`."""
        result = np.empty(len(z))
        scaled_prox(self.code, z, 0, len(z), threshold, 1.0, result)
        return result

    def dual_norm(self, z: Array) -> float:
        """The prox of `z` is zero exactly where this is at most the threshold."""
        return float(dual_norm(self.code, z, 0, len(z)))


@dataclass(frozen=True)
class GroupPenalty(Penalty):
    """`||xi||_2` for each annotator: a taste of one's own enters as a whole."""

    name = "group"
    code = GROUP
    group = True

    def value(self, deviation: Array) -> float:
        return float(np.linalg.norm(deviation))

    def pair_norm(self, features: Array | None) -> float:
        if features is None:
            return math.sqrt(2.0)
        return 2.0 * float(np.linalg.norm(features, axis=1).max())

    def laplacian_bounds(self, share: Array, heaviest: Array) -> tuple[Array, Array]:
        return math.sqrt(2.0) * share, 2.0 * heaviest


@dataclass(frozen=True)
class L1Penalty(Penalty):
    """`||xi||_1` for each annotator: every coefficient enters by itself."""

    name = "l1"
    code = L1
    group = False

    def value(self, deviation: Array) -> float:
        return float(np.abs(deviation).sum())

    def pair_norm(self, features: Array | None) -> float:
        return 1.0 if features is None else float(np.ptp(features, axis=0).max())

    def laplacian_bounds(self, share: Array, heaviest: Array) -> tuple[Array, Array]:
        by_drift = np.minimum(share, heaviest)
        return by_drift, math.sqrt(2.0) * by_drift


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


# ---------------------------------------------------------------- what the kernels call


@kernel(allocates=False)
def dual_norm(code: int, z: Array, start: int, stop: int) -> float:
    """How far the block `z[start:stop]` is from entering."""
    size = 0.0
    if code == GROUP:
        for k in range(start, stop):
            size += z[k] * z[k]
        return math.sqrt(size)
    for k in range(start, stop):
        size = max(size, abs(z[k]))
    return size


@kernel(allocates=False)
def scaled_prox(
    code: int, z: Array, start: int, stop: int, threshold: float, scale: float, out: Array
) -> bool:
    """`out = scale * prox(z[start:stop])`; tells whether any of it is not zero."""
    size = dual_norm(code, z, start, stop)
    if size <= threshold:
        for k in range(stop - start):
            out[k] = 0.0
        return False
    if code == GROUP:
        factor = scale * (1.0 - threshold / size)
        for k in range(stop - start):
            out[k] = factor * z[start + k]
    else:
        for k in range(stop - start):
            out[k] = scale * soft_threshold(z[start + k], threshold)
    return True


@inner_kernel(allocates=False)
def add_scaled_prox(
    code: int, z: Array, start: int, stop: int, threshold: float, scale: float, out: Array
) -> None:
    """`out[start:stop] += scale * prox(z[start:stop])`, without a slice: for blocks of a few."""
    size = dual_norm(code, z, start, stop)
    if size <= threshold:
        return
    if code == GROUP:
        factor = scale * (1.0 - threshold / size)
        for k in range(start, stop):
            out[k] += factor * z[k]
    else:
        for k in range(start, stop):
            out[k] += scale * soft_threshold(z[k], threshold)


@inner_kernel(allocates=False)
def time_to_leave(
    code: int, z: Array, slope: Array, start: int, stop: int, threshold: float
) -> float:
    """When `z[start:stop] + t * slope` leaves the dual ball; inf is never."""
    if code == GROUP:
        a, b, c = 0.0, 0.0, -threshold * threshold
        for k in range(stop - start):
            a += slope[k] * slope[k]
            b += z[start + k] * slope[k]
            c += z[start + k] * z[start + k]
        if c >= 0.0:
            return 0.0
        return (math.sqrt(b * b - a * c) - b) / a if a > 0.0 else np.inf
    shortest = np.inf
    for k in range(stop - start):
        shortest = min(shortest, scalar_time_to_leave(z[start + k], slope[k], threshold))
    return shortest


@inner_kernel(allocates=False)
def scalar_time_to_leave(z: float, slope: float, threshold: float) -> float:
    """When `z + t * slope` leaves the interval within the threshold; inf is never."""
    if slope == 0.0:
        return np.inf
    return max(threshold - math.copysign(1.0, slope) * z, 0.0) / abs(slope)


@inner_kernel(allocates=False)
def soft_threshold(z: float, threshold: float) -> float:
    """The prox of the absolute value."""
    if z > threshold:
        return z - threshold
    if z < -threshold:
        return z + threshold
    return 0.0


def soft_thresholds(z: Array, threshold: Array) -> Array:
    """The prox of the absolute value, entry by entry; in NumPy."""
    return np.where(z > threshold, z - threshold, np.where(z < -threshold, z + threshold, 0.0))


@kernel()
def block_norms(code: int, z: Array, ends: NDArray[np.int64]) -> Array:
    """Dual norm of every block; block k is `z[ends[k]:ends[k + 1]]`."""
    norms = np.empty(len(ends) - 1)
    for k in range(len(norms)):
        norms[k] = dual_norm(code, z, ends[k], ends[k + 1])
    return norms


def block_proxes(
    code: int, z: Array, ends: NDArray[np.int64], threshold: Array, scale: float
) -> tuple[Array, NDArray[np.bool_]]:
    """`scale * prox` of every block, and which blocks are not zero; in NumPy."""
    n = len(ends) - 1
    owner = np.repeat(np.arange(n), np.diff(ends))
    if code == GROUP:  # added up in the order of `dual_norm`, to the same bits
        size = np.sqrt(np.bincount(owner, weights=z * z, minlength=n))
        is_active = size > threshold
        factor = scale * (1.0 - threshold / np.where(is_active, size, 1.0))
        return np.where(is_active, factor, 0.0)[owner] * z, is_active
    value = scale * soft_thresholds(z, threshold[owner])
    is_active = np.bincount(owner, weights=np.abs(z) > threshold[owner], minlength=n) > 0
    return value, is_active
