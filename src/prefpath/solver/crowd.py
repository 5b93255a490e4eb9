"""The crowd along a path: who waits in the pool and who is active, and the passage between."""

from __future__ import annotations

import numpy as np

from prefpath.model.design import Floats, Ints
from prefpath.model.problem import Problem
from prefpath.solver.active import Active
from prefpath.solver.executors import Serial, Threads, split_annotators, split_evenly
from prefpath.solver.interpolation import StepEnds
from prefpath.solver.kernels import make_scratch, rule_of
from prefpath.solver.pool import build_pool_index, fill_pool, move_votes
from prefpath.solver.waiting import (
    QUADRATURE_TOLERANCE,
    History,
    Limits,
    Waiting,
    find_suspects,
    make_waiting,
    pair_spread,
    panel_slope,
    refresh,
    surely_waiting_until,
)

_FIRST_CAPACITY = 256
_LARGE = 200_000
# An annotator may have passed the threshold by this much unnoticed before a step is redone.
_OVERSHOOT = 1e-3


class Crowd:
    """Waiting and active annotators of a problem, with the history of the common scores."""

    def __init__(self, problem: Problem, executor: Serial | Threads) -> None:
        self.problem = problem
        self.rule = rule_of(problem)
        self.executor = executor
        self.index = problem.shared("pool index", build_pool_index)
        self.pool = fill_pool(problem, self.index)
        self.waiting: Waiting = make_waiting(problem)
        self.n_common = problem.n_common + int(problem.common_position)
        self.active = Active(np.zeros(0, np.int64), np.array([self.n_common], np.int64))
        self.pool_chunks = split_evenly(np.ones(len(self.index.first), dtype=np.int64))
        self.active_chunks: list[tuple[int, int]] = []
        self.cells_read = 0
        self._spread = pair_spread(problem)
        self._largest_choice = float(np.abs(problem.target.choice).max(initial=0.0))
        self._widest = 0.0
        self._limits = self._current_limits()
        self._now = 0
        self._history = History(
            np.zeros(_FIRST_CAPACITY),
            np.zeros((_FIRST_CAPACITY, problem.votes.n_items + 1)),
            np.zeros(_FIRST_CAPACITY),
            np.zeros(_FIRST_CAPACITY),
        )
        self._knot: tuple[float, Floats] | None = None
        self._scratch = [make_scratch(problem.design, 0)]

    def nobody_enters_before(self) -> float:
        """Time before which no annotator can pop up, however they vote."""
        return surely_waiting_until(self.waiting.share, self.rule, self._limits)

    def about_to_enter(self, time: float, step: float, theta_slope: Floats) -> Ints:
        """Waiting annotators who may pop up within the coming step."""
        drift = self._history.drift[self._now] + step * self._range(theta_slope)
        travel = self._history.travel[self._now] + step * self._norm(theta_slope)
        suspects = self._suspects(time + step, drift, travel)
        if not len(suspects):
            return suspects
        self._refresh(suspects)
        return self._suspects(time + step, drift, travel)

    def end_step(self, ends: StepEnds, theta: Floats, theta_before: Floats) -> Ints:
        """Note the step in the history; who popped up unpredicted, for the step to be redone."""
        self._append(ends, theta, theta_before)
        history, now = self._history, self._now
        suspects = self._suspects(ends.end, float(history.drift[now]), float(history.travel[now]))
        if not len(suspects):
            return suspects
        saved = self._save(suspects)
        self._refresh(suspects)
        over = self._over_threshold(suspects)
        if not len(over):
            return over
        self._restore(suspects, saved)
        self._now -= 1
        self._refresh(over)
        return over

    def activate(self, who: Ints) -> Floats:
        """Move annotators from the pool into y; returns their part of y. They are up to date."""
        self._refresh(who)
        problem, waiting = self.problem, self.waiting
        move_votes(who, problem.design, problem.target, self.index.pair_of, -1.0, self.pool)
        waiting.waits[who] = 0
        blocks = problem.design.blocks
        parts = [np.append(waiting.z[blocks[u] : blocks[u + 1]], waiting.z_bias[u]) for u in who]
        widths = np.array([len(part) for part in parts])
        at = np.concatenate((self.active.at, self.active.at[-1] + np.cumsum(widths)))
        self.active = Active(np.concatenate((self.active.who, who)), at.astype(np.int64))
        sizes = np.diff(problem.design.cells)[self.active.who]
        # The largest first: a busy annotator is one chunk, and nobody should wait for it alone.
        self.active_chunks = sorted(
            split_evenly(sizes), key=lambda ab: -int(sizes[slice(*ab)].sum())
        )
        return np.concatenate(parts)

    def note_knot(self, time: float, ends: StepEnds) -> None:
        """Remember the integral of theta at a knot, to tell later what z was there."""
        before = self._history.integral[self._now - 1]
        self._knot = (time, before + self._theta_integral(ends, time))

    def at_last_knot(self, who: Ints) -> list[tuple[Floats, float]]:
        """What z (deviation and bias) of waiting annotators was at the last knot."""
        if self._knot is None:
            return [(np.zeros(0), 0.0)] * len(who)
        self._refresh(who)
        time, integral = self._knot
        now = self._history.time[self._now]
        blocks, waiting = self.problem.design.blocks, self.waiting
        if now - time <= 1e-12 * now:
            return [(waiting.z[blocks[u] : blocks[u + 1]].copy(), waiting.z_bias[u]) for u in who]
        span = History(
            np.array([time, now]),
            np.stack((integral, self._history.integral[self._now])),
            np.zeros(2),
            np.zeros(2),
        )
        return [self._back_to(u, span) for u in who]

    def _back_to(self, u: int, span: History) -> tuple[Floats, float]:
        problem, blocks = self.problem, self.problem.design.blocks
        slope = np.zeros(int(blocks[u + 1] - blocks[u]))
        sideways = panel_slope(
            u, span, 0, 1, problem.design, problem.target, self.rule, slope, self._scratch[0]
        )
        length = span.time[1] - span.time[0]
        z = self.waiting.z[blocks[u] : blocks[u + 1]] - length * slope
        return z, float(self.waiting.z_bias[u] - length * sideways)

    def _current_limits(self) -> Limits:
        loss = self.problem.loss
        return Limits(
            loss.steepest(self._widest, self._largest_choice),
            loss.max_curvature,
            loss.max_curvature_change,
            self._spread,
        )

    def _suspects(self, time: float, drift: float, travel: float) -> Ints:
        return find_suspects(
            self.waiting, self._history, self.rule, self._limits, time, drift, travel
        )

    def _refresh(self, who: Ints) -> None:
        shards = (
            split_annotators(self.problem.design.cells, who) if is_large(self.problem) else [who]
        )
        while len(self._scratch) < len(shards):
            self._scratch.append(make_scratch(self.problem.design, 0))

        def refresh_shard(k: int) -> int:
            return refresh(
                shards[k],
                self.waiting,
                self._history,
                self._now,
                self.problem.design,
                self.problem.target,
                self.rule,
                self._limits,
                QUADRATURE_TOLERANCE,
                self._scratch[k],
            )

        self.cells_read += sum(self.executor.map(refresh_shard, range(len(shards))))

    def _over_threshold(self, who: Ints) -> Ints:
        problem, waiting = self.problem, self.waiting
        over = waiting.norm[who] > problem.deviation_threshold[who] * (1 + _OVERSHOOT)
        over |= waiting.norm_bias[who] > problem.position_threshold[who] * (1 + _OVERSHOOT)
        return who[over]

    def _append(self, ends: StepEnds, theta: Floats, theta_before: Floats) -> None:
        if self._now + 1 == len(self._history.time):
            self._history = History(*(_doubled(part) for part in self._history))
        history, now = self._history, self._now
        history.time[now + 1] = ends.end
        history.integral[now + 1] = history.integral[now] + self._theta_integral(ends, ends.end)
        history.drift[now + 1] = history.drift[now] + self._range(theta - theta_before)
        history.travel[now + 1] = history.travel[now] + self._norm(theta - theta_before)
        self._now += 1
        widest = self._range(theta)
        if widest > self._widest:
            self._widest = widest
            self._limits = self._current_limits()

    def _theta_integral(self, ends: StepEnds, time: float) -> Floats:
        problem = self.problem
        common = ends.integral(time, self.n_common)
        bias = common[-1] if problem.common_position else 0.0
        return np.append(problem.scores(common[: problem.n_common]), bias)

    def _range(self, theta: Floats) -> float:
        """How much a margin can change where theta (and, last, the common bias) changes so."""
        scores, bias = theta[: self.problem.votes.n_items], theta[self.problem.votes.n_items :]
        return float(np.ptp(scores) + np.abs(bias).sum())

    def _norm(self, theta: Floats) -> float:
        """The norm of a change of the scores; a common bias is one change of every margin."""
        n_items = self.problem.votes.n_items
        scores, bias = theta[:n_items], theta[n_items:]
        sideways = 0.5 * np.sqrt(n_items) * np.abs(bias).sum()
        return float(np.sqrt(np.var(scores) * n_items) + sideways)

    def _save(self, who: Ints) -> list[Floats]:
        waiting, blocks = self.waiting, self.problem.design.blocks
        kept: list[Floats] = [
            getattr(waiting, name)[who].copy() for name in waiting._fields if name != "z"
        ]
        return [*kept, *(waiting.z[blocks[u] : blocks[u + 1]].copy() for u in who)]

    def _restore(self, who: Ints, saved: list[Floats]) -> None:
        waiting, blocks = self.waiting, self.problem.design.blocks
        names = [name for name in waiting._fields if name != "z"]
        for name, values in zip(names, saved, strict=False):
            getattr(waiting, name)[who] = values
        for u, z in zip(who, saved[len(names) :], strict=True):
            waiting.z[blocks[u] : blocks[u + 1]] = z


def is_large(problem: Problem) -> bool:
    """Whether a pass over the votes is worth more than the calls it takes to share it out."""
    return len(problem.design.left_at) > _LARGE


def _doubled(values: Floats) -> Floats:
    return np.concatenate((values, np.zeros_like(values)))
