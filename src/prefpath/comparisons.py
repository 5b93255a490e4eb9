"""Comparisons by the users' labels: to predict, or with choices to learn from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefpath.errors import SettingError, VoteError
from prefpath.model.design import Floats, Ints
from prefpath.model.features import ItemFeatures
from prefpath.path import Path
from prefpath.predict import Comparisons, state_margins
from prefpath.votes import Votes, read_votes
from prefpath.votes.check import check_choices


@dataclass(frozen=True, eq=False)
class LabelledComparisons:
    """Comparisons by labels; without annotators they are a stranger's."""

    annotator: NDArray[Any] | None
    left: NDArray[Any]
    right: NDArray[Any]
    position_known: NDArray[np.bool_]

    @classmethod
    def of(cls, X: Any, group: str | None) -> LabelledComparisons:
        """Comparisons from votes, or from a frame of left, right and, where known, annotator."""
        if isinstance(X, Votes):
            who, left, right = X.annotators[X.annotator], X.items[X.left], X.items[X.right]
            return cls(who, left, right, X.position_known)
        table = _as_table(X)
        for column in ("left", "right"):
            if column not in table.columns:
                raise VoteError(
                    f"the comparisons have no column {column!r}",
                    expected="columns left, right and, where known, annotator",
                    remedy="rename its columns so; of a frame of votes in another dialect, "
                    "predict read_votes(frame)",
                )
        who_column = group or "annotator"
        return cls(
            table[who_column].to_numpy() if who_column in table.columns else None,
            table["left"].to_numpy(),
            table["right"].to_numpy(),
            np.ones(len(table), dtype=bool),
        )


def as_votes(
    X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, group: str | None
) -> Votes:
    """Votes as given, as `read_votes` reads them, or from comparisons X and their choices y."""
    if y is None and sample_weight is not None:
        raise SettingError(
            "sample_weight without y", expected="weights in the votes, or X, y and weights"
        )
    if isinstance(X, Votes):
        return X
    if y is None:
        return read_votes(X, group=group)
    return votes_of_frame(X, y, sample_weight, group)


def votes_of_frame(
    X: Any, y: ArrayLike, sample_weight: ArrayLike | None, group: str | None
) -> Votes:
    """Votes from a frame of comparisons and their choices; tables go back in the same library."""
    table = _as_table(X)
    who = group or "annotator"
    missing = [name for name in (who, "left", "right") if name not in table.columns]
    if missing:
        raise VoteError(
            f"X has no column {missing[0]!r}", expected=f"columns {who}, left and right"
        )
    _refuse_zero_and_one(np.asarray(y))
    votes = Votes.from_arrays(
        table[who].to_numpy(),
        table["left"].to_numpy(),
        table["right"].to_numpy(),
        np.asarray(y),
        sample_weight,
    )
    return replace(votes, frame_library=nw.get_native_namespace(table).__name__)


def choices_of(y: ArrayLike, n_rows: int) -> Floats:
    """Choices of so many comparisons, as numbers."""
    choice = np.asarray(y)
    if choice.shape != (n_rows,):
        raise VoteError(
            f"y has shape {choice.shape}", expected=f"one choice for each of {n_rows:,} rows of X"
        )
    return check_choices(choice)


def _refuse_zero_and_one(choice: NDArray[Any]) -> None:
    """Classes 0 and 1 are no choices: 0 would be a tie, and right would never have won."""
    if choice.dtype.kind in "iufb" and set(np.unique(choice).tolist()) == {0, 1}:
        raise VoteError(
            "every choice in y is 0 or 1, which can mean more than one thing",
            expected="1 for left, -1 for right, 0 for a tie; or left, right, tie",
            remedy="if 1 is left and 0 is right, pass 2 * y - 1",
        )


def margins_at(
    comparisons: LabelledComparisons,
    path: Path,
    t: float,
    votes: Votes,
    features: ItemFeatures | None,
) -> Floats:
    """Margin of each comparison at time t on a path.

    An annotator without votes gets the common score; an item without votes needs features.
    """
    left, right = _codes(votes.items, comparisons.left), _codes(votes.items, comparisons.right)
    theta, matrix = path.scores(t), path.features
    if (left < 0).any() or (right < 0).any():
        known = _of_all_described(comparisons, features, votes)
        left, right, matrix = known.left, known.right, known.matrix
        theta = matrix @ path.common_at(t)
    annotator = np.full(len(left), -1)
    if comparisons.annotator is not None:
        annotator = _codes(votes.annotators, comparisons.annotator)
    return state_margins(
        Comparisons(annotator, left, right, comparisons.position_known),
        theta=theta,
        deviation=path.deviation(t),
        bias=path.position_bias(t),
        common_bias=path.common_position_at(t),
        features=matrix,
        attention=path.attention(t),
    )


def coded_comparisons(
    comparisons: LabelledComparisons, votes: Votes, features: ItemFeatures | None
) -> tuple[Comparisons, Floats | None]:
    """Comparisons by codes, -1 for a stranger or a new item, and how features of the sides differ.

    Raises
    ------
    VoteError
        If an item is neither in the votes nor described by features.
    """
    left, right = _codes(votes.items, comparisons.left), _codes(votes.items, comparisons.right)
    differ = None
    if features is not None or (left < 0).any() or (right < 0).any():
        known = _of_all_described(comparisons, features, votes)
        differ = known.matrix[known.left] - known.matrix[known.right]
    annotator = np.full(len(left), -1)
    if comparisons.annotator is not None:
        annotator = _codes(votes.annotators, comparisons.annotator)
    return Comparisons(annotator, left, right, comparisons.position_known), differ


@dataclass(frozen=True, eq=False)
class _Described:
    """Codes among all items that have features, and these."""

    left: Ints
    right: Ints
    matrix: Floats


def _of_all_described(
    comparisons: LabelledComparisons, features: ItemFeatures | None, votes: Votes
) -> _Described:
    items = votes.items if features is None else features.items
    left, right = _codes(items, comparisons.left), _codes(items, comparisons.right)
    unknown = (left < 0) | (right < 0)
    if features is None or unknown.any():
        raise VoteError(
            f"item {_first_unknown(comparisons, left, unknown)!r} is not in the fitted votes",
            rows=np.flatnonzero(unknown) + 1,
            expected="an item of the votes, or one whose features are known",
            remedy="fit with features=... that describe the new items too",
        )
    return _Described(left, right, features.matrix)


def _first_unknown(comparisons: LabelledComparisons, left: Ints, unknown: NDArray[np.bool_]) -> Any:
    row = int(unknown.argmax())
    return (comparisons.left if left[row] < 0 else comparisons.right)[row]


def _as_table(X: Any) -> Any:
    try:
        return nw.from_native(X, eager_only=True)
    except TypeError as error:
        raise VoteError(
            f"X is {type(X).__name__}",
            expected="Votes, or a data frame with columns annotator, left and right",
        ) from error


def _codes(labels: NDArray[Any], wanted: NDArray[Any]) -> Ints:
    """Codes of labels; -1 for a label that is not there.

    Where a number is text on one side, as ids are that came by another way, text decides.
    """
    code = {label: k for k, label in enumerate(labels.tolist())}
    values = np.asarray(wanted).tolist()
    codes = np.array([code.get(label, -1) for label in values], dtype=np.int64)
    unknown = np.flatnonzero(codes < 0)
    if len(unknown):
        written = {_as_written(label): k for label, k in code.items()}
        codes[unknown] = [written.get(_as_written(values[k]), -1) for k in unknown]
    return codes


def _as_written(label: Any) -> Any:
    """An id as text; what is no id (missing, a fraction) as it is."""
    return str(label) if isinstance(label, int) and not isinstance(label, bool) else label
