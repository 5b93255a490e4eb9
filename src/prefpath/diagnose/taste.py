"""Compiled test of a taste: an annotator's own comparisons, decided again under a null model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefpath.compiling import inner_kernel, kernel
from prefpath.diagnose.canonical import DrawOrder
from prefpath.diagnose.null_model import NullModel
from prefpath.diagnose.streams import (
    GOLDEN,
    State,
    draw_binomial,
    draw_normal,
    mixed,
    start_stream,
)
from prefpath.model.design import Design, Floats, Ints, Places
from prefpath.model.loops import mean, negate, sort


class Sequential(NamedTuple):
    """Besag and Clifford's sequential test: at most `n_draws`, until `enough` are as large.

    Half of them are enough if they come within a few draws: such a p-value names nobody.
    """

    seed: np.uint64
    n_draws: int
    enough: int


class _Workspace(NamedTuple):
    """For one annotator at a time; a place for each item seen, then one for each cell.

    `score` is the score in the deviation, `sum r (e_left - e_right)` over votes with residual r:
    comparisons won less comparisons `expected` to be won. `lean_score` is what a unit of lean
    does to it, `shift` an error of the common scores. Cells are kept in the order of draws, those
    of one vote first, seen from the item that comes first there: `side` is 1 or -1 where the
    first is on the left or right and sides matter, else 0; `below` is the probability that it
    wins, in units of 2^-32.
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
    below: NDArray[np.uint64]


# Columns of what the kernel reports.
OBSERVED, DRAWN, AS_LARGE, TENTH, EXCESS = range(5)
N_REPORTED = 5

_LOW_BITS, _S32 = np.uint64(0xFFFFFFFF), np.uint64(32)
NEARLY = 1.0 - 1e-9  # equal up to rounding counts as "as large"
NOTHING = 1e-18  # votes squared: what rounding leaves where a lean explains everything
CLEAR_AFTER = 200
SOON = 0.2  # p-value from which half of `enough` will do
CLEAR_BY = 15.0  # standard deviations from the mean of the draws


@inner_kernel()
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


@inner_kernel()
def _score_of_votes(u: int, design: Design, null: NullModel, work: _Workspace) -> float:
    """The score of the wins that happened; returns the left wins where sides matter."""
    k = design.seen[u + 1] - design.seen[u]
    negate(work.expected[:k], work.score)
    left_wins = 0.0
    for c in range(design.cells[u], design.cells[u + 1]):
        work.score[design.left_at[c]] += null.wins[c]
        work.score[design.right_at[c]] += null.trials[c] - null.wins[c]
        left_wins += design.position[c] * null.wins[c]
    return left_wins


@inner_kernel()
def _put_in_order(
    u: int, design: Design, null: NullModel, order: DrawOrder, work: _Workspace
) -> tuple[int, float]:
    """Copy u's cells in the order of draws, single votes first.

    Returns how many are single, and left wins if every first item lost.
    """
    start, end = design.cells[u], design.cells[u + 1]
    k, n_single, base = 0, 0, 0.0
    for single in (True, False):
        for at in range(start, end):
            c = order.cell[at]
            if (null.trials[c] == 1.0) != single:
                continue
            turned = order.turned[c]
            left, right = design.left_at[c], design.right_at[c]
            work.first_at[k] = right if turned else left
            work.second_at[k] = left if turned else right
            work.side[k] = -design.position[c] if turned else design.position[c]
            work.trials[k] = null.trials[c]
            work.p[k] = 1.0 - null.p[c] if turned else null.p[c]
            work.below[k] = np.uint64(work.p[k] * 4294967296.0)
            base += turned * design.position[c] * null.trials[c]
            k += 1
        if single:
            n_single = k
    return n_single, base


@inner_kernel()
def _draw_single_votes(
    first_at: Places,
    second_at: Places,
    side: NDArray[np.int8],
    below: NDArray[np.uint64],
    state: State,
    score: Floats,
) -> int:
    """Add votes drawn from the null model to the score; returns left wins beyond the base.

    Nearly all the time of the tests is spent here. 64 random bits are two votes, and a vote adds
    1 to whoever won it, without a branch, as nobody can predict one. Plain arrays, not tuples of
    them: the compiler would count references to a tuple's arrays at every cell.
    """
    left_wins, place, n = 0, state[0], len(below)
    for c in range(0, n - 1, 2):
        place += GOLDEN
        word = mixed(place)
        won = np.uint32((word & _LOW_BITS) < below[c])
        score[second_at[c] + (first_at[c] - second_at[c]) * won] += 1.0
        left_wins += side[c] * np.int64(won)
        won = np.uint32((word >> _S32) < below[c + 1])
        score[second_at[c + 1] + (first_at[c + 1] - second_at[c + 1]) * won] += 1.0
        left_wins += side[c + 1] * np.int64(won)
    if n % 2:
        place += GOLDEN
        won = np.uint32((mixed(place) & _LOW_BITS) < below[n - 1])
        score[second_at[n - 1] + (first_at[n - 1] - second_at[n - 1]) * won] += 1.0
        left_wins += side[n - 1] * np.int64(won)
    state[0] = place
    return left_wins


@inner_kernel()
def _draw_repeated_votes(
    first: int, last: int, work: _Workspace, state: State, score: Floats
) -> float:
    """The same for cells of several votes."""
    left_wins = 0.0
    for c in range(first, last):
        wins = draw_binomial(state, work.trials[c], work.p[c])
        score[work.first_at[c]] += wins
        score[work.second_at[c]] += work.trials[c] - wins
        left_wins += work.side[c] * wins
    return left_wins


@inner_kernel()
def _draw_shift(u: int, design: Design, null: NullModel, state: State, work: _Workspace) -> None:
    """An error for the common score of each item seen, in the order in which cells are drawn."""
    start, k = design.seen[u], design.seen[u + 1] - design.seen[u]
    work.shift[:k] = np.inf
    for c in range(design.cells[u + 1] - design.cells[u]):
        for j in (work.first_at[c], work.second_at[c]):
            if work.shift[j] == np.inf:
                error = null.score_error[design.seen_item[start + j]]
                work.shift[j] = error * draw_normal(state)


@inner_kernel()
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


@inner_kernel(fastmath={"reassoc", "contract"})
def _squared_norm(score: Floats, lean_score: Floats, lean: float) -> float:
    """Squared norm of what is left of the score beside a lean; added up in any order."""
    size = 0.0
    for j in range(len(score)):
        rest = score[j] - lean * lean_score[j]
        size += rest * rest
    return size


@inner_kernel()
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


@inner_kernel()
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


@inner_kernel()
def _is_clear(observed: float, drawn: Floats, as_large: int) -> bool:
    """Nothing drawn came near the observed value: more draws would change nothing."""
    if len(drawn) != CLEAR_AFTER or as_large > 0:
        return False
    centre, square = mean(drawn), 0.0
    for value in drawn:
        square += (value - centre) ** 2
    return observed - centre > CLEAR_BY * np.sqrt(square / len(drawn))


@inner_kernel()
def _largest_tenth(drawn: Floats, row: Floats) -> None:
    """Where the largest tenth of the draws begins, and by how much it exceeds that on average."""
    tenth = len(drawn) // 10
    if tenth == 0:
        return
    sort(drawn)
    begin = drawn[len(drawn) - tenth - 1]
    row[TENTH], row[EXCESS] = begin, mean(drawn[len(drawn) - tenth :]) - begin


@inner_kernel()
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
        np.zeros(cells, dtype=np.uint64),
    )


@kernel()
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
        single, base = _put_in_order(u, design, null, order, work)
        left_wins -= base
        n, k = design.cells[u + 1] - design.cells[u], design.seen[u + 1] - design.seen[u]
        first_at, second_at = work.first_at[:single], work.second_at[:single]
        side, below = work.side[:single], work.below[:single]
        score, expected = work.score[:k], work.expected[:k]
        start_stream(state, how.seed, order.word[u])
        drawn, as_large = 0, 0
        while drawn < how.n_draws and as_large < how.enough:
            if 2 * as_large >= how.enough and as_large >= SOON * drawn:
                break
            if moved:
                _draw_shift(u, design, null, state, work)
            negate(expected, score)
            position_score = -left_wins + _draw_single_votes(
                first_at, second_at, side, below, state, score
            )
            position_score += _draw_repeated_votes(single, n, work, state, score)
            if moved:
                position_score += _apply_shift(u, design, null, work)
            draws[drawn] = _size(u, design, work, position_score, information)
            as_large += draws[drawn] >= observed * NEARLY - NOTHING
            drawn += 1
            if _is_clear(observed, draws[:drawn], as_large):
                break
        row = report[u]
        row[OBSERVED], row[DRAWN], row[AS_LARGE] = observed, drawn, as_large
        if 2 * as_large < how.enough or drawn == how.n_draws:
            _largest_tenth(draws[:drawn], row)
