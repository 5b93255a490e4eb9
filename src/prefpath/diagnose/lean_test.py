"""Compiled test of a lean: the sum of residuals with the sides of votes swapped at random."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from prefpath.diagnose.tails import two_sided_p, upper_normal
from prefpath.model.design import Design, Floats, Ints

_SHARED_BY = 15.0  # residuals of equal size that make the middle of a sum as good as normal
_MIDDLE = 1.5  # in standard deviations


class SideModel(NamedTuple):
    """Votes of each cell, how many its left item won, and the probability of that."""

    trials: Floats
    wins: Floats
    p: Floats


@njit(cache=True, nogil=True, error_model="numpy")
def _residuals(
    u: int, design: Design, model: SideModel, size: Floats, votes: Floats
) -> tuple[int, float]:
    """Sizes of u's residuals where sides matter and votes that have each; how many, their sum."""
    filled, observed = 0, 0.0
    for c in range(design.cells[u], design.cells[u + 1]):
        if design.position[c] == 0:
            continue
        won, p = model.wins[c], model.p[c]
        lost = model.trials[c] - won
        observed += won - model.trials[c] * p
        if won > 0.0:
            size[filled], votes[filled] = 1.0 - p, won
            filled += 1
        if lost > 0.0:
            size[filled], votes[filled] = p, lost
            filled += 1
    return filled, observed


@njit(cache=True, nogil=True, error_model="numpy")
def lean_shard(who: Ints, design: Design, model: SideModel, out: Floats) -> None:
    """P-value of each annotator's sum of residuals.

    Swapping the sides of a vote turns its residual's sign and nothing else; where sides were
    assigned at random this holds whatever the annotator's taste. So the sum is one of
    independent terms of known size and random sign. (With a lean that everybody shares this is
    an approximation: a residual's size depends on the side.)
    """
    most = 1
    for u in who:
        most = max(most, design.cells[u + 1] - design.cells[u])
    size, votes, even = np.zeros(2 * most), np.zeros(2 * most), np.full(2 * most, 0.5)
    for u in who:
        n, observed = _residuals(u, design, model, size, votes)
        squares, fourths, smallest = 0.0, 0.0, 1.0
        for k in range(n):
            square = size[k] * size[k]
            squares += votes[k] * square
            fourths += votes[k] * square * square
            smallest = min(smallest, size[k])
        beyond = max(abs(observed) - smallest, 0.0)  # continuity: a sign turned moves it by two
        if squares * squares >= _SHARED_BY * fourths and beyond <= _MIDDLE * math.sqrt(squares):
            out[u] = min(1.0, 2.0 * upper_normal(beyond / math.sqrt(squares)))
        else:
            out[u] = two_sided_p(2.0 * size[:n], votes[:n], even[:n], 0.0, observed)
