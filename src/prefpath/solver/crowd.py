"""The crowd along a path: who waits in the pool and who is active, and the passage between."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prefpath.checkpoint.files import Arrays
from prefpath.model.attention import RELATIVE_THRESHOLD
from prefpath.model.design import Floats, Ints, Target
from prefpath.model.problem import Problem
from prefpath.solver.active import Active
from prefpath.solver.arguments import Inputs, Scratch, inputs_of, make_scratch
from prefpath.solver.executors import Serial, Threads, split_evenly
from prefpath.solver.interpolation import StepEnds
from prefpath.solver.light import add_light_cells
from prefpath.solver.pool import Pool, fill_pool, move_votes
from prefpath.solver.room import Knot, Leavers, Moment, Rooms, Sight, WaitingRoom, is_large
from prefpath.solver.small import SmallEquation, is_small, small_equation, take_out
from prefpath.solver.state import CrowdState, WaitingState
from prefpath.solver.waiting import GradientBounds, History, spread

# Steps the history has room for at first; most paths take fewer.
_FIRST_CAPACITY = 256
# Bounds are taken again when the scores have outgrown them, for a little more than they span.
_SPARE_WIDTH = 1.02
# Of the error that one point would leave in an attention, what two may: its errors have one sign
# for all votes and panels, and add up. At a quarter, some attentions just entered are off by 1 %.
_OF_TWO_POINTS = 0.5


class Joined(NamedTuple):
    """Annotators who have become active: their part of y, and their z at the last knot."""

    who: Ints
    y: Floats
    at_knot: list[Floats]


class Crowd:
    """Waiting and active annotators of a problem, with the history of the common scores.

    Arrays by annotator (`share`, `inputs`) are by the numbers of `problem`; who waits is asked of
    its rooms.
    """

    def __init__(
        self, problem: Problem, executor: Serial | Threads, rooms: Rooms | None = None
    ) -> None:
        self.problem, self.executor = problem, executor
        self.inputs: Inputs = inputs_of(problem)
        self.index = problem.pool_index
        self.pool: Pool = fill_pool(problem)
        self.n_cells = len(problem.design.left_at)
        self.is_large, self.is_small = is_large(problem), is_small(problem)
        self.room = WaitingRoom(problem, self.inputs, executor)
        self.rooms: Rooms = self.room if rooms is None else rooms
        self.share: Floats = self.room.waiting.share
        self.n_common = problem.n_common + int(problem.common_position)
        self.active = Active(np.zeros(0, np.int64), np.array([self.n_common], np.int64))
        self._joined: list[int] = []  # how many became active at a time
        self.pool_chunks = split_evenly(np.ones(len(self.index.first), dtype=np.int64))
        self.active_chunks: list[tuple[int, int]] = []
        self._light_pay = problem.features is None
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
        self._knot: Knot | None = None

    @property
    def sight(self) -> Sight:
        """What rooms see of the path now."""
        return Sight(self._history, self._now, self._bounds)

    @property
    def n_units(self) -> int:
        """Annotators that have a number here: those of the problem."""
        return len(self.share)

    @property
    def n_voted(self) -> int:
        """Annotators with votes, waiting or not."""
        return int(np.count_nonzero(self.share))

    @property
    def largest_share(self) -> float:
        """Share of all votes that the busiest annotator cast."""
        return float(self.share.max())

    @property
    def largest_threshold(self) -> float:
        """Of all deviations."""
        return float(self.problem.deviation_threshold.max())

    def scratch(self) -> Scratch:
        """Buffers large enough for any annotator who may become active."""
        return make_scratch(self.problem)

    def small_equation(self) -> SmallEquation:
        """y' of a small problem as its crowd is now."""
        who = self.active.who
        return small_equation(self.problem, self.inputs, self.index, self.pool, who)

    def nobody_enters_before(self) -> float:
        """Time before which no annotator can pop up, however they vote."""
        return self.rooms.nobody_enters_before(self._bounds)

    def about_to_enter(self, time: float, step: float, theta_slope: Floats) -> Ints:
        """Waiting annotators who may pop up within the coming step."""
        drift, travel = self.moved()
        drifts, travels = spread(theta_slope, self.problem.votes.n_items)
        drift, travel = drift + step * drifts, travel + step * travels
        return self.rooms.about_to_enter(self.sight, Moment(time + step, drift, travel))

    def end_step(self, ends: StepEnds, theta: Floats, theta_before: Floats) -> Ints:
        """Note the step in the history; who popped up unpredicted, for the step to be redone."""
        self.note_step(ends, theta, theta_before)
        over = self.rooms.end_step(self.sight, Moment(ends.end, *self.moved()))
        if len(over):
            self._now -= 1
            self.rooms.undo_step(self.sight, over)
        return over

    def moved(self) -> tuple[float, float]:
        """How far theta has moved so far: the sum of the ranges, and of the norms, of its steps."""
        return float(self._history.drift[self._now]), float(self._history.travel[self._now])

    def activate(self, who: Ints, *, with_knot: bool = True) -> Joined:
        """Let annotators who wait become active; `with_knot` asks for their z at the last knot."""
        leavers = self.rooms.leave(self.sight, who, self._knot if with_knot else None)
        numbers = self._number(leavers)
        self._join(numbers)
        return Joined(numbers, np.concatenate(leavers.units), leavers.at_knot)

    def _number(self, leavers: Leavers) -> Ints:
        """The numbers of those who leave a room: on one machine, the problem's."""
        return leavers.who

    def _join(self, who: Ints) -> None:
        """Take annotators out of the pool and lay out their votes beside those of the active."""
        design, target = self.inputs.design, self.inputs.target
        common_target = self._common_target()
        if self.is_small:
            take_out(who, self.inputs, self.index, self.pool)
        else:
            move_votes(who, design, common_target, self.index.pair_of, -1.0, self.pool)
        self._joined.append(len(who))
        widths = np.diff(design.blocks)[who] + self.problem.n_scalars
        at = np.concatenate((self.active.at, self.active.at[-1] + np.cumsum(widths)))
        at = at.astype(np.int64)
        light = self.active.light
        if self._light_pay and not self.is_small:
            newcomers = at[len(self.active.who) :]
            light = add_light_cells(light, who, newcomers, design, target, self.inputs.terms)
        self.active = Active(np.concatenate((self.active.who, who)), at, light)
        sizes = np.diff(design.cells)[self.active.who]
        # The largest first: a busy annotator is one chunk, and nobody should wait for it alone.
        self.active_chunks = sorted(
            split_evenly(sizes), key=lambda ab: -int(sizes[slice(*ab)].sum())
        )

    def _common_target(self) -> Target:
        """What cells weigh in the pool, numbered as `inputs` has them."""
        return self.problem.common_target

    def note_knot(self, time: float, ends: StepEnds) -> None:
        """Remember theta and its integral at a knot, to tell later what z was there."""
        before = self._history.integral[self._now - 1]
        theta = self._theta(ends.at(time)) if self.problem.attention else np.zeros(0)
        self._knot = Knot(time, before + self._theta_integral(ends, time), theta)

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
        error *= _OF_TWO_POINTS * unit / RELATIVE_THRESHOLD
        return GradientBounds(
            steepest=np.append(bounds.steepest, bounds.steepest[1] * widest * unit),
            curvature=np.append(bounds.curvature, turn * unit),
            quadrature=max(bounds.quadrature, error),
        )

    def note_step(self, ends: StepEnds, theta: Floats, theta_before: Floats) -> None:
        """Add a step to the history of the common scores."""
        if self._now + 1 == len(self._history.time):
            self._history = History(*(_doubled(part) for part in self._history))
        history, now = self._history, self._now
        history.time[now + 1] = ends.end
        history.integral[now + 1] = history.integral[now] + self._theta_integral(ends, ends.end)
        if self.problem.attention:
            history.theta[now + 1] = self._theta(ends.y1)
        drift, travel = spread(theta - theta_before, self.problem.votes.n_items)
        history.drift[now + 1] = history.drift[now] + drift
        history.travel[now + 1] = history.travel[now] + travel
        self._now += 1
        widest = spread(theta, self.problem.votes.n_items)[0]
        if widest > self._widest:
            self._widest = _SPARE_WIDTH * widest
            self._bounds = self._current_bounds()

    def _theta_integral(self, ends: StepEnds, time: float) -> Floats:
        return self._theta(ends.integral(time, self.n_common))

    def _theta(self, y: Floats) -> Floats:
        """Scores and, last, the common position effect (0 without one) of a vector like y."""
        n, problem = self.problem.n_common, self.problem
        theta = np.zeros(problem.votes.n_items + 1)
        theta[:-1] = problem.scores(y[:n])
        if problem.common_position:
            theta[-1] = y[n]
        return theta

    def state(self) -> CrowdState:
        """Who is active and the history of theta, as plain arrays."""
        nothing = np.zeros(0)
        knot = Knot(np.nan, nothing, nothing) if self._knot is None else self._knot
        past = History(*(part[: self._now + 1].copy() for part in self._history))
        who, joined = self.active.who, np.array(self._joined, dtype=np.int64)
        return CrowdState(who, joined, past, self._widest, *knot, self.room.cells_read)

    def elsewhere(self) -> Arrays:
        """What brings rooms on other machines to where they are; none of them is."""
        return {}

    def restore(self, state: CrowdState, waiting: WaitingState, elsewhere: Arrays) -> None:
        """Go on from a state of the same problem; everybody joins in the order they did."""
        assert not elsewhere
        for who in np.split(state.who, np.cumsum(state.joined)[:-1]):
            if len(who):
                self._join(who)
        self.room.restore(waiting)
        self.room.cells_read = state.cells_read
        self.restore_history(state)

    def restore_history(self, state: CrowdState) -> None:
        """The history of theta, the bounds that follow from it, and the last knot."""
        self._now = len(state.history.time) - 1
        room = max(_FIRST_CAPACITY, self._now + 2)
        self._history = History(*(_with_room(part, room) for part in state.history))
        self._widest = state.widest
        self._bounds = self._current_bounds()
        if not np.isnan(state.knot_time):
            self._knot = Knot(state.knot_time, state.knot_integral, state.knot_theta)


def _doubled(values: Floats) -> Floats:
    return _with_room(values, 2 * len(values))


def _with_room(values: Floats, room: int) -> Floats:
    return np.concatenate((values, np.zeros((room - len(values), *values.shape[1:]))))
