"""Compiled resampling: an annotator's own comparisons, decided again under a null model."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from prefpath.diagnose.streams import (
    GOLDEN,
    State,
    draw_binomial,
    draw_normal,
    start_stream,
    uniform_at,
)
from prefpath.model.design import Design, Floats, Ints, Places


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


class _Bench(NamedTuple):
    """Working space for one annotator at a time, a place for each item seen.

    The score in the deviation, `sum r (e_left - e_right)` over votes with residual r, is the
    `pull`: comparisons won less comparisons `expected` to be won. `lean_pull` is what a unit of
    lean does to it, `shift` an error of the common scores.
    """

    expected: Floats
    lean_pull: Floats
    pull: Floats
    shift: Floats


# Columns of what the kernels report.
OBSERVED, DRAWN, AS_LARGE, VARIANCE, SMALLEST, TENTH, EXCESS = range(7)
N_REPORTED = 7

NEARLY = 1.0 - 1e-9  # equal up to rounding counts as "as large"
CLEAR_AFTER = 200
_CLEAR_BY = 15.0  # standard deviations from the mean of the draws


@njit(cache=True, nogil=True, error_model="numpy")
def _expect(u: int, design: Design, null: NullModel, bench: _Bench) -> tuple[float, float]:
    """Fill in what the null model expects of u.

    Returns the left wins it expects where sides matter, and the curvature in u's lean.
    """
    k = design.seen[u + 1] - design.seen[u]
    bench.expected[:k] = 0.0
    bench.lean_pull[:k] = 0.0
    to_the_left, bend = 0.0, 0.0
    for c in range(design.cells[u], design.cells[u + 1]):
        left, right = design.left_at[c], design.right_at[c]
        wins = null.trials[c] * null.p[c]
        bench.expected[left] += wins
        bench.expected[right] += null.trials[c] - wins
        pressure = design.position[c] * null.trials[c] * null.slope[c]
        bench.lean_pull[left] += pressure
        bench.lean_pull[right] -= pressure
        to_the_left += design.position[c] * wins
        bend += pressure
    return to_the_left, bend


@njit(cache=True, nogil=True, error_model="numpy")
def _decide_as_observed(u: int, design: Design, null: NullModel, bench: _Bench) -> float:
    """The pull of the wins that happened; returns the left wins where sides matter."""
    k = design.seen[u + 1] - design.seen[u]
    bench.pull[:k] = -bench.expected[:k]
    to_the_left = 0.0
    for c in range(design.cells[u], design.cells[u + 1]):
        bench.pull[design.left_at[c]] += null.wins[c]
        bench.pull[design.right_at[c]] += null.trials[c] - null.wins[c]
        to_the_left += design.position[c] * null.wins[c]
    return to_the_left


@njit(cache=True, nogil=True, error_model="numpy")
def _decide_again(
    left_at: Places,
    right_at: Places,
    position: NDArray[np.int8],
    trials: Floats,
    p: Floats,
    state: State,
    pull: Floats,
) -> float:
    """Add wins drawn from the null model to the pull; returns left wins where sides matter.

    Nearly all the time of the tests is spent here. A single vote adds 1 to whoever won it,
    without a branch, as nobody can predict one. Plain arrays, not tuples of them: the compiler
    would count references to a tuple's arrays at every cell.
    """
    to_the_left, place = 0.0, state[0]
    for c in range(len(p)):
        if trials[c] == 1.0:
            place += GOLDEN
            won = np.uint32(uniform_at(place) < p[c])
            pull[right_at[c] + (left_at[c] - right_at[c]) * won] += 1.0
            to_the_left += position[c] * won
            continue
        state[0] = place
        wins = draw_binomial(state, trials[c], p[c])
        place = state[0]
        pull[left_at[c]] += wins
        pull[right_at[c]] += trials[c] - wins
        to_the_left += position[c] * wins
    state[0] = place
    return to_the_left


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_shift(u: int, design: Design, null: NullModel, state: State, bench: _Bench) -> None:
    """An error for the common score of each item seen."""
    start = design.seen[u]
    for j in range(design.seen[u + 1] - start):
        bench.shift[j] = null.score_error[design.seen_item[start + j]] * draw_normal(state)


@njit(cache=True, nogil=True, error_model="numpy")
def _apply_shift(u: int, design: Design, null: NullModel, bench: _Bench) -> float:
    """Let the errors of the common scores pull; returns what they do to the left wins."""
    to_the_left = 0.0
    for c in range(design.cells[u], design.cells[u + 1]):
        left, right = design.left_at[c], design.right_at[c]
        r = null.trials[c] * null.slope[c] * (bench.shift[right] - bench.shift[left])
        bench.pull[left] += r
        bench.pull[right] -= r
        to_the_left += design.position[c] * r
    return to_the_left


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _squared_norm(pull: Floats, lean_pull: Floats, lean: float) -> float:
    """Squared norm of what is left of the pull beside a lean; added up in any order."""
    size = 0.0
    for j in range(len(pull)):
        rest = pull[j] - lean * lean_pull[j]
        size += rest * rest
    return size


@njit(cache=True, nogil=True, error_model="numpy")
def _size(u: int, design: Design, bench: _Bench, sideways: float, bend: float) -> float:
    """Squared norm of the score in u's deviation, the part a lean explains taken out."""
    start, k = design.seen[u], design.seen[u + 1] - design.seen[u]
    lean = sideways / bend if bend > 0.0 else 0.0
    if design.features.shape[0] == 0:
        return _squared_norm(bench.pull[:k], bench.lean_pull[:k], lean)
    size = 0.0
    for d in range(design.features.shape[1]):
        entry = 0.0
        for j in range(k):
            rest = bench.pull[j] - lean * bench.lean_pull[j]
            entry += design.features[design.seen_item[start + j], d] * rest
        size += entry * entry
    return size


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
    if len(drawn) != CLEAR_AFTER or as_large > 0:
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
def _most_seen(who: Ints, design: Design) -> int:
    most = 1
    for u in who:
        most = max(most, design.seen[u + 1] - design.seen[u])
    return most


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

    The common scores carry an error that is independent of the votes of someone outside their
    fit: each of their draws moves the scores by it. (Inside the fit the error makes residuals
    smaller, and leaving it out is on the safe side.)
    """
    places = _most_seen(who, design)
    bench = _Bench(np.zeros(places), np.zeros(places), np.zeros(places), np.zeros(places))
    state, draws = np.zeros(1, dtype=np.uint64), np.zeros(n_draws)
    for u in who:
        to_the_left, bend = _expect(u, design, null, bench)
        sideways = _decide_as_observed(u, design, null, bench) - to_the_left
        observed = _size(u, design, bench, sideways, bend)
        first, last, k = design.cells[u], design.cells[u + 1], design.seen[u + 1] - design.seen[u]
        left, right = design.left_at[first:last], design.right_at[first:last]
        position = design.position[first:last]
        trials, p = null.trials[first:last], null.p[first:last]
        pull, expected = bench.pull[:k], bench.expected[:k]
        shaken = outside[u] and _error_matters(u, design, null, bench.shift)
        start_stream(state, seed, u)
        drawn, as_large = 0, 0
        while drawn < n_draws and as_large < enough:
            if shaken:
                _draw_shift(u, design, null, state, bench)
            np.negative(expected, pull)
            sideways = _decide_again(left, right, position, trials, p, state, pull) - to_the_left
            if shaken:
                sideways += _apply_shift(u, design, null, bench)
            draws[drawn] = _size(u, design, bench, sideways, bend)
            as_large += draws[drawn] >= observed * NEARLY
            drawn += 1
            if _is_clear(observed, draws[:drawn], as_large):
                break
        row = report[u]
        row[OBSERVED], row[DRAWN], row[AS_LARGE] = observed, drawn, as_large
        if as_large < enough:
            _largest_tenth(draws[:drawn], row)


@njit(cache=True, nogil=True, error_model="numpy")
def log_chance_shard(who: Ints, design: Design, null: NullModel, out: Floats) -> None:
    """Log-probability of exactly the votes of each annotator."""
    for u in who:
        total = 0.0
        for c in range(design.cells[u], design.cells[u + 1]):
            n, won, p = null.trials[c], null.wins[c], null.p[c]
            if n > 1.0:
                ways = math.lgamma(won + 1.0) + math.lgamma(n - won + 1.0)
                total += math.lgamma(n + 1.0) - ways
            if won > 0.0:
                total += won * math.log(p)
            if won < n:
                total += (n - won) * math.log(1.0 - p)
        out[u] = total
