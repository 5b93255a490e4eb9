"""The room in which annotators wait: who may pop up, and what those who leave take with them.

A room knows the votes of its annotators and what `waiting` keeps of each; of the path it is told
the history of theta alone. One room holds everybody on one machine; on a cluster each shard of the
annotators has its own, and the same questions are put to all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from prefpath.model.design import Floats, Ints
from prefpath.model.problem import Problem
from prefpath.solver.arguments import Inputs, Scratch, make_scratch
from prefpath.solver.executors import Serial, Threads, split_annotators
from prefpath.solver.small import is_small
from prefpath.solver.small_waiting import SmallRoom
from prefpath.solver.small_waiting import find_suspects as find_few_suspects
from prefpath.solver.state import WaitingState
from prefpath.solver.waiting import (
    GradientBounds,
    History,
    Waiting,
    find_suspects,
    make_waiting,
    refresh,
    surely_waiting_until,
)

# Cells from which a pass is worth sharing out: about a millisecond, ten times what the calls cost.
_LARGE = 200_000
# An annotator may have passed the threshold by this much unnoticed before a step is redone.
_OVERSHOOT = 1e-3


class Sight(NamedTuple):
    """What a room sees of the path: theta's history up to entry `now`, and bounds that hold."""

    history: History
    now: int
    bounds: GradientBounds


class Moment(NamedTuple):
    """A time, and how far theta has (or will have) moved by then."""

    time: float
    drift: float
    travel: float


class Knot(NamedTuple):
    """The last knot: its time, the integral of theta up to it, and (with attention) theta."""

    time: float
    integral: Floats
    theta: Floats


class Leavers(NamedTuple):
    """Those who leave: z of each as y holds it, now and (if asked for) at the last knot."""

    who: Ints
    units: list[Floats]
    at_knot: list[Floats]


class Rooms(Protocol):
    """All rooms of a crowd, as the crowd speaks to them."""

    def nobody_enters_before(self, bounds: GradientBounds) -> float: ...

    def about_to_enter(self, sight: Sight, moment: Moment) -> Ints: ...

    def end_step(self, sight: Sight, moment: Moment) -> Ints: ...

    def undo_step(self, sight: Sight, over: Ints) -> None: ...

    def leave(self, sight: Sight, who: Ints, knot: Knot | None) -> Leavers: ...


class WaitingRoom:
    """The annotators of one problem (of a shard, or all) who wait."""

    def __init__(
        self,
        problem: Problem,
        inputs: Inputs,
        executor: Serial | Threads,
        n_cells: int | None = None,
    ) -> None:
        self.problem, self.inputs, self.executor = problem, inputs, executor
        self.waiting: Waiting = make_waiting(problem)
        self.cells_read = 0
        self._small = SmallRoom(problem, inputs) if is_small(problem, n_cells) else None
        self._scratch = [make_scratch(problem, with_items=False)]
        self._undo: Callable[[], None] | None = None

    def nobody_enters_before(self, bounds: GradientBounds) -> float:
        """Time before which no annotator can pop up, however they vote."""
        return surely_waiting_until(self.waiting.share, self.inputs.terms, bounds)

    def about_to_enter(self, sight: Sight, moment: Moment) -> Ints:
        """Who may pop up before a moment to come."""
        suspects = self.suspects(sight, moment)
        if not len(suspects):
            return suspects
        self.refresh(sight, suspects)
        return self.suspects(sight, moment)

    def end_step(self, sight: Sight, moment: Moment) -> Ints:
        """Who has popped up unpredicted in the step that history has just noted."""
        self._undo = None
        suspects = self.suspects(sight, moment)
        if not len(suspects):
            return suspects
        saved = self._save(suspects)
        self._undo = lambda: self._restore(suspects, saved)
        self.refresh(sight, suspects)
        return self._over_threshold(suspects)

    def undo_step(self, sight: Sight, over: Ints) -> None:
        """Take the last step back, and bring those who popped up in it to where it began."""
        if self._undo is not None:
            self._undo()
            self._undo = None
        self.refresh(sight, over)

    def leave(self, sight: Sight, who: Ints, knot: Knot | None) -> Leavers:
        """Let annotators go, brought up to the present; `knot` asks for their z there, too."""
        self.refresh(sight, who)
        at_knot = [] if knot is None else self._at_knot(sight, who, knot)
        self.waiting.waits[who] = 0
        return Leavers(who, [self._unit(int(u)) for u in who], at_knot)

    def suspects(self, sight: Sight, moment: Moment) -> Ints:
        """Who may have popped up at a moment."""
        find = find_suspects if self._small is None else find_few_suspects
        return find(self.waiting, sight.history, self.inputs.terms, sight.bounds, *moment)

    def refresh(self, sight: Sight, who: Ints) -> None:
        """Bring z of some waiting annotators up to the present."""
        if self._small is not None:
            self.cells_read += self._small.refresh(who, self.waiting, *sight)
            return
        shards = (
            split_annotators(self.problem.design.cells, who) if is_large(self.problem) else [who]
        )
        scratch = self._scratch_for(len(shards))

        def refresh_shard(k: int) -> int:
            history, now, bounds = sight
            return refresh(shards[k], self.waiting, history, now, self.inputs, bounds, scratch[k])

        self.cells_read += sum(self.executor.map(refresh_shard, range(len(shards))))

    def state(self) -> WaitingState:
        """What is known of who waits, as plain arrays."""
        known = self.waiting._asdict()
        return WaitingState(**{name: known[name].copy() for name in WaitingState._fields})

    def restore(self, state: WaitingState) -> None:
        """Go on from a state of the same problem."""
        known = {name: part.copy() for name, part in state._asdict().items()}
        self.waiting = self.waiting._replace(**known)

    def _scratch_for(self, n_shards: int) -> list[Scratch]:
        while len(self._scratch) < n_shards:
            self._scratch.append(make_scratch(self.problem, with_items=False))
        return self._scratch

    def _over_threshold(self, who: Ints) -> Ints:
        threshold = self.inputs.terms.threshold[who] * (1 + _OVERSHOOT)
        return who[(self.waiting.norm[who] > threshold).any(axis=1)]

    def _unit(self, u: int) -> Floats:
        """z of a waiting annotator as y holds it: block, then scalars."""
        blocks, z = self.problem.design.blocks, self.waiting.z
        return np.concatenate((z.block[blocks[u] : blocks[u + 1]], z.scalar[u]))

    def _at_knot(self, sight: Sight, who: Ints, knot: Knot) -> list[Floats]:
        """What z of annotators who are up to date was at the last knot."""
        history, now = sight.history, sight.now
        time = history.time[now]
        if time - knot.time <= 1e-12 * time:
            return [self._unit(int(u)) for u in who]
        span = History(
            np.array([knot.time, time]),
            np.stack((knot.integral, history.integral[now])),
            np.stack((knot.theta, history.theta[now])),
            np.zeros(2),
            np.zeros(2),
        )
        units = [self._unit(int(u)) for u in who]
        return [z - moved for z, moved in zip(units, self._moves(sight, who, span), strict=True)]

    def _moves(self, sight: Sight, who: Ints, span: History) -> list[Floats]:
        """How far z of annotators goes over a span of two moments."""
        if self._small is not None:
            length = span.time[1] - span.time[0]
            return [length * self._small.slope_of(int(u), span) for u in who]
        saved, waiting, blocks = self._save(who), self.waiting, self.problem.design.blocks
        waiting.since[who], waiting.z.scalar[who] = 0, 0.0
        for u in who:
            waiting.z.block[blocks[u] : blocks[u + 1]] = 0.0
        refresh(who, waiting, span, 1, self.inputs, sight.bounds, self._scratch[0])
        moves = [self._unit(int(u)) for u in who]
        self._restore(who, saved)
        return moves

    def _save(self, who: Ints) -> list[Any]:
        blocks, z = self.problem.design.blocks, self.waiting.z.block
        kept = [part[who] for part in self._by_annotator()]
        return [*kept, *(z[blocks[u] : blocks[u + 1]].copy() for u in who)]

    def _restore(self, who: Ints, saved: Iterable[Any]) -> None:
        blocks, parts, saved = self.problem.design.blocks, self._by_annotator(), list(saved)
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
