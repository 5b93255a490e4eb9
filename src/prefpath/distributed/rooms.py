"""All rooms of a crowd on a cluster, as one: every question is a round."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from prefpath.distributed.fleet import Fleet
from prefpath.distributed.pooled import Everybody, unite
from prefpath.distributed.room_part import (
    AskRoster,
    AskSafe,
    AskSurvey,
    AskVotes,
    Begin,
    EndStep,
    Leave,
    Left,
    News,
    RoomRecipe,
    Roster,
    Seen,
    Tell,
    Undo,
    UnitVotes,
    View,
    Watch,
    clocks,
)
from prefpath.distributed.shards import ShardedVotes
from prefpath.model.design import Floats, Ints
from prefpath.solver.room import Knot, Leavers, Moment, Sight
from prefpath.solver.waiting import GradientBounds, History


class ClusterRooms:
    """`Rooms` whose annotators have numbers across shards: `first[shard] + number within`.

    `calls` are all that changed the rooms, in order: their story. The story of a step that was
    taken back is what it left behind, the refresh of those who stopped it.
    """

    def __init__(self, client: Any, sharded: ShardedVotes, recipe: RoomRecipe) -> None:
        self.fleet = Fleet(client, len(sharded), recipe, self._story)
        self.first = sharded.first
        self.calls: list[Any] = []
        self.left: list[UnitVotes] = []
        self._sight: Sight | None = None
        self._told = 0
        self._safe: tuple[Moment, GradientBounds] | None = None
        self._begun: Begin | None = None
        self._whole: tuple[Sight, Tell] | None = None
        surveys = self.fleet.ask(AskSurvey())
        self.everybody: Everybody = unite(surveys, recipe.model, len(sharded.items))
        begin = Begin(self.everybody.totals)
        self.fleet.ask(begin)
        self._begun = begin

    def nobody_enters_before(self, bounds: GradientBounds) -> float:
        """Time before which no annotator can pop up, however they vote."""
        return float(min(self.fleet.ask(AskSafe(bounds))))

    def about_to_enter(self, sight: Sight, moment: Moment) -> Ints:
        """Who may pop up before a moment to come."""
        if self._is_safe(sight, moment):
            return _NOBODY
        found: list[Seen] = self.fleet.ask(Watch(self._view(sight), moment))
        self._note_if_looked(Watch(self._view_again(sight), moment), found)
        factor = min(one.safe for one in found)
        start = Moment(*(float(part[sight.now]) for part in clocks(sight.history)))
        ahead = Moment(*(a + factor * (b - a) for a, b in zip(start, moment, strict=True)))
        self._safe = (ahead, sight.bounds)
        return self._numbers([one.who for one in found])

    def end_step(self, sight: Sight, moment: Moment) -> Ints:
        """Who has popped up unpredicted in the last step."""
        if self._is_safe(sight, moment):
            return _NOBODY
        found: list[Seen] = self.fleet.ask(EndStep(self._view(sight), moment))
        if self._note_if_looked(EndStep(self._view_again(sight), moment), found):
            self._safe = None
        return self._numbers([one.who for one in found])

    def _is_safe(self, sight: Sight, moment: Moment) -> bool:
        """Whether rooms have said already that nobody will be suspected then."""
        if self._safe is None:
            return False
        ahead, bounds = self._safe
        pairs: Iterable[tuple[Any, Any]] = zip(bounds, sight.bounds, strict=True)
        same = all(np.array_equal(a, b) for a, b in pairs)
        return same and all(a <= b for a, b in zip(moment, ahead, strict=True))

    def _note_if_looked(self, call: Any, found: list[Seen]) -> bool:
        """Keep a call for the story, if it changed a room."""
        if any(one.looked for one in found):
            self.calls.append(call)
            return True
        return False

    def undo_step(self, sight: Sight, over: Ints) -> None:
        """Take the last step back, and bring those who popped up in it to where it began."""
        self.calls.pop()  # the end of the step: somebody was found in it, so it was kept
        self._safe = None
        self._told = min(self._told, sight.now + 1)
        view = self._view(sight)
        by_shard = self._by_shard(over)
        self.fleet.ask_some({s: Undo(view, who) for s, who in enumerate(by_shard)})
        self.calls.append([Undo(self._view_again(sight), who) for who in by_shard])

    def leave(self, sight: Sight, who: Ints, knot: Knot | None) -> Leavers:
        """Let annotators go, in the order of their labels; `left` are then their votes."""
        view, by_shard = self._view(sight), self._by_shard(who)
        calls = [Leave(view, own, knot) for own in by_shard]
        found: list[Left] = self.fleet.ask_some(dict(enumerate(calls)))
        self.calls.append([Leave(self._view_again(sight), own, None) for own in by_shard])
        votes = [unit for one in found for unit in one.votes]
        order = sorted(range(len(votes)), key=lambda k: votes[k].label)
        self.left = [votes[k] for k in order]
        numbers = np.concatenate(
            [self.first[s] + one.leavers.who for s, one in enumerate(found)]
        ).astype(np.int64)
        return Leavers(
            numbers[order],
            _in_order([unit for one in found for unit in one.leavers.units], order),
            _in_order([unit for one in found for unit in one.leavers.at_knot], order),
        )

    def votes_of(self, who: Ints) -> list[UnitVotes]:
        """The votes of annotators who have left, in the order given."""
        shard = np.searchsorted(self.first, who, side="right") - 1
        order = np.argsort(shard, kind="stable")
        calls = {int(s): AskVotes((who - self.first[s])[shard == s]) for s in np.unique(shard)}
        found = [unit for answer in self.fleet.ask_some(calls) for unit in answer]
        result: list[Any] = [None] * len(who)
        for place, unit in zip(order.tolist(), found, strict=True):
            result[place] = unit
        return result

    def rosters(self) -> list[Roster]:
        """Labels and thresholds of everybody, shard by shard."""
        return self.fleet.ask(AskRoster())

    def restore(self, calls: list[Any], sight: Sight) -> None:
        """Go on from a story: every room is made anew when it is next asked."""
        self.calls, self._sight, self._told, self._safe = calls, sight, sight.now + 1, None
        self.fleet.begin_anew()

    def close(self) -> None:
        """Let the workers forget these rooms."""
        self.fleet.close()

    # ---------------------------------------------------------------- what rooms are told

    def _view(self, sight: Sight) -> View:
        """The path as it is now, with what rooms have not heard of it."""
        self._sight = sight
        first, last = min(self._told, sight.now), sight.now + 1
        rows = History(*(part[first:last] for part in sight.history))
        self._told = last
        return View(News(first, rows), sight.now, sight.bounds)

    def _view_again(self, sight: Sight) -> View:
        """The same for the story, which begins with the whole history."""
        return View(None, sight.now, sight.bounds)

    def _story(self, shard: int) -> Sequence[Any]:
        """What brings a new room of a shard to where the others are."""
        if self._begun is None:
            return []
        own = [call[shard] if isinstance(call, list) else call for call in self.calls]
        if self._sight is None:
            return [self._begun, *own]
        return [self._begun, self._tell_all(self._sight), *own]

    def _tell_all(self, sight: Sight) -> Tell:
        """The whole history, one value for all shards: it is sent once to each worker."""
        if self._whole is None or self._whole[0] is not sight:
            rows = History(*(part[: sight.now + 1] for part in sight.history))
            self._whole = sight, Tell(View(News(0, rows), sight.now, sight.bounds))
        return self._whole[1]

    # ---------------------------------------------------------------- numbers

    def _numbers(self, found: list[Ints]) -> Ints:
        return np.concatenate([self.first[s] + who for s, who in enumerate(found)]).astype(np.int64)

    def _by_shard(self, who: Ints) -> list[Ints]:
        ends = np.searchsorted(np.sort(who), self.first)
        ordered = np.sort(who)
        return [ordered[ends[s] : ends[s + 1]] - self.first[s] for s in range(len(self.first) - 1)]


_NOBODY = np.zeros(0, dtype=np.int64)


def _in_order(values: list[Floats], order: list[int]) -> list[Floats]:
    return [values[k] for k in order] if values else []
