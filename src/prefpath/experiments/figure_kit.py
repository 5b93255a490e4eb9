"""What the paper's figures share: what a figure is, the fitted models, comparisons in words."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from prefpath import PreferenceModel, Votes, VoteWarning, datasets

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOSSES = ("linear", "bradley-terry", "thurstone-mosteller")
TITLES = {"iqa": "IQA", "worldcollege": "WorldCollege"}
LOADERS = {"iqa": datasets.load_iqa, "worldcollege": datasets.load_worldcollege}
OCCUPATIONS = (
    "other", "academic/educator", "artist", "clerical/admin", "college/grad student",
    "customer service", "doctor/health care", "executive/managerial", "farmer", "homemaker",
    "K-12 student", "lawyer", "programmer", "retired", "sales/marketing", "scientist",
    "self-employed", "technician/engineer", "tradesman/craftsman", "unemployed", "writer",
)  # fmt: skip
AGES = ("under 18", "18-24", "25-34", "35-44", "45-49", "50-55", "56+")


@dataclass(frozen=True)
class Finding:
    """What a figure shows, in words, and the numbers behind it, column by column."""

    words: str
    columns: Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Figure:
    """A figure that can be drawn.

    Attributes
    ----------
    number : str
        Of the paper's figure, with its part ("5b"); empty where the paper has none.
    known : str
        What we know of the paper's figure, and from where.
    draw : callable
        Draws it with matplotlib, quickly (shorter paths, fewer repeats) or not.
    """

    name: str
    shows: str
    draw: Callable[[bool], Finding]
    number: str = ""
    known: str = field(default="not in the paper")

    @property
    def title(self) -> str:
        return f"Figure {self.number}: {self.shows}" if self.number else self.shows


def as_known(number: str, words: str) -> str:
    """What the authors' published code says the paper's figure is."""
    return f"the paper's figure {number} as far as known: {words}"


# ---------------------------------------------------------------- the models


@cache
def without_features(name: str, loss: str, quick: bool) -> PreferenceModel:
    """A model of the paper's Tables 4 and 6: the linear one keeps ties, the others do not."""
    votes = LOADERS[name]().votes
    ratio = 10.0 if quick else 50.0
    if loss == "linear":
        return fitted(paper_model(loss=loss, common="minimise", t_ratio=ratio), votes)
    return fitted(paper_model(loss=loss, t_ratio=ratio), votes.without_ties())


@cache
def movie_groups(group: str, quick: bool) -> PreferenceModel:
    """Movies by genre with Bradley-Terry, one block for each occupation or age."""
    data = datasets.load_paper_movies(group=group)
    assert data.features is not None
    features = data.features.of(data.votes.items)
    model = paper_model(features=features, t_ratio=10.0 if quick else 100.0, cv=4)
    return fitted(model, data.votes)


def paper_model(**settings: Any) -> PreferenceModel:
    """A model that stops where the paper's does; our defaults are others (docs/selection.md)."""
    ours = {"balance", "weak", "common_position", "attention", "standardise"}
    return PreferenceModel(criterion="mismatch", **{**dict.fromkeys(ours, False), **settings})


def fitted(model: PreferenceModel, votes: Votes) -> PreferenceModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VoteWarning)  # one order only, position unknown: known
        return model.fit(votes)


def genres() -> tuple[str, ...]:
    features = datasets.load_paper_movies().features
    assert features is not None
    return features.names


# ---------------------------------------------------------------- drawing and comparing


def one_panel_a_loss(height: float = 4.2) -> dict[str, Axes]:
    """Axes side by side, one for each of the paper's three models."""
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(1, len(LOSSES), figsize=(15.0, height), layout="constrained")
    for ax, loss in zip(axes, LOSSES, strict=True):
        ax.set_title(loss)
    return dict(zip(LOSSES, axes, strict=True))


def entry_order(model: PreferenceModel, kind: str) -> list[int]:
    """Annotators in the order in which they pop up; those who never do are left out.

    As the authors count: by the first time of the grid, and by their numbers where it is the
    same. Nothing finer could be compared with what they print.
    """
    path = model.path_
    entered = path.entry_times(kind)  # type: ignore[arg-type]
    number = np.array([int(str(label)) for label in path.annotators])
    order = np.lexsort((number, np.searchsorted(path.times, entered)))
    return [int(number[u]) for u in order if np.isfinite(entered[u])]


def compare_order(found: Sequence[object], published: Sequence[object]) -> str:
    """How the first of ours are the paper's.

    >>> compare_order([3, 1, 2, 7], [1, 3, 2])
    'agrees (3 of 3, in another order)'
    """
    first = list(found[: len(published)])
    shared = len(set(first) & set(published))
    order = "in the same order" if first == list(published) else "in another order"
    verdict = "agrees" if shared == len(published) else "differs"
    return f"{verdict} ({shared} of {len(published)}, {order})"
