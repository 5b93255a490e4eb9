"""The votes as the weak part reads them, and the coefficients it has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from prefpath.model.design import (
    Design,
    Floats,
    Ints,
    Target,
    build_design,
    build_target,
    cell_starts_of,
)
from prefpath.model.losses import Loss
from prefpath.model.problem import Problem
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray


class Coefficients(NamedTuple):
    """All coefficients, or a number for each of them (a scale, a gradient).

    Without features `common` and `taste` are empty: scores and tastes are then `item` and
    `own` alone. With features they are linear in these, plus `item` and `own`.

    Attributes
    ----------
    common : array (n_features,)
        Of the common score.
    item : array (n_items,)
        Of the common score, beyond what features say.
    position : array (1,)
        Position effect that everybody shares.
    taste : array (n_annotators * n_features,)
    own : array (n_seen,)
        Taste of each annotator for each item they have seen, beyond what features say.
    lean, attention : array (n_annotators,)
    """

    common: Floats
    item: Floats
    position: Floats
    taste: Floats
    own: Floats
    lean: Floats
    attention: Floats

    def flat(self) -> Floats:
        """All in one array."""
        return np.concatenate(self)

    def like(self, flat: Floats) -> Coefficients:
        """The numbers of a flat array, in this shape."""
        ends = list(accumulate(len(part) for part in self))
        return Coefficients(*(flat[a:b] for a, b in zip([0, *ends], ends, strict=False)))


class Axes(NamedTuple):
    """Features turned to their principal axes: the same prior, and nearly separate effects."""

    middle: Floats
    turn: Floats

    @classmethod
    def of(cls, features: Floats) -> Axes:
        """Principal axes of the items' features."""
        middle = features.mean(axis=0)
        return cls(middle, np.linalg.svd(features - middle, full_matrices=False)[2].T.copy())

    def apply(self, features: Floats) -> Floats:
        """Features (of any items) on these axes."""
        turned: Floats = (features - self.middle) @ self.turn
        return np.ascontiguousarray(turned)


@dataclass(frozen=True, eq=False)
class Ballots:
    """Votes laid out for the kernels, features on their principal axes."""

    votes: Votes
    weight: Floats
    loss: Loss
    position_bias: bool
    common_position: bool
    axes: Axes | None
    cell_starts: Ints
    design: Design
    target: Target

    @classmethod
    def of(cls, problem: Problem, annotators: BoolArray | None = None) -> Ballots:
        """The votes of a problem, or of some of its annotators."""
        votes, weight = problem.votes, problem.weight
        if annotators is not None:
            rows = np.flatnonzero(annotators[votes.annotator])
            votes, weight = votes.take(rows), weight[rows]
        starts, design, target = _laid_out(problem, votes, weight)
        axes = None if problem.features is None else Axes.of(problem.features)
        if axes is not None and problem.features is not None:
            design = design._replace(features=axes.apply(problem.features))
        return cls(
            votes=votes,
            weight=weight,
            loss=problem.loss,
            position_bias=problem.position_bias,
            common_position=problem.common_position,
            axes=axes,
            cell_starts=starts,
            design=design,
            target=target,
        )

    def with_weight(self, weight: Floats) -> Ballots:
        """The same votes with other weights of their rows: a fold."""
        target = build_target(self.votes, self.cell_starts, weight)
        return replace(self, weight=weight, target=target)

    @cached_property
    def cell_of_row(self) -> Ints:
        """Cell of each row of the votes."""
        rows = np.arange(self.votes.n_rows)
        return np.searchsorted(self.cell_starts, rows, side="right") - 1

    @property
    def n_features(self) -> int:
        return self.design.features.shape[1]

    def zeros(self) -> Coefficients:
        """A coefficient of zero for everything."""
        n_annotators = self.votes.n_annotators
        sizes = (
            self.n_features,
            self.votes.n_items,
            1,
            n_annotators * self.n_features,
            int(self.design.seen[-1]),
            n_annotators,
            n_annotators,
        )
        return Coefficients(*(np.zeros(size) for size in sizes))


def _laid_out(problem: Problem, votes: Votes, weight: Floats) -> tuple[Ints, Design, Target]:
    """First rows of the cells, and the cells: the problem's own where these are the same."""
    starts = cell_starts_of(votes, merge_choices=problem.loss.affine_in_choice)
    whole = votes is problem.votes and weight is problem.weight and problem.features is None
    if whole and np.array_equal(starts, problem.cell_starts):
        return problem.cell_starts, problem.design, problem.target
    use_position = problem.position_bias or problem.common_position
    design = build_design(votes, starts, None, use_position=use_position)
    return starts, design, build_target(votes, starts, weight)
