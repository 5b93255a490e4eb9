"""A diagnosis whose rows stay on a cluster: words come to the driver, and rows that are asked for.

What is said of an annotator (some forty numbers and a sentence) is kept by the worker that has
their votes. The driver has p-values, on which the lists are cut, and one byte each for the verdict.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from prefpath.diagnose.attention import Attention
from prefpath.diagnose.counted import CountedVerdicts
from prefpath.diagnose.diagnosis import Diagnosis, Judging
from prefpath.diagnose.discoveries import Discoveries
from prefpath.diagnose.lean import Leans
from prefpath.diagnose.remote import ByAnnotator, ShardCrowd, VotesElsewhere, sketched
from prefpath.diagnose.tastes import Tastes
from prefpath.diagnose.verdicts import Measures
from prefpath.distributed.numbering import Numbering
from prefpath.distributed.questions import Shards
from prefpath.fitted import Fitted
from prefpath.fitted.remote import shards_of
from prefpath.model.design import Ints
from prefpath.votes.encode import BoolArray

# What discoveries have of each annotator, beside slopes and margins.
_LISTS = (
    "p_lean",
    "p_taste",
    "p_attention",
    "leaning",
    "deviating",
    "unlike_in_attention",
    "set_aside",
)


class CrowdElsewhere:
    """Annotators whose votes are in the shards."""

    def __init__(self, fitted: Fitted) -> None:
        assert fitted.remote is not None
        self._fitted, self._numbering = fitted, fitted.remote.numbering
        self._shards = shards_of(fitted, partial(ShardCrowd, fitted.remote.layout))

    def examined(self) -> VotesElsewhere:
        """Their votes, as the tests ask them."""
        return VotesElsewhere(self._shards, self._fitted, self._numbering)

    def judged(self, asked: Judging) -> DiagnosisElsewhere:
        """Verdicts on everybody, each where the votes are."""
        same = asked._replace(found=_of_all(asked.found), unlike=_NOBODY, entered={})
        told = [(same, own) for own in self._by_shard(asked)]
        return DiagnosisElsewhere(
            self._fitted, self._shards, asked, self._shards.tell("judge", told)
        )

    def _by_shard(self, asked: Judging) -> list[ByAnnotator]:
        split = self._numbering.split
        found = {} if asked.found is None else {k: split(getattr(asked.found, k)) for k in _LISTS}
        entered = {kind: split(times) for kind, times in asked.entered.items()}
        return [
            ByAnnotator(
                {name: parts[shard] for name, parts in found.items()},
                unlike,
                {kind: parts[shard] for kind, parts in entered.items()},
            )
            for shard, unlike in enumerate(split(asked.unlike))
        ]

    def close(self) -> None:
        self._shards.fleet.close()


_NOBODY: BoolArray = np.zeros(0, dtype=bool)


def _of_all(found: Discoveries | None) -> Discoveries | None:
    """What is the same for all shards."""
    if found is None:
        return None
    nothing: dict[str, Any] = dict.fromkeys(_LISTS, np.zeros(0))
    unknown = sketched(np.zeros(0), np.zeros(0))
    return replace(found, annotators=found.annotators[:0], attention=unknown, **nothing)


class DiagnosisElsewhere(CountedVerdicts):
    """`Diagnosis` whose rows are asked of the workers, until it is closed or forgotten."""

    def __init__(
        self,
        fitted: Fitted,
        shards: Shards,
        asked: Judging,
        told: Sequence[tuple[Ints, BoolArray]],
    ) -> None:
        assert fitted.remote is not None
        self.votes, self.t, self.q = fitted.votes, fitted.t, asked.q
        self.entered, self.crowd = asked.entered, asked.crowd
        self._fitted, self._shards, self._asked = fitted, shards, asked
        self._numbering: Numbering = fitted.remote.numbering
        self._words: Ints = self._numbering.join([one[0] for one in told])
        self._on_path: BoolArray = self._numbering.join([one[1] for one in told])
        weakref.finalize(self, shards.fleet.close_soon)

    @property
    def words(self) -> Ints:
        """Verdict of each annotator, as its place in `VERDICTS`."""
        return self._words

    @property
    def on_path(self) -> BoolArray:
        """Who has a deviation or a position bias on the path at t."""
        return self._on_path

    def rows(self, who: Ints) -> dict[str, Any]:
        """One row for each of some annotators, in the order given, from the workers."""
        asked: dict[int, Any] = {}
        places: list[Ints] = []
        for shard in range(len(self._shards)):
            numbers, at = self._numbering.within(shard, who)
            if len(numbers):
                asked[shard] = (numbers,)
                places.append(at)
        if not asked:  # columns without rows
            asked, places = {0: (who,)}, [who]
        found = self._shards.ask_some("rows", asked)
        order = np.argsort(np.concatenate(places), kind="stable")
        return {name: _united([one[name] for one in found], order) for name in found[0]}

    def whole(self) -> Diagnosis:
        """Everything known of everybody, here: some 700 bytes an annotator."""
        found: list[Diagnosis] = self._shards.ask("diagnosis")
        join = self._numbering.join
        discoveries = self._asked.found
        if discoveries is not None:
            attention = self._joined(Attention, self._shards.ask("attention"))
            discoveries = replace(discoveries, attention=attention)
        return Diagnosis(
            votes=self.votes,
            t=self.t,
            q=self.q,
            ties=join([one.ties for one in found]),
            entered=self.entered,
            position_bias=join([one.position_bias for one in found]),
            lean=self._joined(Leans, [one.lean for one in found]),
            tastes=self._joined(Tastes, [one.tastes for one in found]),
            measures=self._joined(Measures, [one.measures for one in found]),
            discoveries=discoveries,
            crowd=self.crowd,
        )

    def close(self) -> None:
        """Let the workers forget what they know of the annotators."""
        self._shards.fleet.close()

    def _joined(self, kind: Any, parts: Sequence[Any]) -> Any:
        """A dataclass of arrays by annotator, from those of the shards."""
        names = [field.name for field in fields(kind)]
        return kind(
            *(self._numbering.join([getattr(one, name) for one in parts]) for name in names)
        )


def _united(parts: Sequence[Any], order: Ints) -> Any:
    """A column from those of several shards, in another order."""
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)[order]
    together = list(chain.from_iterable(parts))
    return [together[k] for k in order]
