"""Compiled test of a taste: an annotator's own comparisons, decided again under a null model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefpath.compiling import inner_kernel, kernel
from prefpath.diagnose.canonical import DrawOrder
from prefpath.diagnose.null_model import NullModel
from prefpath.diagnose.streams import start_stream
from prefpath.diagnose.taste_draws import AT_ONCE, draw_votes, make_drawing, put_in_order
from prefpath.model.design import Design, Floats, Ints
from prefpath.model.loops import mean, negate, sort


class Sequential(NamedTuple):
    """Besag and Clifford's sequential test: at most `n_draws`, until `enough` are as large.

    Half of them are enough if they come within a few draws: such a p-value names nobody.
    """

    seed: np.uint64
    n_draws: int
    enough: int


class _Workspace(NamedTuple):
    """For one annotator at a time, a place for each item seen.

    `score` is the score in the deviation, `sum r (e_left - e_right)` over votes with residual r:
    comparisons won less comparisons `expected` to be won. `lean_score` is what a unit of lean
    does to it.
    """

    expected: Floats
    lean_score: Floats
    score: Floats


# Columns of what the kernel reports.
OBSERVED, DRAWN, AS_LARGE, TENTH, EXCESS = range(5)
N_REPORTED = 5

NEARLY = 1.0 - 1e-9  # equal up to rounding counts as "as large"
NOTHING = 1e-18  # votes squared: what rounding leaves where a lean explains everything
CLEAR_AFTER = 200
SOON = 0.2  # p-value from which half of `enough` will do
CLEAR_BY = 15.0  # standard deviations from the mean of the draws


@inner_kernel(allocates=False)
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


@inner_kernel(allocates=False)
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


@inner_kernel(allocates=False, fastmath={"reassoc", "contract"})
def _squared_norm(score: Floats, lean_score: Floats, lean: float) -> float:
    """Squared norm of what is left of the score beside a lean; added up in any order."""
    size = 0.0
    for j in range(len(score)):
        rest = score[j] - lean * lean_score[j]
        size += rest * rest
    return size


@inner_kernel(allocates=False)
def _size(
    u: int,
    design: Design,
    work: _Workspace,
    score: Floats,
    position_score: float,
    information: float,
) -> float:
    """Squared norm of a score in u's deviation, the part a lean explains taken out."""
    start, k = design.seen[u], len(score)
    lean = position_score / information if information > 0.0 else 0.0
    if design.features.shape[0] == 0:
        return _squared_norm(score, work.lean_score[:k], lean)
    size = 0.0
    for d in range(design.features.shape[1]):
        entry = 0.0
        for j in range(k):
            rest = score[j] - lean * work.lean_score[j]
            entry += design.features[design.seen_item[start + j], d] * rest
        size += entry * entry
    return size


@inner_kernel(allocates=False)
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


@inner_kernel(allocates=False)
def _is_clear(observed: float, drawn: Floats, as_large: int) -> bool:
    """Nothing drawn came near the observed value: more draws would change nothing."""
    if len(drawn) != CLEAR_AFTER or as_large > 0:
        return False
    centre, square = mean(drawn), 0.0
    for value in drawn:
        square += (value - centre) ** 2
    return observed - centre > CLEAR_BY * np.sqrt(square / len(drawn))


@inner_kernel(allocates=False)
def _largest_tenth(drawn: Floats, row: Floats) -> None:
    """Where the largest tenth of the draws begins, and by how much it exceeds that on average."""
    tenth = len(drawn) // 10
    if tenth == 0:
        return
    sort(drawn)
    begin = drawn[len(drawn) - tenth - 1]
    row[TENTH], row[EXCESS] = begin, mean(drawn[len(drawn) - tenth :]) - begin


@inner_kernel(allocates=False)
def _is_enough(how: Sequential, observed: float, drawn: Floats, as_large: int) -> bool:
    """Whether these draws will do."""
    n = len(drawn)
    if n == how.n_draws or as_large >= how.enough:
        return True
    if 2 * as_large >= how.enough and as_large >= SOON * n:
        return True
    return _is_clear(observed, drawn, as_large)


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
    items, cells = 1, 1
    for u in who:
        items = max(items, design.seen[u + 1] - design.seen[u])
        cells = max(cells, design.cells[u + 1] - design.cells[u])
    drawing = make_drawing(items, cells)
    work = _Workspace(np.zeros(items), np.zeros(items), np.zeros(items))
    state, draws = np.zeros(1, dtype=np.uint64), np.zeros(how.n_draws)
    for u in who:
        k = design.seen[u + 1] - design.seen[u]
        left_wins, information = _expect(u, design, null, work)
        position_score = _score_of_votes(u, design, null, work) - left_wins
        observed = _size(u, design, work, work.score[:k], position_score, information)
        moved = outside[u] and _error_matters(u, design, null, work.score)
        asked, expected = put_in_order(u, design, null, order, moved, drawing), work.expected[:k]
        start_stream(state, how.seed, order.word[u])
        drawn, as_large, enough = 0, 0, False
        while not enough:
            draw_votes(u, design, null, expected, asked, state, drawing)
            for draw in range(AT_ONCE):
                position_score = drawing.left[draw] - left_wins
                score = drawing.score[draw, :k]
                draws[drawn] = _size(u, design, work, score, position_score, information)
                as_large += draws[drawn] >= observed * NEARLY - NOTHING
                drawn += 1
                enough = _is_enough(how, observed, draws[:drawn], as_large)
                if enough:
                    break
        row = report[u]
        row[OBSERVED], row[DRAWN], row[AS_LARGE] = observed, drawn, as_large
        if 2 * as_large < how.enough or drawn == how.n_draws:
            _largest_tenth(draws[:drawn], row)
