"""The path of LBI at the times of a grid: it may stop anywhere, and go on from plain arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prefpath.checkpoint import Slot
from prefpath.checkpoint.files import Arrays
from prefpath.model.design import Floats
from prefpath.model.problem import Problem
from prefpath.path import Path
from prefpath.solver.arguments import Personal
from prefpath.solver.grid import Grid, say_nobody_enters
from prefpath.solver.iteration import Dual, State
from prefpath.solver.recorder import PathRecorder, Solved, until
from prefpath.solver.slowness import say_if_many
from prefpath.solver.state import as_arrays, from_arrays
from prefpath.solver.stepper import Stepper
from prefpath.solver.work import Progress


class Moment(NamedTuple):
    """An iteration; of one that there is not, the number is -1."""

    iteration: int
    common: Floats
    z: Personal


class LbiState(NamedTuple):
    """Where LBI stands.

    `first` is the time of the first entry, NaN while it is looked for; `goal` the iteration under
    way to, -1 for none; `before` the iteration before `now`, where a knot may fall between.
    """

    step: float
    first: float
    goal: int
    n_evaluations: int
    entered: Floats
    now: Moment
    before: Moment
    recorded: Arrays


def load_lbi(slot: Slot | None, problem: Problem) -> LbiState | None:
    """What a slot keeps of the path of a problem."""
    start = State.zero(problem)

    def fits(arrays: Arrays) -> bool:
        state = from_arrays(LbiState, arrays)
        now = start.common, start.dual.z.block, start.dual.entered
        then = state.now.common, state.now.z.block, state.entered
        return [part.shape for part in now] == [part.shape for part in then]

    kept = None if slot is None else slot.load(fits)
    return None if kept is None else from_arrays(LbiState, kept)


class LbiPath:
    """A path under way, with a knot at each time of a grid."""

    def __init__(self, stepper: Stepper, slot: Slot | None, kept: LbiState | None) -> None:
        self._stepper, self._slot = stepper, slot
        self._recorder = PathRecorder(stepper.problem)
        self._now = stepper.first_state()
        self._before: State | None = None
        self._first, self._goal = np.nan, -1
        if kept is not None:
            self._restore(kept)

    def follow(self, grid: Grid, progress: Progress | None) -> Path:
        """Go to the end of the grid."""
        times = grid.times if grid.times is not None else grid.from_first(self._first_entry())
        say_if_many(self._stepper.problem, float(times[-1]) / self._stepper.step)
        for t in times[times > self._recorder.last_time].tolist():
            if t < self._stepper.start:
                share, now = t / self._stepper.start, self._now
                z = Personal(*(share * part for part in now.dual.z))
                self._recorder.record(t, now.common, z)
                continue
            self._record(t)
            self._tick()
            if progress is not None:
                progress(t, int(np.isfinite(self._now.dual.entered[:, 0]).sum()))
        if self._slot is not None:
            self._slot.end(self._arrays)
        stepper, entered = self._stepper, until(self._now.dual.entered, times[-1])
        return self._recorder.finish(Solved("lbi", stepper.step, stepper.n_evaluations, entered))

    def _first_entry(self) -> float:
        """When the first annotator pops up; the iteration then begins anew."""
        if np.isnan(self._first):
            self._first = self._stepper.first_entry(self._now, self._tick)
            if self._stepper.minimiser is None:
                self._now = self._stepper.first_state()
        return self._first

    def _record(self, t: float) -> None:
        stepper = self._stepper
        if self._before is None or t > stepper.time(self._now.iteration):
            self._iterate_past(t)
        before, now = self._before, self._now
        assert before is not None
        share = (t - stepper.time(before.iteration)) / stepper.step
        common = before.common + share * (now.common - before.common)
        self._recorder.record(t, common, before.dual.z.towards(now.dual.z, share))

    def _iterate_past(self, t: float) -> None:
        """On to the first iteration after t, and keep the one before."""
        stepper, now = self._stepper, self._now
        if self._goal < 0:
            whole = int((t - stepper.time(now.iteration)) / stepper.step)
            self._goal = now.iteration + whole
        self._before = None
        while now.iteration < self._goal:
            stepper.advance(now, min(stepper.iterations_a_call, self._goal - now.iteration))
            self._tick()
        self._before = now.before()
        stepper.advance(now, 1)
        stepper.check_stability(now)
        self._goal = -1

    def _tick(self) -> None:
        if self._slot is not None:
            self._slot.tick(self._arrays)

    def _arrays(self) -> Arrays:
        return as_arrays(
            LbiState(
                step=self._stepper.step,
                first=self._first,
                goal=self._goal,
                n_evaluations=self._stepper.n_evaluations,
                entered=self._now.dual.entered,
                now=_moment(self._now),
                before=_moment(self._before),
                recorded=self._recorder.state(),
            )
        )

    def _restore(self, kept: LbiState) -> None:
        self._stepper.n_evaluations = kept.n_evaluations
        self._first, self._goal = kept.first, kept.goal
        self._now = _state(kept.now, kept.entered)
        self._before = _state(kept.before, kept.entered) if kept.before.iteration >= 0 else None
        self._recorder.restore(kept.recorded)
        passed = self._stepper.time(self._now.iteration) > self._first
        if passed and self._stepper.minimiser is None and kept.entered.min() > self._first:
            say_nobody_enters()


def _moment(state: State | None) -> Moment:
    if state is None:
        return Moment(-1, np.zeros(0), Personal(np.zeros(0), np.zeros((0, 0))))
    return Moment(state.iteration, state.common, state.dual.z)


def _state(moment: Moment, entered: Floats) -> State:
    return State(moment.common, Dual(moment.z, entered), moment.iteration)
