"""Compiled test of a taste: an annotator's own comparisons, decided again under a null model."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from prefpath.diagnose.canonical import DrawOrder
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


class Sequential(NamedTuple):
    """Besag and Clifford's sequential test: at most `n_draws`, until `enough` are as large."""

    seed: np.uint64
    n_draws: int
    enough: int


class _Workspace(NamedTuple):
    """For one annotator at a time; a place for each item seen, then one for each cell.

    `score` is the score in the deviation, `sum r (e_left - e_right)` over votes with residual r:
    comparisons won less comparisons `expected` to be won. `lean_score` is what a unit of lean
    does to it, `shift` an error of the common scores. Cells are kept in the order of draws, seen
    from the item that comes first there: `side` is 1 or -1 where the first is on the left or
    right and sides matter, else 0.
    """

    expected: Floats
    lean_score: Floats
    score: Floats
    shift: Floats
    first_at: Places
    second_at: Places
    side: NDArray[np.int8]
    trials: Floats
    p: Floats


# Columns of what the kernel reports.
OBSERVED, DRAWN, AS_LARGE, TENTH, EXCESS = range(5)
N_REPORTED = 5

NEARLY = 1.0 - 1e-9  # equal up to rounding counts as "as large"
_CLEAR_AFTER = 200
_CLEAR_BY = 15.0  # standard deviations from the mean of the draws


@njit(cache=True, nogil=True, error_model="numpy")
def _expect(u: int, design: Design, null: NullModel, work: _Workspace) -> tuple[float, float]:
    """Fill in what the null model expects of u.

    Returns the left wins it expects where sides matter, and the information on u's lean.
    """
    k = design.seen[u + 1] - design.seen[u]
    work.expected[:k] = 0.0
    work.lean_score[:k] = 0.0
    left_wins, information = 0.0, 0.0
    for c in range(design.cells[u], design.cells[u + 1]):
        left, right = design.left_at[c], design.right_at[c]
        wins = null.trials[c] * null.p[c]
        work.expected[left] += wins
        work.expected[right] += null.trials[c] - wins
        weight = design.position[c] * null.trials[c] * null.slope[c]
        work.lean_score[left] += weight
        work.lean_score[right] -= weight
        left_wins += design.position[c] * wins
        information += weight
    return left_wins, information


@njit(cache=True, nogil=True, error_model="numpy")
def _score_of_votes(u: int, design: Design, null: NullModel, work: _Workspace) -> float:
    """The score of the wins that happened; returns the left wins where sides matter."""
    k = design.seen[u + 1] - design.seen[u]
    work.score[:k] = -work.expected[:k]
    left_wins = 0.0
    for c in range(design.cells[u], design.cells[u + 1]):
        work.score[design.left_at[c]] += null.wins[c]
        work.score[design.right_at[c]] += null.trials[c] - null.wins[c]
        left_wins += design.position[c] * null.wins[c]
    return left_wins


@njit(cache=True, nogil=True, error_model="numpy")
def _put_in_order(
    u: int, design: Design, null: NullModel, order: DrawOrder, work: _Workspace
) -> float:
    """Copy u's cells in the order of draws; returns left wins if every first item lost."""
    first, base = design.cells[u], 0.0
    for k in range(design.cells[u + 1] - first):
        c = order.cell[first + k]
        turned = order.turned[c]
        left, right = design.left_at[c], design.right_at[c]
        work.first_at[k] = right if turned else left
        work.second_at[k] = left if turned else right
        work.side[k] = -design.position[c] if turned else design.position[c]
        work.trials[k] = null.trials[c]
        work.p[k] = 1.0 - null.p[c] if turned else null.p[c]
        base += turned * design.position[c] * null.trials[c]
    return base


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_votes(
    first_at: Places,
    second_at: Places,
    side: NDArray[np.int8],
    trials: Floats,
    p: Floats,
    state: State,
    score: Floats,
) -> float:
    """Add wins drawn from the null model to the score; returns left wins beyond the base.

    Nearly all the time of the tests is spent here. A single vote adds 1 to whoever won it,
    without a branch, as nobody can predict one. Plain arrays, not tuples of them: the compiler
    would count references to a tuple's arrays at every cell.
    """
    left_wins, place = 0.0, state[0]
    for c in range(len(p)):
        if trials[c] == 1.0:
            place += GOLDEN
            won = np.uint32(uniform_at(place) < p[c])
            score[second_at[c] + (first_at[c] - second_at[c]) * won] += 1.0
            left_wins += side[c] * np.int64(won)
            continue
        state[0] = place
        wins = draw_binomial(state, trials[c], p[c])
        place = state[0]
        score[first_at[c]] += wins
        score[second_at[c]] += trials[c] - wins
        left_wins += side[c] * wins
    state[0] = place
    return left_wins


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_shift(u: int, design: Design, null: NullModel, state: State, work: _Workspace) -> None:
    """An error for the common score of each item seen, in the order in which cells are drawn."""
    start, k = design.seen[u], design.seen[u + 1] - design.seen[u]
    work.shift[:k] = np.inf
    for c in range(design.cells[u + 1] - design.cells[u]):
        for j in (work.first_at[c], work.second_at[c]):
            if work.shift[j] == np.inf:
                error = null.score_error[design.seen_item[start + j]]
                work.shift[j] = error * draw_normal(state)


@njit(cache=True, nogil=True, error_model="numpy")
def _apply_shift(u: int, design: Design, null: NullModel, work: _Workspace) -> float:
    """Add what errors of the common scores do to the score; returns it for the left wins."""
    left_wins = 0.0
    for c in range(design.cells[u], design.cells[u + 1]):
        left, right = design.left_at[c], design.right_at[c]
        r = null.trials[c] * null.slope[c] * (work.shift[right] - work.shift[left])
        work.score[left] += r
        work.score[right] -= r
        left_wins += design.position[c] * r
    return left_wins


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _squared_norm(score: Floats, lean_score: Floats, lean: float) -> float:
    """Squared norm of what is left of the score beside a lean; added up in any order."""
    size = 0.0
    for j in range(len(score)):
        rest = score[j] - lean * lean_score[j]
        size += rest * rest
    return size


@njit(cache=True, nogil=True, error_model="numpy")
def _size(
    u: int, design: Design, work: _Workspace, position_score: float, information: float
) -> float:
    """Squared norm of the score in u's deviation, the part a lean explains taken out."""
    start, k = design.seen[u], design.seen[u + 1] - design.seen[u]
    lean = position_score / information if information > 0.0 else 0.0
    if design.features.shape[0] == 0:
        return _squared_norm(work.score[:k], work.lean_score[:k], lean)
    size = 0.0
    for d in range(design.features.shape[1]):
        entry = 0.0
        for j in range(k):
            rest = work.score[j] - lean * work.lean_score[j]
            entry += design.features[design.seen_item[start + j], d] * rest
        size += entry * entry
    return size


@njit(cache=True, nogil=True, error_model="numpy")
def _error_matters(u: int, design: Design, null: NullModel, information: Floats) -> bool:
    """Whether errors of the common scores add more than a hundredth to u's deviation score."""
    start, k = design.seen[u], design.seen[u + 1] - design.seen[u]
    information[:k] = 0.0
    for c in range(design.cells[u], design.cells[u + 1]):
        information[design.left_at[c]] += null.trials[c] * null.slope[c]
        information[design.right_at[c]] += null.trials[c] * null.slope[c]
    own, added = 0.0, 0.0
    for j in range(k):
        own += information[j]
        added += (information[j] * null.score_error[design.seen_item[start + j]]) ** 2
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
def _make_workspace(who: Ints, design: Design) -> _Workspace:
    items, cells = 1, 1
    for u in who:
        items = max(items, design.seen[u + 1] - design.seen[u])
        cells = max(cells, design.cells[u + 1] - design.cells[u])
    return _Workspace(
        np.zeros(items),
        np.zeros(items),
        np.zeros(items),
        np.zeros(items),
        np.zeros(cells, dtype=np.uint32),
        np.zeros(cells, dtype=np.uint32),
        np.zeros(cells, dtype=np.int8),
        np.zeros(cells),
        np.zeros(cells),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def taste_shard(
    who: Ints,
    design: Design,
    null: NullModel,
    outside: NDArray[np.bool_],
    order: DrawOrder,
    how: Sequential,
    report: Floats,
) -> None:
    """How large each annotator's deviation score is, and how large the null model makes it.

    Draws stop early once `enough` of them are as large as the observed one: those who fit the
    null model cost few draws.

    The common scores carry an error that is independent of the votes of someone outside their
    fit: each of their draws moves the scores by it. (Inside the fit the error makes residuals
    smaller, and leaving it out is on the safe side.)
    """
    work = _make_workspace(who, design)
    state, draws = np.zeros(1, dtype=np.uint64), np.zeros(how.n_draws)
    for u in who:
        left_wins, information = _expect(u, design, null, work)
        position_score = _score_of_votes(u, design, null, work) - left_wins
        observed = _size(u, design, work, position_score, information)
        moved = outside[u] and _error_matters(u, design, null, work.shift)
        left_wins -= _put_in_order(u, design, null, order, work)
        n, k = design.cells[u + 1] - design.cells[u], design.seen[u + 1] - design.seen[u]
        first_at, second_at, side = work.first_at[:n], work.second_at[:n], work.side[:n]
        trials, p = work.trials[:n], work.p[:n]
        score, expected = work.score[:k], work.expected[:k]
        start_stream(state, how.seed, order.word[u])
        drawn, as_large = 0, 0
        while drawn < how.n_draws and as_large < how.enough:
            if moved:
                _draw_shift(u, design, null, state, work)
            np.negative(expected, score)
            position_score = _draw_votes(first_at, second_at, side, trials, p, state, score)
            position_score -= left_wins
            if moved:
                position_score += _apply_shift(u, design, null, work)
            draws[drawn] = _size(u, design, work, position_score, information)
            as_large += draws[drawn] >= observed * NEARLY
            drawn += 1
            if _is_clear(observed, draws[:drawn], as_large):
                break
        row = report[u]
        row[OBSERVED], row[DRAWN], row[AS_LARGE] = observed, drawn, as_large
        if as_large < how.enough:
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
