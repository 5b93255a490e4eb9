"""Compiled test of a lean: the sum of residuals with the sides of votes swapped at random."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from prefpath.compiling import inner_kernel, kernel
from prefpath.diagnose.exponentials import make_room
from prefpath.diagnose.tails import two_sided_p, upper_normal
from prefpath.model.design import Design, Floats, Ints

SHARED_BY = 15.0  # residuals of equal size that make the middle of a sum as good as normal
MIDDLE = 1.5  # in standard deviations


class SideModel(NamedTuple):
    """Votes of each cell, how many its left item won, and the probability of that.

    `swapped` is the probability that the same item wins on the right: `p`, unless all share a lean.
    """

    trials: Floats
    wins: Floats
    p: Floats
    swapped: Floats


class Residuals(NamedTuple):
    """Sums of terms with two values each: half their distance, votes, chance of the left one."""

    size: Floats
    votes: Floats
    left: Floats


@inner_kernel(allocates=False)
def _add_residual(
    votes: float, won: float, p: float, swapped: float, out: Residuals, at: int
) -> float:
    """Fill in the residual of votes that the left item won (1) or lost (0); their sum."""
    sign = 2.0 * won - 1.0
    here, there = 1.0 - won + sign * p, 1.0 - won + sign * swapped
    left = 0.5 if p == swapped else (here if won else there) / (here + there)
    size = 0.5 * (1.0 - here + 1.0 - there)
    out.size[at], out.votes[at], out.left[at] = size, votes, left
    return sign * votes * 2.0 * (won - sign * left) * size


@inner_kernel(allocates=False)
def _residuals(u: int, design: Design, model: SideModel, out: Residuals) -> tuple[int, float]:
    """Fill u's residuals where sides matter; how many there are, and their sum less its mean."""
    filled, observed = 0, 0.0
    for c in range(design.cells[u], design.cells[u + 1]):
        if design.position[c] == 0:
            continue
        won, p, swapped = model.wins[c], model.p[c], model.swapped[c]
        lost = model.trials[c] - won
        if won > 0.0 and lost > 0.0:
            observed += _add_residual(won, 1.0, p, swapped, out, filled)
            observed += _add_residual(lost, 0.0, p, swapped, out, filled + 1)
            filled += 2
        elif won + lost > 0.0:  # without a branch for who won, which nobody can predict
            observed += _add_residual(won + lost, 1.0 * (won > 0.0), p, swapped, out, filled)
            filled += 1
    return filled, observed


@kernel()
def lean_shard(who: Ints, design: Design, model: SideModel, out: Floats) -> None:
    """P-value of each annotator's sum of residuals.

    Given which item won, only its side is random. Without a lean that all share either side is as
    likely, and swapping the sides of a vote turns its residual's sign and nothing else: where sides
    were assigned at random this holds whatever the annotator's taste. With one, the winner stands
    on the side that all lean to more often, by as much as the common scores say.
    """
    most = 1
    for u in who:
        most = max(most, design.cells[u + 1] - design.cells[u])
    terms = Residuals(np.zeros(2 * most), np.zeros(2 * most), np.zeros(2 * most))
    room = make_room(2 * most)
    for u in who:
        n, observed = _residuals(u, design, model, terms)
        squares, fourths, smallest = 0.0, 0.0, 1.0
        for k in range(n):
            square = 4.0 * terms.left[k] * (1.0 - terms.left[k]) * terms.size[k] * terms.size[k]
            squares += terms.votes[k] * square
            fourths += terms.votes[k] * square * terms.size[k] * terms.size[k]
            smallest = min(smallest, terms.size[k])
        beyond = max(abs(observed) - smallest, 0.0)  # continuity: a side swapped moves it by two
        if squares * squares >= SHARED_BY * fourths and beyond <= MIDDLE * math.sqrt(squares):
            out[u] = min(1.0, 2.0 * upper_normal(beyond / math.sqrt(squares)))
        else:
            for k in range(n):
                terms.size[k] *= 2.0
            step, votes, left = terms.size[:n], terms.votes[:n], terms.left[:n]
            out[u] = two_sided_p(step, votes, left, 0.0, observed, room)
