"""Compiled draws of what slope and lean do not explain (`beyond`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefpath.compiling import inner_kernel, kernel
from prefpath.diagnose.attention_kernels import one_probability
from prefpath.diagnose.canonical import DrawOrder
from prefpath.diagnose.exponentials import Room, exponentials, make_room
from prefpath.diagnose.streams import State, draw_binomial, draw_normal, start_stream
from prefpath.diagnose.taste import NEARLY, NOTHING
from prefpath.model.design import Design, Floats, Ints

# Draws of an annotator: fewer where there are many comparisons, each of which tells more.
MOST_DRAWS, FEWEST_DRAWS, COMPARISONS_DRAWN = 400, 60, 200_000
ENOUGH = 12


class SlopeFit(NamedTuple):
    """Slope, lean, and whether the lean was fitted, of each annotator; what is known in common."""

    slope: Floats
    lean: Floats
    own_lean: NDArray[np.bool_]
    difference: Floats
    score_variance: Floats
    correlation: Floats
    spread: float
    probit: bool


class Decided(NamedTuple):
    trials: Floats
    wins: Floats


class _Work(NamedTuple):
    """For one annotator: votes expected and residuals of cells, errors and scores of items seen."""

    expected: Floats
    residual: Floats
    weight: Floats
    own: Floats
    score: Floats


@kernel()
def beyond_shard(
    who: Ints,
    design: Design,
    votes: Decided,
    fit: SlopeFit,
    drawing: tuple[DrawOrder, np.uint64, float],
    out: Floats,
) -> None:
    order, seed, per_coefficient = drawing
    cells, items = 1, 1
    for u in who:
        cells = max(cells, design.cells[u + 1] - design.cells[u])
        items = max(items, design.seen[u + 1] - design.seen[u])
    work = _Work(
        np.zeros(cells), np.zeros(cells), np.zeros(cells), np.zeros(items), np.zeros(items)
    )
    room = make_room(cells)
    state = np.zeros(1, dtype=np.uint64)
    for u in who:
        _fit_expected(u, design, votes, fit, work)
        for c in range(design.cells[u], design.cells[u + 1]):
            at = c - design.cells[u]
            work.residual[at] = votes.wins[c] - work.expected[at]
        observed = _size_beyond(u, design, fit, work)
        affordable = COMPARISONS_DRAWN // (design.cells[u + 1] - design.cells[u])
        most = min(max(affordable, FEWEST_DRAWS), MOST_DRAWS)
        for own_ranking in (False, True):
            start_stream(state, seed + np.uint64(own_ranking), order.word[u])
            drawn, as_far = 0, 0
            while drawn < most and as_far < ENOUGH:
                _draw_scores(u, design, fit, own_ranking, per_coefficient, order, state, work)
                _fill_probabilities(u, design, fit, own_ranking, order, work, room)
                _draw_residuals(u, design, votes, order, state, work, room)
                size = _size_beyond(u, design, fit, work)
                if own_ranking:
                    as_far += size <= observed / NEARLY + NOTHING
                else:
                    as_far += size >= observed * NEARLY - NOTHING
                drawn += 1
            stopped = as_far >= ENOUGH
            share = as_far / drawn if stopped else (1.0 + as_far) / (1.0 + drawn)
            out[u, 1 if own_ranking else 0] = share


@inner_kernel(allocates=False)
def _fit_expected(u: int, design: Design, votes: Decided, fit: SlopeFit, work: _Work) -> None:
    """Votes expected with slope and lean alone, and the weights of residuals there."""
    for c in range(design.cells[u], design.cells[u + 1]):
        at = c - design.cells[u]
        margin = fit.slope[u] * fit.difference[c] + design.position[c] * fit.lean[u]
        p, slope = one_probability(margin, fit.probit)
        work.expected[at], work.weight[at] = votes.trials[c] * p, votes.trials[c] * slope


@inner_kernel(allocates=False)
def _draw_scores(
    u: int,
    design: Design,
    fit: SlopeFit,
    own_ranking: bool,
    per_coefficient: float,
    order: DrawOrder,
    state: State,
    work: _Work,
) -> None:
    """What is added to the common scores of the items seen: a ranking of their own, or errors."""
    start, k = design.seen[u], design.seen[u + 1] - design.seen[u]
    n_features = design.features.shape[1]
    if own_ranking and n_features:
        work.own[:k] = 0.0
        for d in range(n_features):
            coefficient = per_coefficient * draw_normal(state)
            for j in range(k):
                work.own[j] += coefficient * design.features[design.seen_item[start + j], d]
        return
    work.own[:k] = np.inf
    first = design.cells[u]
    for at in range(design.cells[u + 1] - first):
        c = order.cell[first + at]
        left, right = design.left_at[c], design.right_at[c]
        for j in (right, left) if order.turned[c] else (left, right):
            if work.own[j] == np.inf:
                size = 1.0 if own_ranking else np.sqrt(fit.score_variance[start + j])
                work.own[j] = size * draw_normal(state)


@inner_kernel(allocates=False)
def _fill_probabilities(
    u: int,
    design: Design,
    fit: SlopeFit,
    own_ranking: bool,
    order: DrawOrder,
    work: _Work,
    room: Room,
) -> None:
    """Probability of left in each cell, in the order of draws, beside what was drawn of scores."""
    first, value = design.cells[u], room.value
    n = design.cells[u + 1] - first
    along = fit.correlation[u] if own_ranking else fit.slope[u]
    across = fit.spread * np.sqrt(max(1.0 - along * along, 0.0)) if own_ranking else fit.slope[u]
    for k in range(n):
        c = order.cell[first + k]
        apart = work.own[design.left_at[c]] - work.own[design.right_at[c]]
        margin = along * fit.difference[c] + across * apart + design.position[c] * fit.lean[u]
        value[k] = one_probability(margin, True)[0] if fit.probit else -margin
    if not fit.probit:
        exponentials(room, n)
        for k in range(n):
            value[k] = 1.0 / (1.0 + value[k])


@inner_kernel(allocates=False)
def _draw_residuals(
    u: int,
    design: Design,
    votes: Decided,
    order: DrawOrder,
    state: State,
    work: _Work,
    room: Room,
) -> None:
    """Votes drawn again, less what slope and lean expect of them."""
    first = design.cells[u]
    for k in range(design.cells[u + 1] - first):
        c, p = order.cell[first + k], room.value[k]
        if order.turned[c]:
            wins = votes.trials[c] - draw_binomial(state, votes.trials[c], 1.0 - p)
        else:
            wins = draw_binomial(state, votes.trials[c], p)
        work.residual[c - first] = wins - work.expected[c - first]


@inner_kernel(allocates=False)
def _size_beyond(u: int, design: Design, fit: SlopeFit, work: _Work) -> float:
    """Squared norm of the score in a deviation beside slope and lean (one step of each)."""
    start, k = design.seen[u], design.seen[u + 1] - design.seen[u]
    lean, slope = _step_of_slope_and_lean(u, design, fit, work)
    work.score[:k] = 0.0
    for c in range(design.cells[u], design.cells[u + 1]):
        at = c - design.cells[u]
        explained = lean * design.position[c] + slope * fit.difference[c]
        rest = work.residual[at] - work.weight[at] * explained
        work.score[design.left_at[c]] += rest
        work.score[design.right_at[c]] -= rest
    if design.features.shape[0] == 0:
        size = 0.0
        for j in range(k):
            size += work.score[j] * work.score[j]
        return size
    size = 0.0
    for d in range(design.features.shape[1]):
        entry = 0.0
        for j in range(k):
            entry += design.features[design.seen_item[start + j], d] * work.score[j]
        size += entry * entry
    return size


@inner_kernel(allocates=False)
def _step_of_slope_and_lean(
    u: int, design: Design, fit: SlopeFit, work: _Work
) -> tuple[float, float]:
    """One Newton step of lean (if it was fitted) and slope on the residuals."""
    a, b, aa, ab, bb = 0.0, 0.0, 0.0, 0.0, 0.0
    for c in range(design.cells[u], design.cells[u + 1]):
        at, d = c - design.cells[u], fit.difference[c]
        a += d * work.residual[at]
        aa += d * d * work.weight[at]
        if fit.own_lean[u] and design.position[c]:
            b += work.residual[at]
            bb += work.weight[at]
            ab += d * work.weight[at]
    shared = ab / bb if bb > 0.0 else 0.0
    information = aa - shared * ab
    slope = (a - shared * b) / information if information > 1e-9 * aa else 0.0
    lean = (b - ab * slope) / bb if bb > 0.0 else 0.0
    return lean, slope
