"""Many tests at once: Benjamini and Hochberg's rule, and what is ordinary among many."""

from __future__ import annotations

import numpy as np

from prefpath.distributions import normal_quantile, normal_tail
from prefpath.errors import SettingError
from prefpath.model.design import Floats
from prefpath.votes.encode import BoolArray

_QUARTILE = 0.6744897501960817  # of the standard normal


def check_rate(q: float) -> None:
    """A false-discovery rate lies strictly between 0 and 1."""
    if not (np.isfinite(q) and 0 < q < 1):
        raise SettingError(
            f"q is {q}",
            expected="a false-discovery rate between 0 and 1, such as 0.1",
        )


def benjamini_hochberg(p: Floats, q: float) -> BoolArray:
    """Which hypotheses are rejected at false-discovery rate `q`; those not tested are not.

    >>> benjamini_hochberg(np.array([0.001, 0.9, 0.04, np.nan]), 0.1)
    array([ True, False,  True, False])
    """
    chosen = np.zeros(len(p), dtype=bool)
    tested = np.flatnonzero(~np.isnan(p))
    if not len(tested):
        return chosen
    order = tested[np.argsort(p[tested], kind="stable")]
    below = p[order] <= q * np.arange(1, len(order) + 1) / len(order)
    if below.any():
        chosen[order[: len(below) - int(np.argmax(below[::-1]))]] = True
    return chosen


def simes(*tests: Floats) -> Floats:
    """One p-value of each annotator for "nothing at all", from several tests of them (Simes 1986).

    Tests that were not made (not a number) do not count.

    >>> simes(np.array([0.01, 0.5, np.nan]), np.array([0.03, np.nan, np.nan]))
    array([0.02, 0.5 ,  nan])
    """
    ordered = np.sort(np.stack(tests), axis=0)  # not a number last
    n_made = np.count_nonzero(~np.isnan(ordered), axis=0)
    place = np.arange(1, len(ordered) + 1)[:, None]
    result: Floats = np.fmin.reduce(ordered * n_made / place, axis=0)
    return result


def soften(p: Floats) -> tuple[Floats, float, float]:
    """P-values against the bulk of annotators instead of the model; its centre and spread.

    Median and quartiles of the normal scores stand in for those of the standard normal, and only
    ever make p-values larger (Efron's empirical null). Of the distances from the median to the
    two quartiles the smaller counts: deviants stretch the upper one, coarse p-values of few
    votes the lower.

    >>> p, shift, scale = soften(np.linspace(0.001, 0.999, 999))
    >>> round(shift, 3), round(scale, 2)
    (0.0, 1.0)
    """
    tested = ~np.isnan(p)
    if not tested.any():
        return p, 0.0, 1.0
    z = normal_quantile(np.clip(p[tested], 1e-300, 1.0 - 1e-12))
    low, middle, high = np.quantile(z, (0.25, 0.5, 0.75)).tolist()
    shift = max(0.0, middle)
    scale = max(1.0, min(middle - low, high - middle) / _QUARTILE)
    softer = np.full_like(p, np.nan)
    softer[tested] = normal_tail((z - shift) / scale)
    return softer, shift, scale
