"""Losses: functions of a margin and a choice, and of nothing else.

A margin is how much more an annotator likes the left item; a choice is +1 (left), -1
(right), 0 (tie) or a strength between. To add a loss: one class here (value, gradient,
curvature), one line in `LOSSES`, and its derivatives for one vote in `scalar_losses`, which the
compiled kernels call; the tests check the two against each other and against finite
differences.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_ndtr, ndtr

from prefpath.errors import SettingError
from prefpath.model.hazard import hazard_excess, normal_hazard
from prefpath.model.scalar_losses import (
    BRADLEY_TERRY,
    HUBER,
    LINEAR,
    SMOOTH_L1,
    THURSTONE_MOSTELLER,
)

Array = NDArray[np.float64]


class Loss(ABC):
    """What a vote costs, as a function of `(margin, choice)`.

    Attributes
    ----------
    name : str
        What a user types.
    code : int
        What the compiled kernels know the loss by.
    parameter : float
        Its one number, where it has one.
    max_curvature : float
        Upper bound of the second derivative in the margin.
    binary : bool
        Choices beyond [-1, 1] have no meaning.
    affine_in_choice : bool
        The gradient is affine in the choice, so that votes with one margin pool into their
        total weight and mean choice without loss.
    """

    name: ClassVar[str]
    code: ClassVar[int]
    binary: ClassVar[bool] = False
    affine_in_choice: ClassVar[bool] = True
    parameter: float = 0.0

    @property
    @abstractmethod
    def max_curvature(self) -> float: ...

    @abstractmethod
    def value(self, margin: Array, choice: Array) -> Array: ...

    @abstractmethod
    def gradient(self, margin: Array, choice: Array) -> Array:
        """Derivative of the value in the margin."""

    @abstractmethod
    def curvature(self, margin: Array, choice: Array) -> Array:
        """Second derivative of the value in the margin."""

    def derivatives(self, margin: Array, choice: Array) -> tuple[Array, Array]:
        """Gradient and curvature."""
        return self.gradient(margin, choice), self.curvature(margin, choice)

    @property
    @abstractmethod
    def max_curvature_change(self) -> float:
        """Upper bound of the third derivative in the margin; inf where the curvature jumps."""

    def steepest(self, margin: float, choice: float) -> float:
        """Largest slope of any vote with margin and choice up to these sizes (by convexity)."""
        worst = np.array([margin, -margin]), np.array([-choice, choice])
        return float(np.abs(self.gradient(*worst)).max())

    def steepest_product(self, margin: float, choice: float) -> float:
        """Largest derivative of `margin * gradient(margin)` up to these sizes.

        The gradient in an attention is a sum of such products, and this bounds its change.
        """
        return self.steepest(margin, choice) + self.max_curvature * margin

    def most_curved_product(self, margin: float) -> float:
        """Largest second derivative of `margin * gradient(margin)` up to this size."""
        return 2.0 * self.max_curvature + self.max_curvature_change * margin

    def probability(self, margin: Array) -> Array:
        """Probability that the left item is chosen.

        Without a likelihood of its own, a loss says what HodgeRank's uniform model says: the
        margin is the expected choice.
        """
        return np.clip((1.0 + np.asarray(margin, dtype=float)) / 2.0, 0.0, 1.0)


class _BinaryLoss(Loss):
    """A win costs `-log F(margin)`; a choice y is (1 + y) / 2 wins and (1 - y) / 2 losses."""

    binary = True

    @abstractmethod
    def _win(self, margin: Array) -> tuple[Array, Array, Array]:
        """`-log F` and its first two derivatives."""

    def _mixed(self, margin: Array, choice: Array, order: int, sign: float) -> Array:
        margin, choice = np.asarray(margin, dtype=float), np.asarray(choice, dtype=float)
        wins, losses = (1.0 + choice) / 2.0, (1.0 - choice) / 2.0
        result: Array = wins * self._win(margin)[order] + sign * losses * self._win(-margin)[order]
        return result

    def value(self, margin: Array, choice: Array) -> Array:
        return self._mixed(margin, choice, 0, 1.0)

    def gradient(self, margin: Array, choice: Array) -> Array:
        return self._mixed(margin, choice, 1, -1.0)

    def curvature(self, margin: Array, choice: Array) -> Array:
        return self._mixed(margin, choice, 2, 1.0)


@dataclass(frozen=True)
class Linear(Loss):
    """HodgeRank's squared error, `(margin - choice)^2 / 2`."""

    name = "linear"
    code = LINEAR

    @property
    def max_curvature(self) -> float:
        return 1.0

    @property
    def max_curvature_change(self) -> float:
        return 0.0

    def value(self, margin: Array, choice: Array) -> Array:
        return 0.5 * (np.asarray(margin, dtype=float) - choice) ** 2

    def gradient(self, margin: Array, choice: Array) -> Array:
        return np.asarray(margin, dtype=float) - choice

    def curvature(self, margin: Array, choice: Array) -> Array:
        return np.ones(np.broadcast(margin, choice).shape)


@dataclass(frozen=True)
class BradleyTerry(Loss):
    """Logistic choice: `-log sigmoid(choice * margin)`."""

    name = "bradley-terry"
    code = BRADLEY_TERRY
    binary = True

    @property
    def max_curvature(self) -> float:
        return 0.25

    @property
    def max_curvature_change(self) -> float:
        return 1.0 / (6.0 * math.sqrt(3.0))

    def steepest_product(self, margin: float, choice: float) -> float:
        # The derivative of x sigmoid(x) lies between -0.0999 and 1.0999.
        return min(1.1, super().steepest_product(margin, choice))

    def most_curved_product(self, margin: float) -> float:
        # 2 c(x) + x c'(x) is largest at 0, where c is 1/4.
        return min(0.5, super().most_curved_product(margin))

    def value(self, margin: Array, choice: Array) -> Array:
        # Held-out votes are scored by this at every knot of every fold: one exponential a vote.
        size, towards = np.abs(margin), np.sign(margin) * choice
        result: Array = np.log1p(np.exp(-size)) + 0.5 * (1.0 - towards) * size
        return result

    def curvature(self, margin: Array, choice: Array) -> Array:
        margin, _ = np.broadcast_arrays(np.asarray(margin, dtype=float), choice)
        result: Array = expit(margin) * expit(-margin)
        return result

    def gradient(self, margin: Array, choice: Array) -> Array:
        margin, choice = np.asarray(margin, dtype=float), np.asarray(choice, dtype=float)
        result: Array = (1.0 - choice) / 2.0 * expit(margin) - (1.0 + choice) / 2.0 * expit(-margin)
        return result

    def derivatives(self, margin: Array, choice: Array) -> tuple[Array, Array]:
        won = expit(np.asarray(margin, dtype=float))
        return won - 0.5 * (1.0 + choice), won * (1.0 - won)

    def probability(self, margin: Array) -> Array:
        result: Array = expit(np.asarray(margin, dtype=float))
        return result


@dataclass(frozen=True)
class ThurstoneMosteller(_BinaryLoss):
    """Normal choice: `-log Phi(choice * margin)`, by log-cdf so that no tail divides 0 by 0."""

    name = "thurstone-mosteller"
    code = THURSTONE_MOSTELLER

    @property
    def max_curvature(self) -> float:
        return 1.0

    @property
    def max_curvature_change(self) -> float:
        return 0.3  # found numerically; a test holds it against a fine grid

    def _win(self, margin: Array) -> tuple[Array, Array, Array]:
        hazard = normal_hazard(margin)
        return -log_ndtr(margin), -hazard, hazard * hazard_excess(margin, hazard)

    def probability(self, margin: Array) -> Array:
        result: Array = ndtr(np.asarray(margin, dtype=float))
        return result


@dataclass(frozen=True)
class Huber(Loss):
    """Squared error near the choice, absolute error beyond `parameter`: one vote pulls no more."""

    parameter: float = 1.0
    name = "huber"
    code = HUBER
    affine_in_choice = False

    def __post_init__(self) -> None:
        _check_positive(self.parameter, self.name)

    @property
    def max_curvature(self) -> float:
        return 1.0

    @property
    def max_curvature_change(self) -> float:
        return math.inf

    def value(self, margin: Array, choice: Array) -> Array:
        size = np.abs(np.asarray(margin, dtype=float) - choice)
        tail = self.parameter * (size - 0.5 * self.parameter)
        return np.where(size <= self.parameter, 0.5 * size**2, tail)

    def gradient(self, margin: Array, choice: Array) -> Array:
        residual = np.asarray(margin, dtype=float) - choice
        return np.clip(residual, -self.parameter, self.parameter)

    def curvature(self, margin: Array, choice: Array) -> Array:
        residual = np.asarray(margin, dtype=float) - choice
        return np.where(np.abs(residual) <= self.parameter, 1.0, 0.0)


@dataclass(frozen=True)
class SmoothL1(Loss):
    """Absolute error, rounded within `parameter`: `sqrt(r^2 + e^2) - e`."""

    parameter: float = 0.1
    name = "smooth-l1"
    code = SMOOTH_L1
    affine_in_choice = False

    def __post_init__(self) -> None:
        _check_positive(self.parameter, self.name)

    @property
    def max_curvature(self) -> float:
        return 1.0 / self.parameter

    @property
    def max_curvature_change(self) -> float:
        return 0.86 / self.parameter**2  # 48 / (25 sqrt 5) at half the parameter

    def value(self, margin: Array, choice: Array) -> Array:
        return np.hypot(np.asarray(margin, dtype=float) - choice, self.parameter) - self.parameter

    def gradient(self, margin: Array, choice: Array) -> Array:
        residual = np.asarray(margin, dtype=float) - choice
        return residual / np.hypot(residual, self.parameter)

    def curvature(self, margin: Array, choice: Array) -> Array:
        residual = np.asarray(margin, dtype=float) - choice
        return self.parameter**2 / np.hypot(residual, self.parameter) ** 3


LOSSES: dict[str, type[Loss]] = {
    loss.name: loss for loss in (Linear, BradleyTerry, ThurstoneMosteller, Huber, SmoothL1)
}


def as_loss(loss: str | Loss) -> Loss:
    """A loss by its name, or the loss itself.

    >>> as_loss("bradley-terry")
    BradleyTerry()
    """
    if isinstance(loss, Loss):
        return loss
    if loss not in LOSSES:
        raise SettingError(f"there is no loss {loss!r}", expected=f"one of {', '.join(LOSSES)}")
    return LOSSES[loss]()


def _check_positive(parameter: float, name: str) -> None:
    if not (np.isfinite(parameter) and parameter > 0):
        raise SettingError(f"{name} has parameter {parameter}", expected="a number above 0")
