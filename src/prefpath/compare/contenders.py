"""Who competes: every baseline and our three models, behind one method."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from prefpath.baselines import BASELINES, make_baseline
from prefpath.compare.splits import HeldOut, forget_items_without_votes, keep
from prefpath.errors import SettingError, VoteWarning
from prefpath.estimators import PreferenceModel
from prefpath.model.design import Floats
from prefpath.model.features import ItemFeatures
from prefpath.model.losses import as_loss
from prefpath.selection.folds import Fold
from prefpath.votes import Votes

_PAPER = {"weak": False, "attention": False}


@dataclass(frozen=True, eq=False)
class Task:
    """Learn from `split.train`, predict the votes with a `split.test`.

    Features are those of `votes.items`, in their order.
    """

    votes: Votes
    split: Fold
    features: Floats | None = None
    over: HeldOut = "votes"
    random_state: int = 0

    @property
    def held_out(self) -> Votes:
        return keep(self.votes, self.split.test)


@dataclass(frozen=True, eq=False)
class Prediction:
    """For each held-out vote: the margin, and the probability of left where there is a model."""

    margin: Floats
    probability: Floats | None


class Contender(Protocol):
    """Learns from a task's training votes and predicts those held out."""

    @property
    def name(self) -> str: ...

    @property
    def is_ours(self) -> bool: ...

    def predict(self, task: Task) -> Prediction: ...


@dataclass(frozen=True)
class Rival:
    """A baseline, tuned on the training votes by folds of what the task holds out."""

    key: str
    n_folds: int = 5
    is_ours: bool = False

    @property
    def name(self) -> str:
        return BASELINES[self.key].name

    def predict(self, task: Task) -> Prediction:
        rival = make_baseline(
            self.key, n_folds=self.n_folds, folds=task.over, random_state=task.random_state
        )
        rival.fit(task.votes, task.features, weight=task.split.train)
        asked = task.held_out
        return Prediction(rival.margin(asked), rival.predict_proba(asked))


@dataclass(frozen=True)
class MultiLevel:
    """Our model with one loss, stopped where cross-validation says.

    Parameters
    ----------
    settings : mapping
        Of `PreferenceModel`, beyond the loss, the features and what its folds hold out.
    """

    loss: str
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    is_ours: bool = True
    title: str | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        return self.title or f"multi-level {self.loss}"

    def predict(self, task: Task) -> Prediction:
        training, features = keep(task.votes, task.split.train), None
        if task.features is not None:
            names = tuple(f"feature {k + 1}" for k in range(task.features.shape[1]))
            features = ItemFeatures(task.votes.items, names, task.features)
        if task.over == "items":
            # Folds hold out items too: those without votes must not be among them.
            training = forget_items_without_votes(training)
        model = PreferenceModel(
            loss=self.loss,
            features=features,
            cv_over=task.over,
            random_state=task.random_state,
            # Rivals are tuned by what all are judged by: so are we. The paper's model has
            # neither weak effects nor attention.
            **{**_PAPER, "n_threads": 1, "criterion": "mismatch", **self.settings},
        )
        with warnings.catch_warnings():
            # What cannot be known is said once, by whoever compares, and not once a split.
            warnings.simplefilter("ignore", VoteWarning)
            margin = model.fit(training).decision_function(task.held_out)
        loss = as_loss(self.loss)
        return Prediction(margin, loss.probability(margin) if loss.binary else None)


def our_default(**settings: Any) -> MultiLevel:
    """What `PreferenceModel()` predicts with: attention where votes show it, small effects."""
    beyond_paper = {"weak": "auto", "attention": "auto"}
    return MultiLevel("bradley-terry", {**beyond_paper, **settings}, title="prefpath's default")


CONTENDERS: dict[str, Contender] = {
    "default": our_default(),
    **{
        f"multi-level-{loss}": MultiLevel(loss)
        for loss in ("linear", "bradley-terry", "thurstone-mosteller")
    },
    **{key: Rival(key) for key in BASELINES},
}


def find_contenders(keys: Sequence[str] | None = None) -> dict[str, Contender]:
    """Contenders by their keys; all of them by default."""
    if not keys:
        return dict(CONTENDERS)
    unknown = [key for key in keys if key.lower() not in CONTENDERS]
    if unknown:
        raise SettingError(
            f"there is no method {unknown[0]!r}", expected=f"one of {', '.join(CONTENDERS)}"
        )
    return {key.lower(): CONTENDERS[key.lower()] for key in keys}
