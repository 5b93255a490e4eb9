"""Decisive votes as trials and wins: what every test of an annotator reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from prefpath.diagnose.canonical import Compared, DrawOrder, draw_order
from prefpath.diagnose.streams import MOST_ONE_BY_ONE
from prefpath.errors import VoteError
from prefpath.machine import FEW_ROWS
from prefpath.model.design import Codes, Design, Floats, Ints
from prefpath.model.losses import Loss, as_loss
from prefpath.model.problem import Problem
from prefpath.model.scalar_losses import THURSTONE_MOSTELLER
from prefpath.pairs.keys import number_keys
from prefpath.votes import Votes
from prefpath.votes.segments import rows_of, sums_between
from prefpath.votes.trials import trials_of_rows

Kernel = Callable[..., Any]

# Numbers that stay in the cache from one step to the next. NumPy's exponential does several at
# once; `expit` takes one after another, three times as long.
_AT_ONCE = 1 << 14


class PooledShape(NamedTuple):
    """What a common model of pooled votes is: items, their features, and the shape of choices."""

    n_items: int
    features: Floats | None
    probit: bool


class Pooling(Protocol):
    """Decisive votes pooled over annotators."""

    @property
    def shape(self) -> PooledShape: ...
    @property
    def pairs(self) -> Ints:
        """Distinct comparisons in order: `(left * n_items + right) * 2 + is the side known`."""

    def pooled(self, weight: Floats | None) -> tuple[Floats, Floats]:
        """Trials and left wins of each comparison; `weight` is of the annotators."""


@dataclass(frozen=True, eq=False)
class Ballots:
    """Votes that chose a side, as wins of the left item in trials of each comparison.

    A tie says nothing about which item, or which side, is preferred: in Davidson's model the
    decisive votes given that they are decisive are Bradley-Terry votes, so ties are left out
    here without loss. A strength counts by its sign.

    Attributes
    ----------
    design : Design
        The comparisons (cells) of each annotator; several votes may share one.
    trials, wins : array (n_cells,)
        How often a comparison was decided, and how often for its left item.
    probit : bool
        Choices are normal (Thurstone-Mosteller) rather than logistic.
    """

    votes: Votes
    design: Design
    trials: Floats
    wins: Floats
    features: Floats | None
    probit: bool

    @classmethod
    def of(
        cls,
        votes: Votes,
        *,
        loss: str | Loss = "bradley-terry",
        features: Floats | None = None,
        use_position: bool = True,
        merged: bool | None = None,
    ) -> Ballots:
        """Ballots of the decisive votes; one vote of whole weight 2 is two votes.

        `merged` says whether wins and losses of one comparison share a cell, if that is known.
        """
        decisive = votes if votes.choice.all() else votes.without_ties()
        if decisive.n_rows == 0:
            raise VoteError(
                "every vote is a tie",
                expected="at least one vote that prefers an item",
                remedy="there is nothing to tell annotators apart by",
            )
        problem = Problem.build(
            _signed(decisive), loss="bradley-terry", features=features, position_bias=use_position
        )
        if merged is not None:
            problem = problem.with_cells(merged=merged)
        return cls._in(problem.with_weight(trials_of_rows(decisive)), decisive, as_loss(loss))

    @classmethod
    def of_problem(cls, problem: Problem) -> Ballots:
        """The same from the problem that was fitted, whose layout serves where it can."""
        plain = problem.loss.affine_in_choice and (np.abs(problem.votes.choice) == 1.0).all()
        return cls.of_wins(problem) if plain else cls.of_decisive(problem)

    @classmethod
    def of_wins(cls, problem: Problem) -> Ballots:
        """The same where every vote is a win or a loss."""
        votes = problem.votes
        return cls._in(problem.with_weight(trials_of_rows(votes)), votes, problem.loss)

    @classmethod
    def of_decisive(cls, problem: Problem, *, merged: bool | None = None) -> Ballots:
        """The same of the votes that decide something."""
        use_position = problem.position_bias or problem.common_position
        return cls.of(
            problem.votes,
            loss=problem.loss,
            features=problem.features,
            use_position=use_position,
            merged=merged,
        )

    @classmethod
    def without_trials(cls, problem: Problem) -> Ballots:
        """Ballots of votes that are all ties: no trial of any comparison."""
        nothing = problem.with_weight(np.zeros(problem.votes.n_rows))
        return cls._in(nothing, problem.votes, problem.loss)

    @classmethod
    def _in(cls, problem: Problem, votes: Votes, loss: Loss) -> Ballots:
        trials, wins = problem.target.weight, np.add(1.0, problem.target.choice)
        wins *= 0.5
        wins *= trials
        return cls(
            votes=votes,
            design=problem.design,
            trials=trials,
            wins=np.rint(wins, out=wins),
            features=problem.features,
            probit=loss.code == THURSTONE_MOSTELLER,
        )

    @property
    def n_annotators(self) -> int:
        return len(self.design.cells) - 1

    @property
    def shape(self) -> PooledShape:
        return PooledShape(self.votes.n_items, self.features, self.probit)

    @cached_property
    def _numbered(self) -> tuple[Ints, NDArray[np.uint32]]:
        n_items = self.votes.n_items
        key = (self.left.astype(np.int64) * n_items + self.right) * 2
        key += self.design.position
        return number_keys(key, 2 * n_items**2)

    @property
    def pairs(self) -> Ints:
        """Distinct comparisons, as `Pooling` has them."""
        return self._numbered[0]

    def pooled(self, weight: Floats | None = None) -> tuple[Floats, Floats]:
        """Trials and wins of each of them; `weight` is of the annotators."""
        trials, wins = self._pooled_by_all
        if weight is None:
            return trials.copy(), wins.copy()
        # Nearly everybody weighs 1: what the others weigh less is taken out.
        others = np.flatnonzero(weight != 1.0)
        cells = rows_of(self.design.cells, others)
        less = np.repeat(1.0 - weight[others], np.diff(self.design.cells)[others])
        place = self._numbered[1][cells]
        return (
            trials - np.bincount(place, less * self.trials[cells], len(trials)),
            wins - np.bincount(place, less * self.wins[cells], len(wins)),
        )

    @cached_property
    def _pooled_by_all(self) -> tuple[Floats, Floats]:
        distinct, place = self._numbered
        n = len(distinct)
        trials, wins = np.zeros(n), np.zeros(n)
        for start in range(0, len(place), max(n, _AT_ONCE)):  # places are widened for each sum
            part = slice(start, start + max(n, _AT_ONCE))
            at = place[part].astype(np.int64)
            trials += np.bincount(at, self.trials[part], n)
            wins += np.bincount(at, self.wins[part], n)
        return trials, wins

    @property
    def _cells_are_rows(self) -> bool:
        """No comparison was repeated: the cells are the rows of the votes, in their order."""
        return len(self.trials) == self.votes.n_rows

    @cached_property
    def annotator(self) -> Ints:
        """Annotator of each cell."""
        return np.repeat(np.arange(self.n_annotators), np.diff(self.design.cells))

    @cached_property
    def left(self) -> Codes:
        """Left item of each cell."""
        if self._cells_are_rows:
            return _read_only(self.votes.left.view())
        at = self.design.seen[self.annotator] + self.design.left_at
        return _read_only(self.design.seen_item[at])

    @cached_property
    def right(self) -> Codes:
        """Right item of each cell."""
        if self._cells_are_rows:
            return _read_only(self.votes.right.view())
        at = self.design.seen[self.annotator] + self.design.right_at
        return _read_only(self.design.seen_item[at])

    def sum_by_annotator(self, values: Floats) -> Floats:
        """Sum of a quantity of the cells over each annotator."""
        return sums_between(self.design.cells, values)

    @cached_property
    def decisive(self) -> Floats:
        """Decisive votes of each annotator."""
        return self.sum_by_annotator(self.trials)

    @cached_property
    def sided(self) -> Floats:
        """Decisive votes of each annotator whose sides are known and matter."""
        return self.sum_by_annotator(self.trials * self.design.position)

    @cached_property
    def draw_order(self) -> DrawOrder:
        """In which order draws are handed out: by what was voted, not by labels or rows."""
        return draw_order(self.design, self.compared)

    @property
    def compared(self) -> Compared:
        """The cells as the order of draws sees them."""
        return Compared(self.left, self.right, self.trials, self.wins)

    @cached_property
    def are_few(self) -> bool:
        """So few votes that NumPy tests everybody before kernels would have been compiled.

        Not where one comparison was decided so often that its draws take a varying part of a
        random stream.
        """
        often = self.trials.max(initial=0.0) > MOST_ONE_BY_ONE
        return not often and float(self.trials.sum()) <= FEW_ROWS

    def in_numpy_if_few(self, compiled: Kernel, in_numpy: Kernel) -> Kernel:
        """The one of two functions that test annotators, with the same numbers, to be called.

        The votes alone decide, so that results do not depend on what has been compiled.
        """
        return in_numpy if self.are_few else compiled

    def probability(self, margin: Floats, out: Floats | None = None) -> Floats:
        """Probability that the left item is chosen; of logistic choices in `out`, if given."""
        return probability(margin, self.probit, out)

    def slope(self, margin: Floats) -> Floats:
        """Derivative of the probability in the margin."""
        return self.slope_at(margin, self.probability(margin))

    def slope_at(self, margin: Floats, p: Floats, out: Floats | None = None) -> Floats:
        """The same where the probability is already known; of logistic choices in `out`."""
        return slope_of_probability(margin, p, self.probit, out)

    @cached_property
    def for_a_moment(self) -> Floats:
        """Room for a number of each cell, whoever needs it next: fresh memory takes its time."""
        return np.empty(len(self.trials))

    def margin(
        self, scores: Floats, lean: Floats | float = 0.0, out: Floats | None = None
    ) -> Floats:
        """Margin of each cell: a score for every item, and a lean for every annotator.

        Without a lean in `out`, if given.
        """
        apart: Floats = np.empty(len(self.left)) if out is None else out
        for start in range(0, len(apart), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            np.subtract(scores[self.left[part]], scores[self.right[part]], out=apart[part])
        return self.add_lean(apart, lean)

    def add_lean(self, margin: Floats, lean: Floats | float) -> Floats:
        """Margins with a lean for every annotator, or for everybody, where sides matter."""
        if isinstance(lean, np.ndarray):
            added = np.repeat(lean, np.diff(self.design.cells))
            added *= self.design.position
            added += margin
            return added
        return margin + self.design.position * lean if lean else margin


def _read_only(items: Codes) -> Codes:
    """Be they the votes' own or not: kernels are compiled for each of the two kinds."""
    items.setflags(write=False)
    return items


def _signed(votes: Votes) -> Votes:
    """The votes with strengths reduced to who was preferred."""
    if np.abs(votes.choice).max() == np.abs(votes.choice).min() == 1.0:
        return votes
    return replace(votes, choice=np.sign(votes.choice))


def probability(margin: Floats, probit: bool, out: Floats | None = None) -> Floats:
    """Probability that the left item is chosen; of logistic choices in `out`, if given."""
    if probit:
        normal: Floats = ndtr(margin)
        return normal
    result: Floats = np.empty(np.shape(margin)) if out is None else out
    flat, given = result.reshape(-1), np.asarray(margin).reshape(-1)
    with np.errstate(over="ignore"):
        for start in range(0, len(flat), _AT_ONCE):
            part = flat[start : start + _AT_ONCE]
            np.negative(given[start : start + _AT_ONCE], out=part)
            np.exp(part, out=part)
            part += 1.0
            np.reciprocal(part, out=part)
    return result


def slope_of_probability(
    margin: Floats, p: Floats, probit: bool, out: Floats | None = None
) -> Floats:
    """Derivative of the probability p in the margin; of logistic choices in `out`, if given."""
    if probit:
        density: Floats = np.exp(-0.5 * margin**2) / np.sqrt(2.0 * np.pi)
        return density
    result: Floats = np.empty(np.shape(p)) if out is None else out
    flat, given = result.reshape(-1), np.asarray(p).reshape(-1)
    for start in range(0, len(flat), _AT_ONCE):
        part = flat[start : start + _AT_ONCE]
        np.subtract(1.0, given[start : start + _AT_ONCE], out=part)
        part *= given[start : start + _AT_ONCE]
    return result
