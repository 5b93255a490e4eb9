"""Our integrator of the path: the same equation as LBI's, in far fewer evaluations.

1. Stabilised Runge-Kutta-Chebyshev steps that adapt to an error estimate (`rkc`).
2. Who has not popped up votes through the pool: a stage costs the distinct pairs and the
   votes of the active annotators (`pool`, `active`).
3. Who waits is looked at only when a bound cannot exclude that they pop up (`waiting`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from prefpath.checkpoint import Slot
from prefpath.checkpoint.files import Arrays
from prefpath.errors import SettingError
from prefpath.model.design import Floats, Ints
from prefpath.model.problem import Problem
from prefpath.path import Path
from prefpath.solver.crowd import Crowd
from prefpath.solver.executors import MOST_SHARDS, make_executor
from prefpath.solver.grid import FIRST_RATIO, Grid, give_up_after, say_nobody_enters
from prefpath.solver.interpolation import Ends, StepEnds, note_entries
from prefpath.solver.recorder import FlowRecorder, Recorder
from prefpath.solver.relax_units import Point
from prefpath.solver.relaxed_ends import RelaxedEnds
from prefpath.solver.room import is_large
from prefpath.solver.slope import Slope
from prefpath.solver.slowness import say_if_slow
from prefpath.solver.state import DriverState, FlowState, as_arrays, from_arrays
from prefpath.solver.steps import Attempt, Steps
from prefpath.solver.work import Common, Progress, Work

# Whether a state that was kept goes with what else is known.
Accepts = Callable[[FlowState], bool]

# Local error a step may make, relative to the largest coefficient of its kind. With it, paths
# agree with LBI at an eight times finer step to 0.5 % (common) and 1 % (personal).
TOLERANCE = 7e-3
# Attempts at one step; it shrinks at each, and long before these run out it is nothing.
_MOST_STEPS = 200_000
# Share of the annotators who must have popped up before a path may end.
SHARE_TO_SEE = 0.1


def solve_flow(
    problem: Problem,
    grid: Grid,
    *,
    common: Common = "flow",
    tolerance: float = TOLERANCE,
    n_threads: int | None = None,
    progress: Progress | None = None,
    slot: Slot | None = None,
) -> Path:
    """The path of `problem` at the times of `grid`, by adaptive integration.

    With a slot of a checkpoint it goes on from what is kept there, and is kept on its way.
    """
    with FlowSolver(
        problem, common=common, tolerance=tolerance, n_threads=n_threads, slot=slot
    ) as solver:
        follow_grid(solver, grid, progress)
        return solver.path()


def follow_grid(solver: FlowSolver, grid: Grid, progress: Progress | None = None) -> None:
    """Follow a path to the end of a grid."""
    times = grid.times
    if times is None:
        times = grid.from_first(solver.first_entry())
    first, last = times[0], float(times[-1])
    solver.follow(times, progress)
    # Who goes on from beyond a stretch had not gone far enough at its end.
    while grid.is_open and (solver.is_beyond(last) or not solver.has_gone_far_enough(first)):
        times = grid.further(last)
        last = float(times[-1])
        solver.follow(times, progress)


class FlowSolver:
    """A path under way: follow it as far as you like, then take what there is."""

    def __init__(
        self,
        problem: Problem,
        *,
        common: Common = "flow",
        tolerance: float = TOLERANCE,
        n_threads: int | None = None,
        recorder: Recorder | None = None,
        slot: Slot | None = None,
        accepts: Accepts | None = None,
        crowd: Crowd | None = None,
    ) -> None:
        if not 0 < tolerance < 1:
            raise SettingError(f"tolerance is {tolerance}", expected="a number between 0 and 1")
        self.problem, self.tolerance = problem, tolerance
        self.work = Work()
        if crowd is None:
            executor = make_executor(n_threads, MOST_SHARDS if is_large(problem) else 1)
            crowd = Crowd(problem, executor)
        self.crowd, self.executor = crowd, crowd.executor
        self.slope = Slope(problem, self.crowd, common, self.executor, self.work)
        self.recorder: Recorder = FlowRecorder(problem) if recorder is None else recorder
        n_effects = self.crowd.inputs.terms.threshold.shape[1]
        self.entered = np.full((self.crowd.n_units, n_effects), np.inf)
        self.time = 0.0
        self.y = self.slope.first_point()
        self.f = self.slope.at(self.y)
        self.theta = self.slope.theta_of(self.y)
        self.last: StepEnds | None = None
        now = Point(self.y, self.f)
        self.steps = Steps(problem, self.crowd, self.slope, tolerance, now)
        self._begins = np.nan
        self._slot, self._accepts = slot, accepts
        kept = None if slot is None else slot.load(self._fits)
        if kept is not None:
            self.restore(from_arrays(FlowState, kept))

    @classmethod
    def from_state(cls, problem: Problem, state: FlowState, **how: Any) -> FlowSolver:
        """A path under way from where another one of the same problem and settings stood."""
        solver = cls(problem, **how)
        solver.restore(state)
        return solver

    def state(self) -> FlowState:
        """Where the path stands between two steps, as plain arrays."""
        work, at_start = self.work, Ends(0.0, 0.0, self.y, self.y, self.f, self.f)
        driver = DriverState(
            last=at_start if self.last is None else self.last.as_ends(),
            theta=self.theta,
            entered=self.entered.copy(),
            begins=self._begins,
            steps=self.steps.state(),
            work=np.array([work.steps, work.rejected, work.redone, work.evaluations]),
            slope=self.slope.state(),
            crowd=self.crowd.state(),
        )
        elsewhere = self.crowd.elsewhere()
        return FlowState(driver, self.crowd.room.state(), self.recorder.state(), elsewhere)

    def _fits(self, arrays: Arrays) -> bool:
        """Whether arrays are a state of this problem: all there, and as many as they should be."""
        state = from_arrays(FlowState, arrays)
        now = self.theta, self.crowd.room.waiting.z.block
        then = state.driver.theta, state.waiting.z.block
        if [part.shape for part in now] != [part.shape for part in then]:
            return False
        return self._accepts is None or self._accepts(state)

    def restore(self, state: FlowState) -> None:
        """Go on from a state of the same problem and settings."""
        driver, last = state.driver, state.driver.last
        self.crowd.restore(driver.crowd, state.waiting, state.elsewhere)
        self.slope.restore(driver.slope)
        self.recorder.restore(state.recorded)
        self.last = self.steps.restore(driver.steps, last)
        self.time, self.y, self.f = last.start + last.length, last.y1, last.f1
        self.theta, self.entered = driver.theta, driver.entered.copy()
        self._begins = driver.begins
        work = self.work
        work.steps, work.rejected, work.redone, work.evaluations = driver.work.tolist()

    def __enter__(self) -> FlowSolver:
        return self

    def __exit__(self, *_: object) -> None:
        self.executor.__exit__(None, None, None)

    def first_entry(self) -> float:
        """When the first annotator pops up; when we gave up waiting, if nobody does."""
        if not np.isnan(self._begins):
            if self._first() > self._begins:
                say_nobody_enters()
            return self._begins
        latest = give_up_after(self.crowd.largest_share, self.crowd.largest_threshold)
        while not np.isfinite(self._first()) and self.time < latest:
            self._advance_and_keep()
        if not np.isfinite(self._first()):
            say_nobody_enters()
        self._begins = min(self._first(), self.time)
        return self._begins

    def follow(self, times: Floats, progress: Progress | None = None) -> None:
        """Go on to the last of `times`, with a knot at each of them that comes after the last."""
        if self._slot is not None:
            self._slot.begin()
        for t in times[times > self.recorder.last_time]:
            while self.time < t:
                self._advance_and_keep()
            y = self._state_at(float(t))
            if self.slope.minimiser is not None:
                self.slope.at(y)  # the minimiser at t itself, not between those of two steps
            self.recorder.record(float(t), y, self.crowd.active)
            assert self.last is not None
            self.crowd.note_knot(float(t), self.last)
            if progress is not None:
                progress(float(t), len(self.crowd.active.who))
        if self._slot is not None:
            self._slot.end(self._arrays)

    def _state_at(self, t: float) -> Floats:
        """The state at a time of the last step."""
        last, first = self.last, self._first()
        assert last is not None
        if isinstance(last, RelaxedEnds) and last.start <= first <= last.end:
            return last.at_with_first(t, first)
        return last.at(t)

    @property
    def time_of_last_knot(self) -> float:
        return self.recorder.last_time

    def is_beyond(self, t: float) -> bool:
        """Whether a step has begun after t: somebody decided at t to go on."""
        return self.last is not None and self.last.start >= t

    @property
    def share_entered(self) -> float:
        """Share of the annotators with votes who have popped up."""
        n_entered = np.count_nonzero(np.isfinite(self.entered.min(axis=1)))
        return n_entered / self.crowd.n_voted

    def has_gone_far_enough(self, first: float) -> bool:
        """How far `t_ratio="auto"` goes without cross-validation.

        A path goes on until a tenth of the annotators have popped up, at most twice as far as
        it went anyway.
        """
        furthest = 2.0 * FIRST_RATIO * first
        return self.share_entered >= SHARE_TO_SEE or self.time_of_last_knot >= furthest

    def path(self) -> Path:
        """The path as far as it has been followed."""
        if not isinstance(self.recorder, FlowRecorder):
            raise TypeError("this recorder keeps no path")
        return self.recorder.path(entered=self.entered, n_evaluations=self.work.evaluations)

    def _first(self) -> float:
        return float(self.entered.min(initial=np.inf))

    def _advance_and_keep(self) -> None:
        self._advance()
        say_if_slow(self.problem, self.work)
        if self._slot is not None:
            self._slot.tick(self._arrays)

    def _arrays(self) -> Arrays:
        return as_arrays(self.state())

    def _advance(self) -> None:
        """One accepted step."""
        for _ in range(_MOST_STEPS):
            length = self.steps.length(self.time)
            self._activate(self.crowd.about_to_enter(self.time, length, self._theta_slope()))
            now = Point(self.y, self.f)
            attempt = self.steps.attempt(self.time, now, length, self.last)
            if attempt.error > 1.0:
                self.work.rejected += 1
                self.steps.rejected(attempt, now)
                continue
            ends = attempt.ends
            missed = self.crowd.end_step(ends, self.slope.theta_of(ends.y1), self.theta)
            if len(missed):
                self.work.redone += 1
                self._activate(missed)
                continue
            self._accept(attempt)
            return
        raise SettingError(
            "the path cannot be followed: its steps became too short",
            remedy='lower kappa, or pass solver="lbi"',
        )

    def _accept(self, attempt: Attempt) -> None:
        ends = attempt.ends
        self.work.steps += 1
        if self.recorder.interpolates:  # of a fold nobody asks who entered when
            self._note_entries(ends)
        self.time, self.y, self.f, self.last = ends.end, ends.y1, ends.f1, ends
        self.theta = self.slope.theta_of(ends.y1)
        self.steps.accepted(attempt)

    def _note_entries(self, ends: StepEnds) -> None:
        active, terms = self.crowd.active, self.crowd.inputs.terms
        note_entries(ends.before_entering(), active, terms, self.entered)

    def _activate(self, who: Ints) -> None:
        """Take annotators out of the pool and into y, with what their z was at the last knot."""
        if not len(who):
            return
        joined = self.crowd.activate(who, with_knot=self.recorder.interpolates)
        for u, unit in zip(joined.who, joined.at_knot, strict=False):
            self.recorder.amend(int(u), unit)
        newcomers = np.full((self.crowd.n_units - len(self.entered), self.entered.shape[1]), np.inf)
        self.entered = np.concatenate((self.entered, newcomers))  # none but on a cluster
        self.y = np.concatenate((self.y, joined.y))
        self.f = self.slope.after_joining(self.y, self.f)
        now = Point(self.y, self.f)
        self.steps.joined(joined.who, now)
        if self.last is not None:
            self.last = self.steps.seen_back(self.last, now)

    def _theta_slope(self) -> Floats:
        return self.slope.theta_of(self.f if self.last is None else self.last.last_slope())
