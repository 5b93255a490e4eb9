"""Held-out errors at any time of a path, from those at its knots."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from prefpath.model.design import Floats
from prefpath.selection.cross_validation import CrossValidation

_BEYOND_CHANCE = 3.0  # standard errors of coins


class HeldOutError(NamedTuple):
    """What is lost on votes held out, at one time.

    Attributes
    ----------
    error, standard_error : float
        By the criterion that chose t, mean over the folds; and its standard error.
    wrong : float
        Share of held-out votes whose sign is predicted wrong.
    """

    error: float
    standard_error: float
    wrong: float

    def is_worse_than_a_coin(self, criterion: str) -> bool:
        """Whether tossing a coin would have lost less."""
        return self.error > (math.log(2.0) if criterion == "log-loss" else 0.5)

    def guesses(self, n_votes: int) -> bool:
        """Whether about half of so many votes are wrong, as of guesses: not less, beyond chance.

        Votes predict each other both ways, so that chance is larger than that of as many coins.
        """
        return (1.0 - 2.0 * self.wrong) * math.sqrt(n_votes) < _BEYOND_CHANCE


class HeldOutCurve(NamedTuple):
    """The same at several times: one array each."""

    error: Floats
    standard_error: Floats
    wrong: Floats

    def first(self) -> HeldOutError:
        """The error at the first of the times."""
        return HeldOutError(*(float(values[0]) for values in self))


def held_out_curve(found: CrossValidation, times: Floats) -> HeldOutCurve:
    """Errors at some times: linear in log t between two knots, constant beyond the ends.

    Errors are measured at the knots only. Time on a path is a matter of ratios, and the grid is
    even in log t, so that this is the straight line of every figure that draws them.
    """
    at, knots = np.log(times), np.log(found.times)
    return HeldOutCurve(
        np.interp(at, knots, found.mean),
        np.interp(at, knots, found.standard_error),
        np.interp(at, knots, found.mean_wrong),
    )
