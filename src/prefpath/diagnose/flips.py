"""Compiled flips: the sum of an annotator's residuals with the sides of votes swapped at random."""

from __future__ import annotations

import numpy as np
from numba import njit

from prefpath.diagnose.resample import (
    AS_LARGE,
    CLEAR_AFTER,
    DRAWN,
    NEARLY,
    OBSERVED,
    SMALLEST,
    VARIANCE,
    NullModel,
)
from prefpath.diagnose.streams import GOLDEN, State, draw_binomial, start_stream, uniform_at
from prefpath.model.design import Design, Floats, Ints

_SHARED_BY = 15.0  # residuals of equal size that make a sum as good as normal


@njit(cache=True, nogil=True, error_model="numpy")
def _flip_sum(u: int, design: Design, null: NullModel, state: State) -> float:
    """Sum of u's residuals after every vote's two sides were swapped, or not, at even odds."""
    total, place = 0.0, state[0]
    for c in range(design.cells[u], design.cells[u + 1]):
        if design.position[c] == 0:
            continue
        won, p = null.wins[c], null.p[c]
        lost = null.trials[c] - won
        if won + lost == 1.0:
            place += GOLDEN
            residual = won - p
            total += residual if uniform_at(place) < 0.5 else -residual
            continue
        state[0] = place
        total += (2.0 * draw_binomial(state, won, 0.5) - won) * (1.0 - p)
        total -= (2.0 * draw_binomial(state, lost, 0.5) - lost) * p
        place = state[0]
    state[0] = place
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def flip_shard(
    who: Ints,
    design: Design,
    null: NullModel,
    seed: np.uint64,
    n_draws: int,
    enough: int,
    report: Floats,
) -> None:
    """How far each annotator's votes lean, and how far they do with sides swapped at random.

    Swapping the sides of a vote turns its residual's sign and nothing else. Where sides were
    assigned at random this holds whatever the annotator's taste. `VARIANCE` is exact: the sum
    of squared residuals. Where many residuals share in it, the sum is as good as normal and
    nothing is drawn.
    """
    state = np.zeros(1, dtype=np.uint64)
    for u in who:
        observed, squares, fourths, smallest = 0.0, 0.0, 0.0, 1.0
        for c in range(design.cells[u], design.cells[u + 1]):
            if design.position[c]:
                won, p = null.wins[c], null.p[c]
                lost = null.trials[c] - won
                above, below = (1.0 - p) * (1.0 - p), p * p
                observed += won - null.trials[c] * p
                squares += won * above + lost * below
                fourths += won * above * above + lost * below * below
                smallest = min(smallest, 1.0 - p if won > 0.0 else 1.0)
                smallest = min(smallest, p if lost > 0.0 else 1.0)
        start_stream(state, seed, u)
        drawn, as_large = 0, 0
        needed = n_draws if squares * squares < _SHARED_BY * fourths else 0
        while drawn < needed and as_large < enough:
            if drawn == CLEAR_AFTER and as_large == 0:
                break
            drawn += 1
            if abs(_flip_sum(u, design, null, state)) >= abs(observed) * NEARLY:
                as_large += 1
        row = report[u]
        row[OBSERVED], row[DRAWN], row[AS_LARGE] = observed, drawn, as_large
        row[VARIANCE], row[SMALLEST] = squares, smallest
