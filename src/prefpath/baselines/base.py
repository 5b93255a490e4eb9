"""The contract of every baseline: parameters are frozen, fit, scores, margin, predict."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from prefpath.baselines.training import Training
from prefpath.baselines.tuning import Criterion, Folds, Tuning, cross_validate
from prefpath.errors import PrefpathError, SettingError, VoteError
from prefpath.machine import blas_threads_for
from prefpath.text import counted
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray, CodeArray, FloatArray, IntArray, Labels

Grid = float | tuple[float, ...]
Setting = Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Fit:
    """What one setting learnt: a score for each item; CrowdBT also who can be relied on."""

    scores: FloatArray
    setting: Setting = field(default_factory=dict)
    reliability: FloatArray | None = None
    effects: Any = None


class Votings(NamedTuple):
    """Who is asked about which pair, and whether left and right are as shown; codes."""

    left: CodeArray | IntArray
    right: CodeArray | IntArray
    annotator: CodeArray | IntArray
    known: BoolArray


@dataclass(frozen=True, eq=False)
class Fitted:
    """The chosen fit, the labels it belongs to, and how it was chosen."""

    items: Labels
    annotators: Labels
    fit: Fit
    tuning: Tuning | None


@dataclass(frozen=True, kw_only=True)
class Baseline(ABC):
    """A rival that ranks items from votes.

    A parameter that is a tuple is a grid: the entry with the least cross-validated mismatch
    ratio is used, and the first one where several are equal. Grids run from the simplest
    model to the most flexible one. A parameter that is one number is taken as it is.

    Parameters
    ----------
    n_folds : int
        Folds of the inner cross-validation; nothing is held out where there is nothing to tune.
    folds : {"auto", "votes", "items"}
        What they hold out; "auto" is items where there are features, votes otherwise.
    random_state : int
        Seed of the folds and of whatever is random in the method.
    criterion : {"mismatch", "log-loss"}
        What the folds judge settings by; log-loss for methods with probabilities only.
    """

    name: ClassVar[str]
    probabilistic: ClassVar[bool] = False
    uses_features: ClassVar[bool] = True
    uses_annotators: ClassVar[bool] = False
    personal: ClassVar[bool] = False
    """Whether margins depend on who votes beyond the scores: tastes, leans."""

    n_folds: int = 5
    folds: Folds = "auto"
    random_state: int = 0
    criterion: Criterion = "mismatch"
    _fitted: Fitted | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.n_folds < 2:
            raise SettingError(f"n_folds is {self.n_folds}", expected="at least 2 folds")
        if self.folds not in ("auto", "votes", "items"):
            raise SettingError(f"folds is {self.folds!r}", expected="auto, votes or items")
        if self.criterion not in ("mismatch", "log-loss"):
            raise SettingError(
                f"criterion is {self.criterion!r}", expected="'mismatch' or 'log-loss'"
            )
        if self.criterion == "log-loss" and not self.probabilistic:
            raise SettingError(f"{self.name} has no probabilities", expected="criterion 'mismatch'")
        for name, value in vars(self).items():
            if isinstance(value, (tuple, list)) and not (value and isinstance(value, tuple)):
                raise SettingError(f"{name} is {value!r}", expected="a number, or a tuple of them")

    @abstractmethod
    def _fit_path(self, training: Training) -> Sequence[Fit]:
        """One fit for each setting of the grids, the simplest first; pure."""

    def fit(
        self, votes: Votes, features: ArrayLike | None = None, weight: ArrayLike | None = None
    ) -> Self:
        """Learn the items' scores.

        Parameters
        ----------
        votes : Votes
        features : array-like of shape (n_items, d), optional
            Rows in the order of `votes.items`; without them an item is its one-hot vector.
        weight : array-like, optional
            Replaces `votes.weight`: a fold or a bootstrap is a weight vector, not a copy.
        """
        training = Training.from_votes(votes, features, weight)
        if not self.uses_features:
            training = training.without_features()
        with blas_threads_for(votes.n_items):
            path = self._fit_path(training)
            tuning = self._tune(training) if len(path) > 1 else None
        fit = path[0 if tuning is None else tuning.best]
        # The one place that writes to a frozen instance: what was learnt is not a parameter.
        object.__setattr__(self, "_fitted", Fitted(votes.items, votes.annotators, fit, tuning))
        return self

    def _tune(self, training: Training) -> Tuning | None:
        return cross_validate(
            self._fit_path,
            self._row_margins,
            training,
            n_folds=self.n_folds,
            folds=self.folds,
            random_state=self.random_state,
            criterion=self.criterion,
        )

    def scores(self) -> FloatArray:
        """Scores aligned with the items of the votes fitted, also of items nobody compared."""
        return self._learnt.fit.scores

    @property
    def setting(self) -> Setting:
        """The tuned parameters, as chosen."""
        return self._learnt.fit.setting

    @property
    def tuning(self) -> Tuning | None:
        """Cross-validated error of each setting; None where nothing was tuned."""
        return self._learnt.tuning

    def margin(self, votes: Votes) -> FloatArray:
        """How much each vote's left item is preferred to its right one, by the scores."""
        learnt = self._learnt
        code = _translate(votes.items, learnt.items)
        left, right = code[votes.left], code[votes.right]
        _check_known(np.minimum(left, right) < 0, votes, learnt.items)
        who = _translate(votes.annotators, learnt.annotators)[votes.annotator]
        return self._margins(learnt.fit, Votings(left, right, who, votes.position_known))

    def predict(self, votes: Votes) -> FloatArray:
        """Sign of the margin: 1 the left item, -1 the right one, 0 undecided."""
        return np.sign(self.margin(votes))

    def predict_proba(self, votes: Votes) -> FloatArray | None:
        """Probability that the left item is chosen; None where the method has no such model."""
        return expit(self.margin(votes)) if self.probabilistic else None

    @property
    def _learnt(self) -> Fitted:
        if self._fitted is None:
            raise PrefpathError(f"{self.name} is not fitted: call fit(votes) first")
        return self._fitted

    def _row_margins(self, fit: Fit, training: Training, rows: BoolArray) -> FloatArray:
        votes = training.votes
        asked = Votings(
            votes.left[rows],
            votes.right[rows],
            votes.annotator[rows],
            votes.position_known[rows],
        )
        return self._margins(fit, asked)

    def _margins(self, fit: Fit, asked: Votings) -> FloatArray:
        return fit.scores[asked.left] - fit.scores[asked.right]


def as_grid(value: Grid) -> tuple[float, ...]:
    """The values of a parameter that may be one number or several."""
    return value if isinstance(value, tuple) else (value,)


def centred(scores: FloatArray, weight: FloatArray) -> FloatArray:
    """Scores whose mean over the items that were compared is 0: only differences matter."""
    return np.asarray(scores - scores[weight > 0].mean(), dtype=np.float64)


def _translate(labels: Labels, known: Labels) -> IntArray:
    """Position of each label among the known ones; -1 where it is not one of them."""
    if labels is known:
        return np.arange(len(labels))
    place: dict[Any, int] = {label: code for code, label in enumerate(known.tolist())}
    return np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.int64)


def _check_known(unknown: BoolArray, votes: Votes, items: Labels) -> None:
    if not unknown.any():
        return
    row = np.flatnonzero(unknown)[0]
    pair = votes.items[[votes.left[row], votes.right[row]]].tolist()
    stranger = next(label for label in pair if label not in set(items.tolist()))
    raise VoteError(
        f"{counted(unknown.sum(), 'vote')} on items that were not fitted "
        f"(the first is {stranger!r})",
        expected=f"items among the {len(items):,} fitted",
        remedy="fit on votes whose `items` include them; items with features need no votes there",
    )
