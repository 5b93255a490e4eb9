"""The problem: votes, features, loss, penalty and kappa. Frozen; a solver only reads it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from prefpath.errors import VoteError
from prefpath.model.attention import (
    RELATIVE_THRESHOLD,
    PooledFit,
    PooledVotes,
    fit_pooled,
    pool_everybody,
)
from prefpath.model.design import (
    Design,
    Floats,
    Ints,
    Target,
    build_design,
    build_target,
    cell_starts_of,
    weighted_target,
)
from prefpath.model.losses import Loss, as_loss
from prefpath.model.penalties import Penalty, as_penalty
from prefpath.model.pool_index import PoolIndex, build_pool_index
from prefpath.settings import check_number
from prefpath.votes import Votes
from prefpath.votes.check import check_features

# Beyond, thresholds or steps are lost in the rounding of the others.
KAPPAS = 1e-9, 1e9


@dataclass
class _Shared:
    """What does not depend on the weights, built when first asked for and shared by all folds."""

    pool_index: PoolIndex | None = None


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise the mean loss of the votes along the path of a penalty.

    Attributes
    ----------
    attention : bool
        Whether annotators may see the common scores more or less sharply than the crowd:
        `(1 + sigma^u)(theta_i - theta_j)` (docs/attention.md).
    deviation_threshold, position_threshold, attention_threshold : array (n_annotators,)
        Where an annotator's dual variable leaves the ball: 1, or more for those who vote a
        lot if the penalty is balanced; attention's are a constant share of that.
    stands_for : array (n_annotators,) or None
        How many like them each annotator stands for in the common part, where only a sample of
        the annotators is followed; None where all are.
    """

    votes: Votes
    loss: Loss
    penalty: Penalty
    features: Floats | None
    position_bias: bool
    common_position: bool
    kappa: float
    cell_starts: Ints
    design: Design
    target: Target
    weight: Floats
    total_weight: float
    deviation_threshold: Floats
    position_threshold: Floats
    attention: bool
    attention_threshold: Floats
    stands_for: Floats | None = None
    _shared: _Shared = field(default_factory=_Shared, repr=False)

    @classmethod
    def build(
        cls,
        votes: Votes,
        *,
        loss: str | Loss = "bradley-terry",
        penalty: str | Penalty | None = None,
        features: ArrayLike | None = None,
        position_bias: bool = True,
        common_position: bool = False,
        kappa: float = 20.0,
        balance: bool = False,
        attention: bool = False,
    ) -> Problem:
        """Check the settings against the votes and lay the votes out for the kernels."""
        the_loss = as_loss(loss)
        the_penalty = as_penalty(penalty, has_features=features is not None)
        _check_choices_fit(votes, the_loss)
        _check_enough(votes)
        kappa = check_number("kappa", kappa, *KAPPAS)
        phi = None if features is None else check_features(features, votes.n_items)
        starts = cell_starts_of(votes, merge_choices=the_loss.affine_in_choice)
        design = build_design(votes, starts, phi, use_position=position_bias or common_position)
        threshold = _balanced(votes) if balance else np.ones(votes.n_annotators)
        return cls(
            votes=votes,
            loss=the_loss,
            penalty=the_penalty,
            features=phi,
            position_bias=position_bias,
            common_position=common_position,
            kappa=kappa,
            cell_starts=starts,
            design=design,
            target=build_target(votes, starts, votes.weight),
            weight=votes.weight,
            total_weight=votes.total_weight,
            deviation_threshold=threshold,
            position_threshold=threshold if position_bias else np.full_like(threshold, np.inf),
            attention=attention,
            attention_threshold=RELATIVE_THRESHOLD * threshold,
        )

    def with_weight(self, weight: Floats, stands_for: Floats | None = None) -> Problem:
        """The same problem with other weights of the votes' rows: a fold, a resample.

        With `stands_for` it is that of a sample of the annotators: to the common part each is
        as many as they stand for, and each moves and pops up as they would among all.
        """
        result = replace(
            self,
            weight=weight,
            target=build_target(self.votes, self.cell_starts, weight),
            stands_for=stands_for,
        )
        return replace(result, total_weight=float(result.common_weight.sum()))

    def with_cells(self, *, merged: bool) -> Problem:
        """The same problem where rows that differ in the choice alone share a cell, or do not."""
        votes = self.votes
        starts = cell_starts_of(votes, merge_choices=merged, always=True)
        if len(starts) == len(self.cell_starts):
            return self
        use_position = self.position_bias or self.common_position
        return replace(
            self,
            cell_starts=starts,
            design=build_design(votes, starts, self.features, use_position=use_position),
            target=build_target(votes, starts, self.weight),
            _shared=_Shared(),
        )

    def with_attention(self) -> Problem:
        """The same problem where annotators may see more or less sharply."""
        result = replace(self, attention=True)
        for known in ("pooled_votes", "pooled_fit"):  # of the same weights
            if known in self.__dict__:
                result.__dict__[known] = self.__dict__[known]
        return result

    @property
    def pool_index(self) -> PoolIndex:
        """The distinct pairs of the votes, numbered once for this problem and all its folds."""
        if self._shared.pool_index is None:
            self._shared.pool_index = build_pool_index(
                self.design,
                self.votes.n_items,
                self.loss,
                self.target.choice,
                with_sides=self.common_position,
            )
        return self._shared.pool_index

    @property
    def common_weight(self) -> Floats:
        """What the votes' rows weigh in the common part."""
        if self.stands_for is None:
            return self.weight
        return self.weight * np.repeat(self.stands_for, np.diff(self.votes.offsets))

    @cached_property
    def common_target(self) -> Target:
        """What the cells weigh in the common part, and their choices."""
        if self.stands_for is None:
            return self.target
        return weighted_target(self.target, np.repeat(self.stands_for, np.diff(self.design.cells)))

    @cached_property
    def pooled_votes(self) -> PooledVotes:
        """Everybody's votes by pair, with this problem's weights."""
        return pool_everybody(self.design, self.common_target, self.pool_index)

    @cached_property
    def pooled_fit(self) -> PooledFit:
        """One ranking of everybody's votes; of this problem's weights, a fold has its own."""
        return fit_pooled(self.pooled_votes, self.loss, self.votes.n_items, self.features)

    @property
    def attention_scale(self) -> float:
        """What a sigma of 1 is worth on the scale of a margin: `sigma = b / attention_scale`."""
        return self.pooled_fit.scale

    @property
    def n_scalars(self) -> int:
        """Sparse parameters of an annotator beside the deviation: position bias, attention."""
        return 2 if self.attention else 1

    @property
    def n_common(self) -> int:
        """Coefficients of the common score (without the common position effect)."""
        return self.votes.n_items if self.features is None else self.features.shape[1]

    def scores(self, common: Floats) -> Floats:
        """Common score of every item."""
        return common if self.features is None else self.features @ common

    def pull_back(self, item_gradient: Floats) -> Floats:
        """Gradient in the common coefficients from the gradient in the items' scores."""
        return item_gradient if self.features is None else self.features.T @ item_gradient


def _check_choices_fit(votes: Votes, loss: Loss) -> None:
    if loss.binary and votes.n_rows and np.abs(votes.choice).max() > 1.0:
        strongest = float(np.abs(votes.choice).max())
        raise VoteError(
            f"choices reach {strongest:g}, and {loss.name} knows only who won",
            expected="choices between -1 and 1",
            remedy='--loss linear (loss="linear") takes strengths; '
            '--grades weight (grades="weight") lets one of 3 weigh three times one of 1',
        )


def _check_enough(votes: Votes) -> None:
    if votes.n_rows == 0:
        raise VoteError("there are no votes", expected="at least one vote")
    if votes.total_weight <= 0:
        raise VoteError("every vote has weight 0", expected="at least one positive weight")
    if votes.n_items < 2:
        raise VoteError("there is only one item", expected="at least two items to compare")


def _balanced(votes: Votes) -> Floats:
    """Thresholds that grow with the root of the votes, 1 at the mean: what noise does to z."""
    activity = votes.annotator_weight
    present = activity[activity > 0]
    threshold = np.sqrt(activity / present.mean())
    return np.where(activity > 0, threshold, 1.0)
