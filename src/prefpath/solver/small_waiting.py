"""Who waits, of a small problem, in NumPy: what `waiting` does one by one, for all at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prefpath.model.design import Floats, Ints
from prefpath.model.penalties import GROUP
from prefpath.model.problem import Problem
from prefpath.solver.arguments import DEVIATION, FIRST_SCALAR, Inputs, Personal, Terms
from prefpath.solver.interpolation import dual_norms
from prefpath.solver.small import Everybody, everybody
from prefpath.solver.waiting import QUADRATURE_TOLERANCE, GradientBounds, History, Waiting


def find_suspects(
    waiting: Waiting,
    history: History,
    terms: Terms,
    bounds: GradientBounds,
    time: float,
    drift: float,
    travel: float,
) -> Ints:
    """Waiting annotators who are not certain to be still waiting at `time`."""
    if not waiting.waits.any():
        return np.zeros(0, dtype=np.int64)
    passed = (time - history.time[waiting.since])[:, None]
    moved = np.stack((drift - waiting.drift, travel - waiting.travel), axis=1)
    turned = (waiting.turning * moved[:, None, :]).min(axis=2)
    to_go, reach = terms.threshold - waiting.norm, waiting.reach
    rate = np.divide(to_go, reach, out=np.zeros_like(reach), where=(reach > 0.0) & (reach < np.inf))
    grown = np.where(passed >= reach, np.inf, waiting.norm + rate * passed)
    looked_at = passed * bounds.curvature * turned + grown
    dormant = time * bounds.steepest * waiting.share[:, None]
    most = np.where(waiting.dormant[:, None] == 1, dormant, looked_at)
    may_enter = (most >= terms.threshold).any(axis=1)
    return np.flatnonzero(may_enter & (waiting.waits == 1))


class SmallRoom:
    """z of the waiting annotators of a small problem."""

    def __init__(self, problem: Problem, inputs: Inputs) -> None:
        self._loss, self._terms = problem.loss, inputs.terms
        self._penalty = problem.penalty.code
        self._blocks, self._n_cells = inputs.design.blocks, np.diff(inputs.design.cells)
        self._cells = everybody(inputs)
        self._n_scalars = problem.n_scalars
        self._owner = np.repeat(np.arange(len(self._n_cells)), np.diff(self._blocks))

    def refresh(
        self, who: Ints, waiting: Waiting, history: History, now: int, bounds: GradientBounds
    ) -> int:
        """Bring z of some waiting annotators up to history entry `now`; count the cells read."""
        late = who[waiting.since[who] < now]
        if not len(late):
            return 0
        first, cells_read = waiting.since.copy(), 0
        slope = Personal(np.zeros_like(waiting.z.block), np.zeros_like(waiting.z.scalar))
        going = late
        while len(going):
            last = first.copy()
            last[going] = _panel_ends(going, first[going], waiting, history, now, bounds)
            panel = self.panel_slopes(going, history, first, last)
            length = history.time[last] - history.time[first]
            waiting.z.block[:] += length[self._owner] * panel.block
            waiting.z.scalar[going] += length[going, None] * panel.scalar[going]
            waiting.drift[going] = history.drift[first[going]]
            waiting.travel[going] = history.travel[first[going]]
            points = 2 if _has_attention(history) else 1
            cells_read += points * int(self._n_cells[going].sum())
            changed = np.flatnonzero((last > first)[self._owner])
            slope.block[changed], slope.scalar[going] = panel.block[changed], panel.scalar[going]
            first = last
            going = going[first[going] < now]
        waiting.dormant[late], waiting.since[late] = 0, now
        self._note_reach(late, waiting, slope)
        return cells_read

    def panel_slopes(self, who: Ints, history: History, first: Ints, last: Ints) -> Personal:
        """z' of annotators in the mean between two history entries of each; 0 of all others."""
        asked = np.zeros(len(self._n_cells), dtype=bool)
        asked[who] = True
        cells = self._cells.of(np.flatnonzero(asked[self._cells.owner]))
        mean = _means(cells, history, first[cells.owner], last[cells.owner])
        if not _has_attention(history):
            return self._slopes_at(cells, mean)
        moved = _changes(cells, history.theta, first[cells.owner], last[cells.owner])
        shift = 0.5 / np.sqrt(3.0)
        parts = [
            self._slopes_at(cells, Apart(*(m + side * d for m, d in zip(mean, moved, strict=True))))
            for side in (-shift, shift)
        ]
        return Personal(*(0.5 * (a + b) for a, b in zip(*parts, strict=True)))

    def _slopes_at(self, cells: Everybody, at: Apart) -> Personal:
        """z' where votes have these differences of scores and position effects."""
        n, owner = len(self._n_cells), cells.owner
        margin = at.scores + cells.side * at.position
        pull = cells.weight * self._loss.gradient(margin, cells.choice) / -self._terms.total
        begin = self._blocks[owner]
        places = np.concatenate((begin + cells.left_at, begin + cells.right_at))
        pulls, n_places = np.concatenate((pull, -pull)), int(self._blocks[-1])
        block = np.bincount(places, weights=pulls, minlength=n_places).astype(float)
        scalars = [cells.side * pull, self._terms.attention_unit * pull * at.scores]
        columns = [np.bincount(owner, weights=each, minlength=n) for each in scalars]
        scalar = np.stack(columns[: self._n_scalars], axis=1)
        return Personal(block, scalar.astype(float))

    def slope_of(self, u: int, span: History) -> Floats:
        """z' of annotator u, as y holds it, in the mean over a history of two entries."""
        ends = np.zeros(len(self._n_cells), dtype=np.int64)
        slope = self.panel_slopes(np.array([u]), span, ends, ends + 1)
        return np.append(slope.block[self._blocks[u] : self._blocks[u + 1]], slope.scalar[u])

    def _note_reach(self, who: Ints, waiting: Waiting, slope: Personal) -> None:
        """Note how large z is and how long it would take to its threshold along its slope."""
        z, threshold = waiting.z, self._terms.threshold
        most, at = threshold[:, DEVIATION], self._blocks[:-1]
        # One entry more, since a last annotator without votes begins where the others end.
        block, change = np.append(z.block, 0.0), np.append(slope.block, 0.0)
        norm = dual_norms(self._penalty, block, at)
        if self._penalty == GROUP:
            a = np.add.reduceat(change * change, at)
            b = np.add.reduceat(block * change, at)
            reach = _times_to_leave(a, b, norm * norm - most * most)
        else:
            times = _times(z.block, slope.block, most[self._owner])
            reach = np.minimum.reduceat(np.append(times, np.inf), at)
        waiting.norm[who, DEVIATION], waiting.reach[who, DEVIATION] = norm[who], reach[who]
        waiting.norm[who, FIRST_SCALAR:] = np.abs(z.scalar[who])
        waiting.reach[who, FIRST_SCALAR:] = _times(
            z.scalar[who], slope.scalar[who], threshold[who, FIRST_SCALAR:]
        )


class Apart(NamedTuple):
    """Of every vote the difference of its items' scores, and the common position effect."""

    scores: Floats
    position: Floats


def _has_attention(history: History) -> bool:
    """Whether a panel has Gauss's two points (see `waiting._points`)."""
    return history.theta.shape[1] > 0


def _means(cells: Everybody, history: History, a: Ints, b: Ints) -> Apart:
    """In the mean between history entries a and b of each vote."""
    moved, length = _changes(cells, history.integral, a, b), history.time[b] - history.time[a]
    return Apart(moved.scores / length, moved.position / length)


def _changes(cells: Everybody, of: Floats, a: Ints, b: Ints) -> Apart:
    left, right = cells.first, cells.second
    scores = of[b, left] - of[a, left] - of[b, right] + of[a, right]
    return Apart(scores, of[b, -1] - of[a, -1])


def _panel_ends(
    who: Ints, first: Ints, waiting: Waiting, history: History, now: int, bounds: GradientBounds
) -> Ints:
    """How far one panel of the quadrature may reach (see `waiting._panel_end`)."""
    pull = bounds.quadrature * history.time[now] / (24.0 * QUADRATURE_TOLERANCE)
    share = waiting.share[who]
    by_drift = pull * share
    by_travel = pull * waiting.turning[who, FIRST_SCALAR, 1] ** 2 / np.maximum(share, 1e-300)
    last = np.zeros_like(first)
    for moved, factor in ((history.drift, by_drift), (history.travel, by_travel)):
        furthest = moved[first] + 1.0 / np.sqrt(np.maximum(factor, 1e-300))
        last = np.maximum(last, np.searchsorted(moved[: now + 1], furthest, side="right") - 1)
    return np.clip(last, first + 1, now)


def _times_to_leave(a: Floats, b: Floats, c: Floats) -> Floats:
    """The positive root of `a t^2 + 2 b t + c`: 0 where c is not negative, else inf without a."""
    inside = (c < 0.0) & (a > 0.0)
    root = np.sqrt(np.where(inside, b * b - a * c, 0.0)) - b
    return np.divide(root, a, out=np.where(c < 0.0, np.inf, 0.0), where=inside)


def _times(z: Floats, slope: Floats, threshold: Floats | float) -> Floats:
    """When each `z + t * slope` leaves the interval within its threshold."""
    to_go = np.maximum(threshold - np.copysign(1.0, slope) * z, 0.0)
    return np.divide(to_go, np.abs(slope), out=np.full(z.shape, np.inf), where=slope != 0.0)
