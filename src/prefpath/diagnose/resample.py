"""Compiled resampling: an annotator's own comparisons, decided again under a null model.

Every annotator has a random stream of their own (splitmix64, seeded by seed and annotator), so
results depend on the seed alone, not on threads or shards.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from prefpath.model.design import Design, Floats, Ints

State = NDArray[np.uint64]


class NullModel(NamedTuple):
    """What happened in each cell, and what a null model expects there.

    `slope` is the derivative of the probability `p` in the margin; `score_error` the standard
    error of each item's common score.
    """

    trials: Floats
    wins: Floats
    p: Floats
    slope: Floats
    score_error: Floats


# Columns of what the kernels report.
OBSERVED, DRAWN, AS_LARGE, VARIANCE, SMALLEST, TENTH, EXCESS = range(7)
N_REPORTED = 7

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_NORMAL_FROM = 100.0  # variance above which a binomial is drawn as a rounded normal
_SHARED_BY = 15.0  # residuals of equal size that make a sum as good as normal
_CLEAR_AFTER, _CLEAR_BY = 200, 15.0  # draws, and standard deviations from their mean
_NEARLY = 1.0 - 1e-9  # equal up to rounding counts as "as large"


@njit(cache=True, nogil=True)
def next_word(state: State) -> np.uint64:
    """64 random bits (splitmix64)."""
    state[0] += _GOLDEN
    word = state[0]
    word = (word ^ (word >> _S30)) * _MIX_1
    word = (word ^ (word >> _S27)) * _MIX_2
    return word ^ (word >> _S31)


@njit(cache=True, nogil=True)
def start_stream(state: State, seed: np.uint64, u: int) -> None:
    """The stream of annotator u: the two numbers mixed, so that streams lie far apart."""
    state[0] = seed
    state[0] = next_word(state) ^ (np.uint64(u + 1) * _MIX_2)
    state[0] = next_word(state)


@njit(cache=True, nogil=True)
def draw_uniform(state: State) -> float:
    """Uniform on [0, 1)."""
    return float(next_word(state) >> _S11) * 1.1102230246251565e-16


@njit(cache=True, nogil=True)
def draw_normal(state: State) -> float:
    """Standard normal (Box and Muller)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - draw_uniform(state)))
    return radius * math.cos(2.0 * math.pi * draw_uniform(state))


@njit(cache=True, nogil=True)
def draw_binomial(state: State, trials: float, p: float) -> float:
    """Wins in some trials."""
    variance = trials * p * (1.0 - p)
    if variance > _NORMAL_FROM:
        wins = np.rint(trials * p + math.sqrt(variance) * draw_normal(state))
        return min(max(wins, 0.0), trials)
    wins = 0.0
    for _ in range(int(trials)):
        if draw_uniform(state) < p:
            wins += 1.0
    return wins


@njit(cache=True, nogil=True, error_model="numpy")
def _taste_size(
    u: int, design: Design, residual: Floats, lean_pull: Floats, lean_bend: float, pull: Floats
) -> float:
    """Squared norm of the score in u's deviation, the part a lean explains taken out."""
    first, last = design.cells[u], design.cells[u + 1]
    start, k = design.seen[u], design.seen[u + 1] - design.seen[u]
    pull[:k] = 0.0
    sideways = 0.0
    for c in range(first, last):
        r = residual[c - first]
        pull[design.left_at[c]] += r
        pull[design.right_at[c]] -= r
        sideways += design.position[c] * r
    if lean_bend > 0.0:
        for j in range(k):
            pull[j] -= sideways / lean_bend * lean_pull[j]
    size = 0.0
    if design.features.shape[0] == 0:
        for j in range(k):
            size += pull[j] * pull[j]
        return size
    for d in range(design.features.shape[1]):
        entry = 0.0
        for j in range(k):
            entry += design.features[design.seen_item[start + j], d] * pull[j]
        size += entry * entry
    return size


@njit(cache=True, nogil=True, error_model="numpy")
def _decide_again(
    u: int,
    design: Design,
    null: NullModel,
    shaken: bool,
    state: State,
    shift: Floats,
    residual: Floats,
) -> None:
    """Residuals of choices drawn from the null model.

    The common scores carry an error that is independent of the votes of someone outside their
    fit: `shaken`, each draw moves the scores by it. (Inside the fit the error makes residuals
    smaller, and leaving it out is on the safe side.)
    """
    first, start = design.cells[u], design.seen[u]
    if shaken:
        for j in range(design.seen[u + 1] - start):
            shift[j] = null.score_error[design.seen_item[start + j]] * draw_normal(state)
    for c in range(first, design.cells[u + 1]):
        trials = null.trials[c]
        r = draw_binomial(state, trials, null.p[c]) - trials * null.p[c]
        if shaken:
            apart = shift[design.left_at[c]] - shift[design.right_at[c]]
            r -= trials * null.slope[c] * apart
        residual[c - first] = r


@njit(cache=True, nogil=True, error_model="numpy")
def _lean_direction(u: int, design: Design, null: NullModel, out: Floats) -> float:
    """What a unit of lean does to the score in u's deviation (into `out`) and in u's lean."""
    out[: design.seen[u + 1] - design.seen[u]] = 0.0
    bend = 0.0
    for c in range(design.cells[u], design.cells[u + 1]):
        pressure = design.position[c] * null.trials[c] * null.slope[c]
        out[design.left_at[c]] += pressure
        out[design.right_at[c]] -= pressure
        bend += pressure
    return bend


@njit(cache=True, nogil=True, error_model="numpy")
def _error_matters(u: int, design: Design, null: NullModel, bend: Floats) -> bool:
    """Whether errors of the common scores add more than a hundredth to u's deviation score."""
    start, k = design.seen[u], design.seen[u + 1] - design.seen[u]
    bend[:k] = 0.0
    for c in range(design.cells[u], design.cells[u + 1]):
        bend[design.left_at[c]] += null.trials[c] * null.slope[c]
        bend[design.right_at[c]] += null.trials[c] * null.slope[c]
    own, added = 0.0, 0.0
    for j in range(k):
        own += bend[j]
        added += (bend[j] * null.score_error[design.seen_item[start + j]]) ** 2
    return added > 0.01 * own


@njit(cache=True, nogil=True, error_model="numpy")
def _is_clear(observed: float, drawn: Floats, as_large: int) -> bool:
    """Nothing drawn came near the observed value: more draws would change nothing."""
    if len(drawn) != _CLEAR_AFTER or as_large > 0:
        return False
    return observed - drawn.mean() > _CLEAR_BY * drawn.std()


@njit(cache=True, nogil=True, error_model="numpy")
def _largest_tenth(drawn: Floats, row: Floats) -> None:
    """Where the largest tenth of the draws begins, and by how much it exceeds that on average."""
    order = np.sort(drawn)
    tenth = len(order) // 10
    if tenth == 0:
        return
    begin = order[len(order) - tenth - 1]
    row[TENTH], row[EXCESS] = begin, order[len(order) - tenth :].mean() - begin


@njit(cache=True, nogil=True, error_model="numpy")
def taste_shard(
    who: Ints,
    design: Design,
    null: NullModel,
    outside: NDArray[np.bool_],
    seed: np.uint64,
    n_draws: int,
    enough: int,
    report: Floats,
) -> None:
    """How large each annotator's deviation score is, and how large the null model makes it.

    Draws stop early once `enough` of them are as large as the observed one (Besag and
    Clifford's sequential test): those who fit the null model cost few draws.
    """
    widest_view, most_cells = 1, 1
    for u in who:
        widest_view = max(widest_view, design.seen[u + 1] - design.seen[u])
        most_cells = max(most_cells, design.cells[u + 1] - design.cells[u])
    lean_pull, pull = np.zeros(widest_view), np.zeros(widest_view)
    shift, residual = np.zeros(widest_view), np.zeros(most_cells)
    state, draws = np.zeros(1, dtype=np.uint64), np.zeros(n_draws)
    for u in who:
        first, last = design.cells[u], design.cells[u + 1]
        bend = _lean_direction(u, design, null, lean_pull)
        for c in range(first, last):
            residual[c - first] = null.wins[c] - null.trials[c] * null.p[c]
        observed = _taste_size(u, design, residual, lean_pull, bend, pull)
        shaken = outside[u] and _error_matters(u, design, null, shift)
        start_stream(state, seed, u)
        drawn, as_large = 0, 0
        while drawn < n_draws and as_large < enough:
            _decide_again(u, design, null, shaken, state, shift, residual)
            size = _taste_size(u, design, residual, lean_pull, bend, pull)
            draws[drawn] = size
            drawn += 1
            if size >= observed * _NEARLY:
                as_large += 1
            if _is_clear(observed, draws[:drawn], as_large):
                break
        row = report[u]
        row[OBSERVED], row[DRAWN], row[AS_LARGE] = observed, drawn, as_large
        if as_large < enough:
            _largest_tenth(draws[:drawn], row)


@njit(cache=True, nogil=True, error_model="numpy")
def _flip_sum(u: int, design: Design, null: NullModel, state: State) -> float:
    """Sum of u's residuals after every vote's two sides were swapped, or not, at even odds."""
    total = 0.0
    for c in range(design.cells[u], design.cells[u + 1]):
        if design.position[c] == 0:
            continue
        won, p = null.wins[c], null.p[c]
        lost = null.trials[c] - won
        total += (2.0 * draw_binomial(state, won, 0.5) - won) * (1.0 - p)
        total -= (2.0 * draw_binomial(state, lost, 0.5) - lost) * p
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
                observed += won - null.trials[c] * p
                squares += won * (1.0 - p) ** 2 + lost * p**2
                fourths += won * (1.0 - p) ** 4 + lost * p**4
                smallest = min(smallest, 1.0 - p if won > 0.0 else 1.0)
                smallest = min(smallest, p if lost > 0.0 else 1.0)
        start_stream(state, seed, u)
        drawn, as_large = 0, 0
        needed = n_draws if squares * squares < _SHARED_BY * fourths else 0
        while drawn < needed and as_large < enough:
            if drawn == _CLEAR_AFTER and as_large == 0:
                break
            drawn += 1
            if abs(_flip_sum(u, design, null, state)) >= abs(observed) * _NEARLY:
                as_large += 1
        row = report[u]
        row[OBSERVED], row[DRAWN], row[AS_LARGE] = observed, drawn, as_large
        row[VARIANCE], row[SMALLEST] = squares, smallest
