"""`Fitted`: votes, path and chosen time, frozen, with one answer to each question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy import sparse

from prefpath.comparisons import LabelledComparisons, margins_at
from prefpath.errors import SettingError
from prefpath.fitted.held_out import HeldOutCurve, HeldOutError, held_out_curve
from prefpath.fitted.ranks import order_within, rank_within
from prefpath.model.design import Floats, Ints
from prefpath.model.features import ItemFeatures
from prefpath.model.losses import Loss
from prefpath.model.problem import Problem
from prefpath.model.standardised import StandardisedFeatures
from prefpath.pairs import Placing, bounded_items, pool_votes
from prefpath.path import Path
from prefpath.selection.cross_validation import CrossValidation
from prefpath.solver.work import Common
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray, CodeArray
from prefpath.votes.graph import connected_components

if TYPE_CHECKING:
    from prefpath.distributed.remote import RemoteFit


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit knows, at the time it stopped.

    Attributes
    ----------
    problem : Problem
        Votes, loss, penalty and features, laid out for the kernels.
    path : Path
    t : float
        The time at which everything is said.
    component : array (n_items,)
        Group of each item; scores and ranks are comparable within one. 0 is the largest.
    cross_validation : CrossValidation or None
    item_features : ItemFeatures or None
        As the problem has them, standardised or not; may know items nobody has compared.
    balanced : bool
        Whether the penalty grew with an annotator's activity.
    common : {"flow", "minimise"}
        How the common score moved along the path.
    seed : int or None
        Of folds, draws and resamples.
    n_threads : int or None
        One for each processor if None.
    settings : mapping
        What was asked for, to be shown beside results.
    remote : RemoteFit or None
        Where the votes are, if they stayed on a cluster; `votes` are then `RemoteVotes`.

    Examples
    --------
    >>> from prefpath import fit_path, simulate_crowd
    >>> votes = simulate_crowd(500, 10, 4, seed=0).votes
    >>> problem = Problem.build(votes)
    >>> fitted = Fitted.of(problem, fit_path(votes, n_times=5, t_ratio=5.0))
    >>> sorted(fitted.ranks.tolist())
    [1, 2, 3, 4]
    >>> bool(fitted.at(fitted.path.times[0]).t < fitted.t)
    True
    """

    problem: Problem
    path: Path
    t: float
    component: CodeArray
    cross_validation: CrossValidation | None = None
    item_features: ItemFeatures | None = None
    balanced: bool = False
    common: Common = "flow"
    seed: int | None = 0
    n_threads: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    remote: RemoteFit | None = None

    @classmethod
    def of(cls, problem: Problem, path: Path, t: float | None = None, **more: Any) -> Fitted:
        """A path of a problem at time t, or where the path ends; `more` as in the attributes."""
        component = connected_components(problem.votes)
        end = float(path.times[-1])
        return cls(problem, path, end if t is None else float(t), component, **more)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.t) and self.t > 0):
            raise SettingError(f"t is {self.t}", expected="a time above 0")

    def at(self, t: float) -> Fitted:
        """The same fit at another time."""
        return replace(self, t=float(t))

    @property
    def votes(self) -> Votes:
        return self.problem.votes

    @property
    def loss(self) -> Loss:
        return self.problem.loss

    @property
    def features(self) -> Floats | None:
        """Features of the compared items, in the order of `votes.items`."""
        return self.problem.features

    @property
    def given_features(self) -> ItemFeatures | None:
        """Features of items as the user gave them."""
        known = self.item_features
        return known.given if isinstance(known, StandardisedFeatures) else known

    @property
    def use_position(self) -> bool:
        """Whether anybody, or everybody together, may lean to one side."""
        return self.problem.position_bias or self.problem.common_position

    @cached_property
    def n_present(self) -> int:
        """Annotators who have votes."""
        return int(np.count_nonzero(self.votes.annotator_count))

    @property
    def n_components(self) -> int:
        return int(self.component.max()) + 1

    # ------------------------------------------------------------ the state at time t

    @cached_property
    def scores(self) -> Floats:
        """Common score of every item."""
        return self.path.scores(self.t)

    @cached_property
    def deviation(self) -> sparse.csr_matrix:
        """Deviation of every annotator: sparse, n_annotators x coefficients."""
        return self.path.deviation(self.t)

    @cached_property
    def position_bias(self) -> Floats:
        """Position bias of every annotator; above 0 leans left."""
        return self.path.position_bias(self.t)

    @cached_property
    def attention(self) -> Floats:
        """Attention sigma of every annotator: they see `1 + sigma` times the common scores."""
        return self.path.attention(self.t)

    @property
    def common_position(self) -> float:
        """Position effect that everybody shares; 0 where it was not asked for."""
        return self.path.common_position_at(self.t)

    @cached_property
    def active_count(self) -> tuple[int, int]:
        """Annotators with a deviation and with a position bias."""
        return self.path.active_count(self.t)

    def own_scores(self, code: int) -> Floats:
        """What one annotator (by code) adds to the common scores: attention and deviation."""
        own = np.asarray(self.deviation[code].todense()).ravel()
        taste = own if self.features is None else np.dot(self.features, own)
        return taste + self.attention[code] * self.scores

    def personal_scores(self, annotator: Any) -> Floats:
        """Scores one annotator (by label) gives to every item: `(1 + sigma)` common + deviation."""
        return self.scores + self.own_scores(self.votes.annotator_code(annotator))

    def coefficient_columns(self, annotator: Any = None) -> dict[str, Any]:
        """Features and their coefficients, for features as given; of everybody, or of one."""
        given = self.given_features
        if given is None or self.item_features is None:
            raise SettingError(
                "there are no coefficients: the model was fitted without features",
                expected="a model fitted with features=...",
            )
        found = self.path.common_at(self.t)
        if annotator is not None:
            code = self.votes.annotator_code(annotator)
            own = np.asarray(self.deviation[code].todense()).ravel()
            found = (1.0 + self.attention[code]) * found + own
        if isinstance(self.item_features, StandardisedFeatures):
            found = self.item_features.as_given(found)
        return {"feature": list(given.names), "coefficient": found}

    # ------------------------------------------------------------ ranks

    @cached_property
    def bounded(self) -> BoolArray:
        """Items whose score the votes bound; all of them with features, which share."""
        if self.features is not None:
            return np.ones(self.votes.n_items, dtype=bool)
        group = None if self.loss.binary else self.component
        return bounded_items(pool_votes(self.votes), self.component, group=group)

    @cached_property
    def placing(self) -> Placing:
        """What levels scores with the bounded items, and places the others beside them."""
        counts = pool_votes(self.votes)
        return Placing(counts, self.component, self.bounded, self.loss.derivatives)

    @cached_property
    def placed_scores(self) -> Floats:
        """Common scores to rank by: items that only won or only lost are drawn to the average.

        On the path these run away, the further the later it stops, after a single vote too.
        """
        return self.scores if self.bounded.all() else self.placing.of(self.scores)

    @cached_property
    def ranks(self) -> Ints:
        """Rank of each item among the items it can be compared with, 1 the best."""
        return rank_within(self.placed_scores, self.component)

    @cached_property
    def order(self) -> Ints:
        """Items from best to worst, one component after the other."""
        return order_within(self.placed_scores, self.component)

    def personal_ranks(self, code: int) -> Ints:
        """The same ranks for one annotator, by code."""
        return rank_within(self.placed_scores + self.own_scores(code), self.component)

    # ------------------------------------------------------------ predictions

    def margins(self, comparisons: LabelledComparisons) -> Floats:
        """Margin of each comparison: above 0 the left item is expected to win."""
        return margins_at(comparisons, self.path, self.t, self.votes, self.item_features)

    @property
    def criterion(self) -> str | None:
        """What t was chosen by; None without cross-validation."""
        return None if self.cross_validation is None else self.cross_validation.criterion

    @cached_property
    def held_out(self) -> HeldOutError | None:
        """Errors on held-out votes at time t; None without cross-validation."""
        curve = self.held_out_along(np.array([self.t]))
        return None if curve is None else curve.first()

    @property
    def worse_than_a_coin(self) -> bool:
        """Whether a coin would predict held-out votes better; False without cross-validation."""
        found, criterion = self.held_out, self.criterion
        return found is not None and criterion is not None and found.is_worse_than_a_coin(criterion)

    @property
    def knows_nothing(self) -> bool:
        """Whether a coin would predict better, and no less often wrong: there is no ranking."""
        found = self.held_out
        return self.worse_than_a_coin and found is not None and found.guesses(self.votes.n_votes)

    @cached_property
    def held_out_of_one_ranking(self) -> HeldOutError | None:
        """The same with one ranking for all: at the first knot, where the first one enters."""
        curve = self.held_out_along(self.path.times[:1])
        return None if curve is None else curve.first()

    def held_out_along(self, times: Floats) -> HeldOutCurve | None:
        """The same at some times."""
        found = self.cross_validation
        return None if found is None else held_out_curve(found, times)

    @property
    def chosen_by_hand(self) -> bool:
        """Whether t is none of the times that cross-validation proposes."""
        found = self.cross_validation
        return found is not None and self.t not in (found.t_cv, found.t_one_standard_error)


class HasFitted(Protocol):
    """Anything that holds a `Fitted`, such as a fitted `PreferenceModel`."""

    @property
    def fitted_(self) -> Fitted: ...


def as_fitted(model: Fitted | HasFitted) -> Fitted:
    """The fitted value of a model, or itself.

    Raises
    ------
    NotFittedError
        If the model has not been fitted.
    """
    if isinstance(model, Fitted):
        return model
    found = getattr(model, "fitted_", None)
    if isinstance(found, Fitted):
        return found
    from sklearn.exceptions import NotFittedError

    raise NotFittedError(
        f"this {type(model).__name__} is not fitted: expected a fitted model, or a Fitted; "
        "call fit first"
    )
