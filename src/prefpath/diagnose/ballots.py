"""Decisive votes as trials and wins: what every test of an annotator reads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import expit, ndtr

from prefpath.diagnose.canonical import DrawOrder, draw_order
from prefpath.errors import VoteError
from prefpath.model.design import Codes, Design, Floats, Ints
from prefpath.model.losses import Loss, as_loss
from prefpath.model.problem import Problem
from prefpath.model.scalar_losses import THURSTONE_MOSTELLER
from prefpath.votes import Votes
from prefpath.votes.trials import trials_of_rows


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
    ) -> Ballots:
        """Ballots of the decisive votes; one vote of whole weight 2 is two votes."""
        decisive = votes if votes.choice.all() else votes.without_ties()
        if decisive.n_rows == 0:
            raise VoteError(
                "every vote is a tie",
                expected="at least one vote that prefers an item",
                remedy="there is nothing to tell annotators apart by",
            )
        problem = Problem.build(
            _signed(decisive), loss="bradley-terry", features=features, position_bias=use_position
        ).with_weight(trials_of_rows(decisive))
        return cls._in(problem, decisive, as_loss(loss))

    @classmethod
    def of_problem(cls, problem: Problem) -> Ballots:
        """The same from the problem that was fitted, whose layout serves where it can."""
        votes = problem.votes
        if problem.loss.affine_in_choice and (np.abs(votes.choice) == 1.0).all():
            return cls._in(problem.with_weight(trials_of_rows(votes)), votes, problem.loss)
        use_position = problem.position_bias or problem.common_position
        return cls.of(
            votes, loss=problem.loss, features=problem.features, use_position=use_position
        )

    @classmethod
    def _in(cls, problem: Problem, votes: Votes, loss: Loss) -> Ballots:
        trials = problem.target.weight
        return cls(
            votes=votes,
            design=problem.design,
            trials=trials,
            wins=np.rint(trials * 0.5 * (1.0 + problem.target.choice)),
            features=problem.features,
            probit=loss.code == THURSTONE_MOSTELLER,
        )

    @property
    def n_annotators(self) -> int:
        return len(self.design.cells) - 1

    @cached_property
    def annotator(self) -> Ints:
        """Annotator of each cell."""
        return np.repeat(np.arange(self.n_annotators), np.diff(self.design.cells))

    @cached_property
    def left(self) -> Codes:
        """Left item of each cell."""
        return self.design.seen_item[self.design.seen[self.annotator] + self.design.left_at]

    @cached_property
    def right(self) -> Codes:
        """Right item of each cell."""
        return self.design.seen_item[self.design.seen[self.annotator] + self.design.right_at]

    def sum_by_annotator(self, values: Floats) -> Floats:
        """Sum of a quantity of the cells over each annotator."""
        total: Floats = np.zeros(self.n_annotators)
        total += np.bincount(self.annotator, values, self.n_annotators)
        return total

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
        return draw_order(self.design, self.left, self.right, self.trials, self.wins)

    def probability(self, margin: Floats) -> Floats:
        """Probability that the left item is chosen."""
        result: Floats = ndtr(margin) if self.probit else expit(margin)
        return result

    def slope(self, margin: Floats) -> Floats:
        """Derivative of the probability in the margin."""
        return self.slope_at(margin, self.probability(margin))

    def slope_at(self, margin: Floats, p: Floats) -> Floats:
        """The same where the probability is already known."""
        if self.probit:
            density: Floats = np.exp(-0.5 * margin**2) / np.sqrt(2.0 * np.pi)
            return density
        return p * (1.0 - p)

    def margin(self, scores: Floats, lean: Floats | float = 0.0) -> Floats:
        """Margin of each cell: a score for every item, and a lean for every annotator."""
        apart: Floats = scores[self.left] - scores[self.right]
        return self.add_lean(apart, lean)

    def add_lean(self, margin: Floats, lean: Floats | float) -> Floats:
        """Margins with a lean for every annotator, or for everybody, where sides matter."""
        if isinstance(lean, np.ndarray):
            own = np.repeat(lean, np.diff(self.design.cells))
            return margin + self.design.position * own
        return margin + self.design.position * lean if lean else margin


def _signed(votes: Votes) -> Votes:
    """The votes with strengths reduced to who was preferred."""
    if np.abs(votes.choice).max() == np.abs(votes.choice).min() == 1.0:
        return votes
    return replace(votes, choice=np.sign(votes.choice))
