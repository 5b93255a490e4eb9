"""The crowd along a path: who waits in the pool and who is active, and the passage between."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefpath.model.attention import RELATIVE_THRESHOLD
from prefpath.model.design import Floats, Ints
from prefpath.model.problem import Problem
from prefpath.solver.active import Active
from prefpath.solver.arguments import inputs_of, make_scratch
from prefpath.solver.executors import Serial, Threads, split_annotators, split_evenly
from prefpath.solver.interpolation import StepEnds
from prefpath.solver.light import add_light_cells
from prefpath.solver.pool import fill_pool, move_votes
from prefpath.solver.state import CrowdState, WaitingState
from prefpath.solver.waiting import (
    GradientBounds,
    History,
    Waiting,
    find_suspects,
    make_waiting,
    panel_slope,
    refresh,
    surely_waiting_until,
)

# Steps the history has room for at first; most paths take fewer.
_FIRST_CAPACITY = 256
# Cells from which a pass is worth sharing out: about a millisecond, ten times what the calls cost.
_LARGE = 200_000
# Quadrature errors of an attention have one sign for all votes and panels, and add up: with two
# thirds of the tolerance, attentions just entered agree with LBI to 1 %.
_SAME_SIGN = 1.5
# An annotator may have passed the threshold by this much unnoticed before a step is redone.
_OVERSHOOT = 1e-3


class Crowd:
    """Waiting and active annotators of a problem, with the history of the common scores."""

    def __init__(self, problem: Problem, executor: Serial | Threads) -> None:
        self.problem = problem
        self.inputs = inputs_of(problem)
        self.executor = executor
        self.index = problem.pool_index
        self.pool = fill_pool(problem, self.index)
        self.waiting: Waiting = make_waiting(problem)
        self.n_common = problem.n_common + int(problem.common_position)
        self.active = Active(np.zeros(0, np.int64), np.array([self.n_common], np.int64))
        self._joined: list[int] = []  # how many became active at a time
        self.pool_chunks = split_evenly(np.ones(len(self.index.first), dtype=np.int64))
        self.active_chunks: list[tuple[int, int]] = []
        self._light_pay = problem.features is None
        self.cells_read = 0
        self._pair_norm = problem.penalty.pair_norm(problem.features)
        self._largest_choice = float(np.abs(problem.target.choice).max(initial=0.0))
        self._widest = 0.0
        self._bounds = self._current_bounds()
        self._now = 0
        width = problem.votes.n_items + 1
        self._history = History(
            np.zeros(_FIRST_CAPACITY),
            np.zeros((_FIRST_CAPACITY, width)),
            np.zeros((_FIRST_CAPACITY, width if problem.attention else 0)),
            np.zeros(_FIRST_CAPACITY),
            np.zeros(_FIRST_CAPACITY),
        )
        self._knot: tuple[float, Floats, Floats] | None = None
        self._scratch = [make_scratch(problem, with_items=False)]

    def nobody_enters_before(self) -> float:
        """Time before which no annotator can pop up, however they vote."""
        return surely_waiting_until(self.waiting.share, self.inputs.terms, self._bounds)

    def about_to_enter(self, time: float, step: float, theta_slope: Floats) -> Ints:
        """Waiting annotators who may pop up within the coming step."""
        drift, travel = self.moved()
        drift += step * self._range(theta_slope)
        travel += step * self._norm(theta_slope)
        suspects = self.suspects(time + step, drift, travel)
        if not len(suspects):
            return suspects
        self.refresh(suspects)
        return self.suspects(time + step, drift, travel)

    def end_step(self, ends: StepEnds, theta: Floats, theta_before: Floats) -> Ints:
        """Note the step in the history; who popped up unpredicted, for the step to be redone."""
        self.note_step(ends, theta, theta_before)
        suspects = self.suspects(ends.end, *self.moved())
        if not len(suspects):
            return suspects
        saved = self._save(suspects)
        self.refresh(suspects)
        over = self._over_threshold(suspects)
        if not len(over):
            return over
        self._restore(suspects, saved)
        self._now -= 1
        self.refresh(over)
        return over

    def moved(self) -> tuple[float, float]:
        """How far theta has moved so far: the sum of the ranges, and of the norms, of its steps."""
        return float(self._history.drift[self._now]), float(self._history.travel[self._now])

    def activate(self, who: Ints) -> Floats:
        """Move annotators from the pool into y; returns their part of y. They are up to date."""
        self.refresh(who)
        self._join(who)
        return np.concatenate([self._unit(int(u)) for u in who])

    def _join(self, who: Ints) -> None:
        """Take annotators out of the pool and lay out their votes beside those of the active."""
        problem = self.problem
        move_votes(who, problem.design, problem.target, self.index.pair_of, -1.0, self.pool)
        self.waiting.waits[who] = 0
        self._joined.append(len(who))
        widths = np.diff(problem.design.blocks)[who] + problem.n_scalars
        at = np.concatenate((self.active.at, self.active.at[-1] + np.cumsum(widths)))
        at = at.astype(np.int64)
        light = self.active.light
        if self._light_pay:
            light = add_light_cells(
                light,
                who,
                at[len(self.active.who) :],
                problem.n_scalars,
                problem.design,
                problem.target,
            )
        self.active = Active(np.concatenate((self.active.who, who)), at, light)
        sizes = np.diff(problem.design.cells)[self.active.who]
        # The largest first: a busy annotator is one chunk, and nobody should wait for it alone.
        self.active_chunks = sorted(
            split_evenly(sizes), key=lambda ab: -int(sizes[slice(*ab)].sum())
        )

    def note_knot(self, time: float, ends: StepEnds) -> None:
        """Remember theta and its integral at a knot, to tell later what z was there."""
        before = self._history.integral[self._now - 1]
        theta = self._theta(ends.at(time)) if self.problem.attention else np.zeros(0)
        self._knot = (time, before + self._theta_integral(ends, time), theta)

    def at_last_knot(self, who: Ints) -> list[Floats]:
        """What z (block, then scalars) of waiting annotators was at the last knot."""
        if self._knot is None:
            return [np.zeros(0)] * len(who)
        self.refresh(who)
        time, integral, theta = self._knot
        now = self._history.time[self._now]
        if now - time <= 1e-12 * now:
            return [self._unit(int(u)) for u in who]
        span = History(
            np.array([time, now]),
            np.stack((integral, self._history.integral[self._now])),
            np.stack((theta, self._history.theta[self._now])),
            np.zeros(2),
            np.zeros(2),
        )
        return [self._back_to(int(u), span) for u in who]

    def _unit(self, u: int) -> Floats:
        """z of a waiting annotator as y holds it: block, then scalars."""
        blocks, z = self.problem.design.blocks, self.waiting.z
        return np.concatenate((z.block[blocks[u] : blocks[u + 1]], z.scalar[u]))

    def _back_to(self, u: int, span: History) -> Floats:
        blocks, scratch = self.problem.design.blocks, self._scratch[0]
        panel_slope(u, span, 0, 1, self.inputs, scratch)
        width = int(blocks[u + 1] - blocks[u])
        slope = np.concatenate((scratch.coefficient[:width], scratch.scalar))
        return self._unit(u) - (span.time[1] - span.time[0]) * slope

    def _current_bounds(self) -> GradientBounds:
        loss = self.problem.loss
        steepest = loss.steepest(self._widest, self._largest_choice)
        bounds = GradientBounds(
            steepest=np.array([steepest * self._pair_norm, steepest]),
            curvature=np.array([loss.max_curvature, loss.max_curvature]),
            quadrature=loss.max_curvature_change * self._pair_norm,
        )
        return self._with_attention(bounds) if self.problem.attention else bounds

    def _with_attention(self, bounds: GradientBounds) -> GradientBounds:
        """A vote's gradient in b is its slope times `attention_unit * (theta_i - theta_j)`.

        Its derivative in the margin m is that of `m * slope(m)`, its second derivative
        `2 curvature + m * change of curvature`. The quadrature's error is at most half of that
        times the variance of m. Two points take away what a straight move makes of it.
        """
        loss, unit, widest = self.problem.loss, self.inputs.terms.attention_unit, self._widest
        turn = loss.steepest_product(widest, self._largest_choice)
        error = loss.most_curved_product(widest)
        if self.problem.common_position:  # the slope's margin is not the difference of scores
            turn = bounds.steepest[1] + loss.max_curvature * widest
            error = 2.0 * loss.max_curvature + loss.max_curvature_change * widest
        error *= _SAME_SIGN * unit / RELATIVE_THRESHOLD
        return GradientBounds(
            steepest=np.append(bounds.steepest, bounds.steepest[1] * widest * unit),
            curvature=np.append(bounds.curvature, turn * unit),
            quadrature=max(bounds.quadrature, error),
        )

    def suspects(self, time: float, drift: float, travel: float) -> Ints:
        """Who may have popped up at a time when theta has moved so far in all."""
        return find_suspects(
            self.waiting, self._history, self.inputs.terms, self._bounds, time, drift, travel
        )

    def refresh(self, who: Ints) -> None:
        """Bring z of some waiting annotators up to the present."""
        shards = (
            split_annotators(self.problem.design.cells, who) if is_large(self.problem) else [who]
        )
        while len(self._scratch) < len(shards):
            self._scratch.append(make_scratch(self.problem, with_items=False))

        def refresh_shard(k: int) -> int:
            return refresh(
                shards[k],
                self.waiting,
                self._history,
                self._now,
                self.inputs,
                self._bounds,
                self._scratch[k],
            )

        self.cells_read += sum(self.executor.map(refresh_shard, range(len(shards))))

    def _over_threshold(self, who: Ints) -> Ints:
        threshold = self.inputs.terms.threshold[who] * (1 + _OVERSHOOT)
        return who[(self.waiting.norm[who] > threshold).any(axis=1)]

    def note_step(self, ends: StepEnds, theta: Floats, theta_before: Floats) -> None:
        """Add a step to the history of the common scores."""
        if self._now + 1 == len(self._history.time):
            self._history = History(*(_doubled(part) for part in self._history))
        history, now = self._history, self._now
        history.time[now + 1] = ends.end
        history.integral[now + 1] = history.integral[now] + self._theta_integral(ends, ends.end)
        if self.problem.attention:
            history.theta[now + 1] = self._theta(ends.y1)
        history.drift[now + 1] = history.drift[now] + self._range(theta - theta_before)
        history.travel[now + 1] = history.travel[now] + self._norm(theta - theta_before)
        self._now += 1
        widest = self._range(theta)
        if widest > self._widest:
            self._widest = widest
            self._bounds = self._current_bounds()

    def _theta_integral(self, ends: StepEnds, time: float) -> Floats:
        return self._theta(ends.integral(time, self.n_common))

    def _theta(self, y: Floats) -> Floats:
        """Scores and, last, the common position effect (0 without one) of a vector like y."""
        n, problem = self.problem.n_common, self.problem
        return np.append(problem.scores(y[:n]), y[n] if problem.common_position else 0.0)

    def _range(self, theta: Floats) -> float:
        """How much a margin can change where theta (and, last, the common bias) changes so."""
        scores, bias = theta[: self.problem.votes.n_items], theta[self.problem.votes.n_items :]
        return float(np.ptp(scores) + np.abs(bias).sum())

    def _norm(self, theta: Floats) -> float:
        """The norm of a change of the scores; a common bias is one change of every margin."""
        n_items = self.problem.votes.n_items
        scores, bias = theta[:n_items], theta[n_items:]
        by_position = 0.5 * np.sqrt(n_items) * np.abs(bias).sum()
        return float(np.sqrt(np.var(scores) * n_items) + by_position)

    def state(self) -> CrowdState:
        """Who is active and the history of theta, as plain arrays."""
        nothing = np.zeros(0)
        knot = (np.nan, nothing, nothing) if self._knot is None else self._knot
        past = History(*(part[: self._now + 1].copy() for part in self._history))
        who, joined = self.active.who, np.array(self._joined, dtype=np.int64)
        return CrowdState(who, joined, past, self._widest, *knot, self.cells_read)

    def waiting_state(self) -> WaitingState:
        """What is known of who waits, as plain arrays."""
        known = self.waiting._asdict()
        return WaitingState(**{name: known[name].copy() for name in WaitingState._fields})

    def restore(self, state: CrowdState, waiting: WaitingState) -> None:
        """Go on from a state of the same problem; everybody joins in the order they did."""
        for who in np.split(state.who, np.cumsum(state.joined)[:-1]):
            if len(who):
                self._join(who)
        known = {name: part.copy() for name, part in waiting._asdict().items()}
        self.waiting = self.waiting._replace(**known)
        self._now = len(state.history.time) - 1
        room = max(_FIRST_CAPACITY, self._now + 2)
        self._history = History(*(_with_room(part, room) for part in state.history))
        self._widest, self.cells_read = state.widest, state.cells_read
        self._bounds = self._current_bounds()
        if not np.isnan(state.knot_time):
            self._knot = (state.knot_time, state.knot_integral, state.knot_theta)

    def _save(self, who: Ints) -> list[Any]:
        blocks, z = self.problem.design.blocks, self.waiting.z.block
        kept = [part[who] for part in self._by_annotator()]
        return [*kept, *(z[blocks[u] : blocks[u + 1]].copy() for u in who)]

    def _restore(self, who: Ints, saved: list[Any]) -> None:
        blocks, parts = self.problem.design.blocks, self._by_annotator()
        for part, values in zip(parts, saved, strict=False):
            part[who] = values
        for u, z in zip(who, saved[len(parts) :], strict=True):
            self.waiting.z.block[blocks[u] : blocks[u + 1]] = z

    def _by_annotator(self) -> list[NDArray[Any]]:
        """What a refresh changes, one row an annotator."""
        w = self.waiting
        return [w.dormant, w.since, w.z.scalar, w.norm, w.reach, w.drift, w.travel]


def is_large(problem: Problem) -> bool:
    """Whether a pass over the votes is worth more than the calls it takes to share it out."""
    return len(problem.design.left_at) > _LARGE


def _doubled(values: Floats) -> Floats:
    return _with_room(values, 2 * len(values))


def _with_room(values: Floats, room: int) -> Floats:
    return np.concatenate((values, np.zeros((room - len(values), *values.shape[1:]))))
