"""What is counted of verdicts and in which order they are shown, wherever the votes are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from prefpath.diagnose.headline import Headline
from prefpath.diagnose.reasons import CrowdFacts
from prefpath.diagnose.verdicts import RANKING_OTHERWISE, UNREMARKABLE, VERDICTS
from prefpath.errors import SettingError
from prefpath.model.design import Floats, Ints
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray, Labels


class CountedVerdicts(ABC):
    """Verdicts on all annotators."""

    votes: Votes
    t: float
    q: float
    entered: dict[str, Floats]
    crowd: CrowdFacts

    @property
    @abstractmethod
    def words(self) -> Ints:
        """Verdict of each annotator, as its place in `VERDICTS`."""

    @property
    @abstractmethod
    def on_path(self) -> BoolArray:
        """Who has a deviation or a position bias on the path at t."""

    @abstractmethod
    def rows(self, who: Ints) -> dict[str, Any]:
        """One row for each of some annotators, in the order given.

        Columns in which something may be unknown are lists with None, the others arrays.
        """

    @property
    def order(self) -> Ints:
        """Annotators, the first to enter the path first, then the busiest."""
        first = np.minimum.reduce(list(self.entered.values()))
        return np.lexsort((-self.votes.annotator_weight, first))

    @cached_property
    def standing_out_first(self) -> Ints:
        """Annotators, those with a verdict of note first, then who is on the path."""
        order = self.order
        calm = np.isin(self.words[order], [VERDICTS.index(word) for word in UNREMARKABLE])
        first: Ints = order[np.lexsort((~self.on_path[order], calm))]
        return first

    @property
    def counts(self) -> dict[str, int]:
        """How many annotators have each verdict; every word, in the order of `VERDICTS`."""
        counted = np.bincount(self.words, minlength=len(VERDICTS)).tolist()
        return dict(zip(VERDICTS, counted, strict=True))

    @cached_property
    def headline(self) -> Headline:
        """The one count that terminal, JSON and report show."""
        entered = {
            kind: int(np.count_nonzero(times <= self.t)) for kind, times in self.entered.items()
        }
        return Headline(self.counts, self.q, self.t, entered, self.crowd.common_first)

    def who(self, *words: str) -> Labels:
        """Labels of those with one of some verdicts, in the order of the table."""
        unknown = set(words) - set(VERDICTS)
        if unknown:
            raise SettingError(
                f"there is no verdict {sorted(unknown)[0]!r}", expected=" or ".join(VERDICTS)
            )
        wanted = np.isin(self.words, [VERDICTS.index(word) for word in words])
        return self.votes.annotators[self.order[wanted[self.order]]]

    @property
    def followers(self) -> Votes:
        """The votes of those whose choices are not shown to be unlike the common ranking.

        Fitted by themselves they give the ranking of those who follow, with its intervals. Who
        leans or sees sharper stays: they rank the items alike.
        """
        stays = ~np.isin(self.words, [VERDICTS.index(word) for word in RANKING_OTHERWISE])
        votes = self.votes.take(stays[self.votes.annotator])
        offsets = np.append(votes.offsets[:-1][stays], votes.offsets[-1])
        return replace(votes, annotators=votes.annotators[stays], offsets=offsets)

    def close(self) -> None:  # noqa: B027 - nothing is held where votes are on this machine
        """Let go of what is held elsewhere."""

    def of(self, annotator: Any) -> dict[str, Any]:
        """Everything about one annotator."""
        columns = self.rows(np.array([self.votes.annotator_code(annotator)]))
        return {name: _plain(values[0]) for name, values in columns.items()}

    def columns(self, first: int | None = None) -> dict[str, Any]:
        """One row for each annotator, or the `first` so many; those who stand out come first.

        Columns in which something may be unknown are lists with None, the others arrays.
        """
        return self.rows(self.order[:first])


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
