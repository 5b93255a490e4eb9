"""What a prediction is worth: mismatch ratio and log-loss."""

from __future__ import annotations

from typing import Literal

import numpy as np

from prefpath.errors import SettingError
from prefpath.model.design import Floats
from prefpath.model.losses import Loss

Criterion = Literal["auto", "mismatch", "log-loss"]
CRITERIA = ("mismatch", "log-loss")

_LEAST_PROBABILITY = 1e-6


def criterion_for(criterion: Criterion, loss: Loss) -> str:
    """The criterion named; "auto" is log-loss where the loss has probabilities, else mismatch.

    >>> from prefpath.model.losses import as_loss
    >>> criterion_for("auto", as_loss("bradley-terry")), criterion_for("auto", as_loss("linear"))
    ('log-loss', 'mismatch')
    """
    if criterion == "auto":
        return "log-loss" if loss.binary else "mismatch"
    if criterion not in CRITERIA:
        raise SettingError(f"criterion is {criterion!r}", expected="auto, mismatch or log-loss")
    return criterion


def mismatch_ratio(margin: Floats, choice: Floats, weight: Floats) -> float:
    """Share of votes whose sign is predicted wrong; a margin of 0 or a tie counts one half.

    >>> one = np.ones(3)
    >>> mismatch_ratio(np.array([2.0, -1.0, 0.0]), np.array([1.0, 1.0, 1.0]), one)
    0.5
    """
    return float(np.sum(weight * mismatches(margin, choice)) / np.sum(weight))


def mismatches(margin: Floats, choice: Floats) -> Floats:
    """How wrong the sign of each vote is predicted: 0, 1, or one half."""
    return 0.5 * (1.0 - np.sign(margin) * np.sign(choice))


def vote_costs(margin: Floats, choice: Floats, loss: Loss) -> Floats:
    """Negative log-probability of each vote's choice; a tie is half of each."""
    return probability_costs(loss.probability(margin), choice)


def log_loss(margin: Floats, choice: Floats, weight: Floats, loss: Loss) -> float:
    """Mean negative log-probability of what was chosen; a tie is half of each."""
    return probability_log_loss(loss.probability(margin), choice, weight)


def probability_log_loss(probability: Floats, choice: Floats, weight: Floats) -> float:
    """The same from the probability that the left item is chosen.

    >>> round(probability_log_loss(np.array([0.5]), np.array([1.0]), np.ones(1)), 4)
    0.6931
    """
    return float(np.sum(weight * probability_costs(probability, choice)) / np.sum(weight))


def probability_costs(probability: Floats, choice: Floats) -> Floats:
    """Negative log-probability of each choice, from the probability of the left item."""
    left = np.clip(probability, _LEAST_PROBABILITY, 1.0 - _LEAST_PROBABILITY)
    share = (1.0 + np.clip(choice, -1.0, 1.0)) / 2.0
    return -share * np.log(left) - (1.0 - share) * np.log1p(-left)
