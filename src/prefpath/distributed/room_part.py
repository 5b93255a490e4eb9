"""The waiting room of a shard, on a worker: it answers what the driver asks of who waits.

Calls are plain values. What a room is follows from its shard, from theta's history and from the
calls in their order, so that a new one is brought up to date by telling it all of them again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefpath.distributed.pooled import Survey, survey
from prefpath.distributed.scoring import Score, ShardScorer
from prefpath.distributed.settings import (
    FoldOf,
    Model,
    Totals,
    of_everybody,
    shard_problem,
)
from prefpath.model.design import Codes, Floats, Ints, Places
from prefpath.model.problem import Problem
from prefpath.solver.arguments import inputs_of
from prefpath.solver.executors import Serial
from prefpath.solver.room import Knot, Leavers, Moment, Sight, WaitingRoom
from prefpath.solver.waiting import GradientBounds, History

# How far ahead a room looks, in multiples of what it was asked.
_FACTORS = (1.25, 1.6, 2.0, 3.0, 5.0, 8.0, 13.0)


class AskSurvey(NamedTuple):
    """What are your votes, added up?"""


class Begin(NamedTuple):
    """What all shards are together: now you can wait."""

    totals: Totals


class News(NamedTuple):
    """Entries of theta's history from number `first` on."""

    first: int
    rows: History


class View(NamedTuple):
    """The path as a room is to see it: news of the history, its last entry, bounds that hold."""

    news: News | None
    now: int
    bounds: GradientBounds


class Tell(NamedTuple):
    """This is the path so far."""

    view: View


class AskSafe(NamedTuple):
    """Before when can nobody enter?"""

    bounds: GradientBounds


class Watch(NamedTuple):
    """Who may enter before a moment to come?"""

    view: View
    moment: Moment


class EndStep(NamedTuple):
    """Who has entered unpredicted in the last step?"""

    view: View
    moment: Moment


class Undo(NamedTuple):
    """Take the last step back, and bring these to where it began."""

    view: View
    over: Ints


class Leave(NamedTuple):
    """Let these go."""

    view: View
    who: Ints
    knot: Knot | None


class AskVotes(NamedTuple):
    """What are the votes of these, who have left?"""

    who: Ints


class AskRoster(NamedTuple):
    """Who are all of you?"""


class Seen(NamedTuple):
    """Who was found; whether anybody was looked at (else the room is as it was); how safe it is.

    `safe` is a factor: over so many times the stretch asked about, nobody else is suspected.
    """

    who: Ints
    looked: bool
    safe: float


class Roster(NamedTuple):
    """Labels and thresholds (a column for each effect) of a shard's annotators."""

    labels: NDArray[Any]
    threshold: Floats


class UnitVotes(NamedTuple):
    """All that the driver needs of an annotator who has left the room."""

    label: Any
    seen_item: Codes
    left_at: Places
    right_at: Places
    position: NDArray[np.int8]
    choice: Floats
    weight: Floats
    threshold: Floats
    share: float
    stands_for: float


class Left(NamedTuple):
    """Those who left a room, and their votes."""

    leavers: Leavers
    votes: list[UnitVotes]


@dataclass(frozen=True)
class RoomRecipe:
    """Makes the room of a shard."""

    folder: str
    model: Model
    fold: FoldOf
    criterion: str | None

    def __call__(self, shard: int) -> RoomPart:
        return RoomPart(self, shard)


class RoomPart:
    """The room of one shard, for a path or a fold of one."""

    def __init__(self, recipe: RoomRecipe, shard: int) -> None:
        self._recipe, self._shard = recipe, shard
        self._model = recipe.model
        self._alone: Problem = shard_problem(recipe.model, recipe.folder, shard, recipe.fold)
        self._room: WaitingRoom | None = None
        self._history: History | None = None
        self._scorer: ShardScorer | None = None

    def answer(self, call: Any) -> Any:
        """Answer a call; None asks nothing."""
        if call is None:
            return None
        return _ANSWERS[type(call)](self, call)

    @property
    def room(self) -> WaitingRoom:
        if self._room is None:
            raise RuntimeError("this room was asked before it began")
        return self._room

    def survey(self, _: AskSurvey) -> Survey:
        return survey(self._alone)

    def begin(self, call: Begin) -> None:
        problem = of_everybody(self._alone, self._model, call.totals)
        self._room = WaitingRoom(problem, inputs_of(problem), Serial(), call.totals.n_cells)
        if self._recipe.criterion is not None:
            held_out = self._recipe.fold, self._recipe.criterion
            self._scorer = ShardScorer(problem, self._shard, *held_out)

    def safe(self, call: AskSafe) -> float:
        return self.room.nobody_enters_before(call.bounds)

    def tell(self, call: Tell) -> None:
        self._see(call.view)

    def watch(self, call: Watch) -> Seen:
        sight, before = self._see(call.view), self.room.cells_read
        who = self.room.about_to_enter(sight, call.moment)
        safe = safe_factor(self.room, sight, call.moment, len(who))
        return Seen(who, self.room.cells_read > before, safe)

    def end_step(self, call: EndStep) -> Seen:
        sight, before = self._see(call.view), self.room.cells_read
        who = self.room.end_step(sight, call.moment)
        return Seen(who, self.room.cells_read > before, 1.0)

    def undo(self, call: Undo) -> None:
        self.room.undo_step(self._see(call.view), call.over)

    def leave(self, call: Leave) -> Left:
        leavers = self.room.leave(self._see(call.view), call.who, call.knot)
        return Left(leavers, self.votes_of(AskVotes(call.who)))

    def votes_of(self, call: AskVotes) -> list[UnitVotes]:
        return [self._votes_of(int(u)) for u in call.who]

    def roster(self, _: AskRoster) -> Roster:
        return Roster(self._alone.votes.annotators, self.room.inputs.terms.threshold)

    def score(self, call: Score) -> Any:
        assert self._scorer is not None
        return self._scorer.score(call)

    def _votes_of(self, u: int) -> UnitVotes:
        room = self.room
        design, target = room.problem.design, room.problem.target
        seen = slice(int(design.seen[u]), int(design.seen[u + 1]))
        cells = slice(int(design.cells[u]), int(design.cells[u + 1]))
        return UnitVotes(
            label=self._alone.votes.annotators[u],
            seen_item=design.seen_item[seen],
            left_at=design.left_at[cells],
            right_at=design.right_at[cells],
            position=design.position[cells],
            choice=target.choice[cells],
            weight=target.weight[cells],
            threshold=room.inputs.terms.threshold[u],
            share=float(room.waiting.share[u]),
            stands_for=float(room.inputs.terms.stands_for[u]),
        )

    def _see(self, view: View) -> Sight:
        if view.news is not None:
            self._history = _with_news(self._history, view.news)
        if self._history is None or view.now >= len(self._history.time):
            raise RuntimeError("this room has missed a part of the path")
        return Sight(self._history, view.now, view.bounds)


def safe_factor(room: WaitingRoom, sight: Sight, moment: Moment, n_found: int) -> float:
    """The largest factor of the stretch from now to a moment over which nobody else is suspected.

    Bounds only grow with time and with what theta moves, so that until then nobody need ask.
    """
    now = Moment(*(float(part[sight.now]) for part in clocks(sight.history)))
    safe = 1.0
    for factor in _FACTORS:
        later = Moment(*(a + factor * (b - a) for a, b in zip(now, moment, strict=True)))
        if len(room.suspects(sight, later)) > n_found:
            break
        safe = factor
    return safe


def clocks(history: History) -> tuple[Floats, Floats, Floats]:
    return history.time, history.drift, history.travel


_ANSWERS: dict[type, Any] = {
    AskSurvey: RoomPart.survey,
    Begin: RoomPart.begin,
    Tell: RoomPart.tell,
    AskSafe: RoomPart.safe,
    Watch: RoomPart.watch,
    EndStep: RoomPart.end_step,
    Undo: RoomPart.undo,
    Leave: RoomPart.leave,
    AskVotes: RoomPart.votes_of,
    AskRoster: RoomPart.roster,
    Score: RoomPart.score,
}


def _with_news(history: History | None, news: News) -> History:
    """The history with entries written, in arrays with room for more."""
    last = news.first + len(news.rows.time)
    if history is None:
        history = History(*(np.zeros((0, *part.shape[1:])) for part in news.rows))
    if last > len(history.time):
        room = max(256, 2 * last)
        history = History(*(_longer(part, room) for part in history))
    for kept, new in zip(history, news.rows, strict=True):
        kept[news.first : last] = new
    return history


def _longer(values: Floats, room: int) -> Floats:
    return np.concatenate((values, np.zeros((room - len(values), *values.shape[1:]))))
