"""Verdicts on annotators whose votes stayed on a cluster: tests run where the votes are.

Only numbers of annotators come to the driver, some tens each, and pooled counts; nobody's votes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefpath.diagnose.attention import Attention
from prefpath.diagnose.ballots import Ballots, PooledShape
from prefpath.diagnose.canonical import N_ROUNDS, Words, order_by_words, said_by_opponents
from prefpath.diagnose.consensus import Consensus
from prefpath.diagnose.crowd import CrowdHere
from prefpath.diagnose.diagnosis import Diagnosis, Judging, judge
from prefpath.diagnose.examined import Found, Question, Tested, VotesHere
from prefpath.diagnose.pvalues import Draws
from prefpath.diagnose.without_own import CommonMargins
from prefpath.distributed.numbering import Numbering
from prefpath.distributed.questions import Shards
from prefpath.distributed.remote import Layout
from prefpath.fitted import Fitted
from prefpath.model.design import Floats, Ints
from prefpath.model.scalar_losses import THURSTONE_MOSTELLER
from prefpath.votes.encode import BoolArray, Labels


class ByAnnotator(NamedTuple):
    """Of a shard's annotators: what tests said of them, and when they entered the path."""

    found: dict[str, Any]
    unlike: BoolArray
    entered: dict[str, Floats]


def _alone(draws: Draws) -> Draws:
    """A worker's threads take a shard each."""
    return replace(draws, n_threads=1)


def sketched(low: Floats, first_step: Floats) -> Attention:
    """Slopes of which the driver knows what decides on the lists; the rest stays on the workers."""
    nothing: Floats = np.zeros(0)
    return Attention(nothing, low, nothing, nothing, first_step, nothing, nothing.astype(bool))


class ShardCrowd(CrowdHere):
    """The annotators of a shard, on a worker."""

    def __init__(self, layout: Layout, fitted: Fitted) -> None:
        super().__init__(fitted)
        self._layout = layout

    @cached_property
    def _votes(self) -> VotesHere:
        problem = self._fitted.problem
        if self._layout.plain:
            return VotesHere(Ballots.of_wins(problem), 1)
        if not problem.votes.choice.any():  # nothing to test, and no error either
            return VotesHere(Ballots.without_trials(problem), 1)
        merged = self._layout.decisive_merged
        return VotesHere(Ballots.of_decisive(problem, merged=merged), 1)

    @property
    def _ballots(self) -> Ballots:
        return self._votes.ballots

    def count(self) -> tuple[Floats, Floats, Ints]:
        """Decisive and sided votes of each annotator, and the comparisons of all."""
        ballots = self._ballots
        return ballots.decisive, ballots.sided, ballots.pairs

    def words(self, word: Words) -> tuple[Words]:
        return (said_by_opponents(self._ballots.compared, word),)

    def order(self, word: Words) -> None:
        ballots = self._ballots
        known = order_by_words(ballots.design, ballots.compared, word)
        ballots.__dict__["draw_order"] = known  # everybody's votes tell the items apart

    def pooled(self, pairs: Ints, weight: Floats | None) -> tuple[Floats, Floats]:
        """Trials and wins of each of everybody's comparisons."""
        place, own = np.searchsorted(pairs, self._ballots.pairs), self._ballots.pooled(weight)
        trials, wins = np.zeros(len(pairs)), np.zeros(len(pairs))
        trials[place], wins[place] = own
        return trials, wins

    def leave_out(
        self, consensus: Consensus, spread: float | None, weight: Floats, chosen: BoolArray
    ) -> None:
        self._votes.leave_out(consensus, weight, chosen, spread)

    def slope_terms(
        self, slope: float, position: float, followers: BoolArray
    ) -> tuple[float, float]:
        return self._votes.slope_terms(slope, position, followers)

    def rescale(self, scale: float) -> None:
        self._votes.rescale(scale)

    def test(self, consensus: Consensus, draws: Draws, interval: bool, *own: BoolArray) -> Found:
        """P-values; of the slopes, which stay here, what decides on the lists."""
        aside, lean, taste = own
        asked = Question(consensus, _alone(draws), interval, aside, Tested(lean, taste))
        found = self._votes.test(asked)
        self._attention = found.attention
        return Found(found.p, sketched(found.attention.low, found.attention.first_step))

    def judge(self, asked: Judging, own: ByAnnotator) -> tuple[NDArray[np.int8], BoolArray]:
        """Verdicts on these annotators, which stay here; the words, and who is on the path."""
        found = asked.found
        if found is not None:
            found = replace(
                found,
                annotators=self._fitted.votes.annotators,
                attention=self._attention,
                margins=self._votes.margins,
                **own.found,
            )
        draws = _alone(asked.draws)
        own_part = asked._replace(found=found, unlike=own.unlike, entered=own.entered, draws=draws)
        self._diagnosis = judge(self._fitted, self, own_part)
        return self._diagnosis.words.astype(np.int8), self._diagnosis.on_path

    def rows(self, who: Ints) -> dict[str, Any]:
        return self._diagnosis.rows(who)

    def diagnosis(self) -> Diagnosis:
        """All that is known of these annotators, without their votes."""
        whole, nobody = self._diagnosis, self._fitted.votes.take(np.zeros(0, dtype=np.int64))
        return replace(whole, votes=nobody, discoveries=None)

    def attention(self) -> Attention:
        return self._attention


class VotesElsewhere:
    """`Examined` whose votes are in the shards."""

    def __init__(self, shards: Shards, fitted: Fitted, numbering: Numbering) -> None:
        self._shards, self._numbering = shards, numbering
        self.annotators: Labels = fitted.votes.annotators
        probit = fitted.loss.code == THURSTONE_MOSTELLER
        self.shape = PooledShape(fitted.votes.n_items, fitted.features, probit)
        counted = shards.ask("count")
        self.decisive: Floats = numbering.join([one[0] for one in counted])
        self.sided: Floats = numbering.join([one[1] for one in counted])
        self.pairs: Ints = np.unique(np.concatenate([one[2] for one in counted]))
        word = np.zeros(fitted.votes.n_items, dtype=np.uint64)
        for _ in range(N_ROUNDS):
            word = word + shards.total("words", word, n_numbers=len(word))[0]
        shards.tell_all("order", word)
        self.margins = CommonMargins(np.zeros(0), np.zeros(0), 1.0)

    def _each(self, *same: Any, by_annotator: Sequence[Any]) -> list[tuple[Any, ...]]:
        """What each shard is given: the same, and its own part of what is by annotator."""
        parts = zip(*map(self._numbering.split, by_annotator), strict=True)
        return [(*same, *own) for own in parts]

    def pooled(self, weight: Floats | None) -> tuple[Floats, Floats]:
        if weight is None:
            weight = np.ones(len(self.decisive))
        given = self._each(self.pairs, by_annotator=[weight])
        found = self._shards.ask_each("pooled", given)
        trials, wins = (np.add.reduce(part) for part in zip(*found, strict=True))
        return trials, wins

    def leave_out(
        self, consensus: Consensus, weight: Floats, chosen: BoolArray, spread: float | None
    ) -> None:
        given = self._each(consensus, spread, by_annotator=[weight, chosen])
        if spread is not None:  # all that was told of margins before is void
            self._shards.forget("leave_out", "rescale")
            self.margins = replace(self.margins, spread=spread)
        self._shards.tell("leave_out", given)

    def slope_terms(
        self, slope: float, position: float, followers: BoolArray
    ) -> tuple[float, float]:
        given = self._each(slope, position, by_annotator=[followers])
        found = self._shards.ask_each("slope_terms", given)
        return float(sum(one[0] for one in found)), float(sum(one[1] for one in found))

    def rescale(self, scale: float) -> None:
        self._shards.tell_all("rescale", scale)
        self.margins = replace(self.margins, spread=self.margins.spread * scale)

    def test(self, asked: Question) -> Found:
        *same, aside, tested = asked
        given = self._each(*same, by_annotator=[aside, *tested])
        # The last test is the one that verdicts are made of.
        ask = self._shards.tell if asked.interval else self._shards.ask_each
        found: list[Found] = ask("test", given)
        join = self._numbering.join
        p = {name: join([one.p[name] for one in found]) for name in found[0].p}
        low, first_step = (
            join([getattr(one.attention, name) for one in found]) for name in ("low", "first_step")
        )
        return Found(p, sketched(low, first_step))
