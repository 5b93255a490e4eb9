"""Features of items: a matrix whose rows are known by the items' labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from prefpath.errors import VoteError
from prefpath.model.design import Floats
from prefpath.model.problem import check_features
from prefpath.votes.encode import Labels
from prefpath.votes.features import read_feature_table


@dataclass(frozen=True, eq=False)
class ItemFeatures:
    """One row of features for each item; it may know items nobody has compared yet.

    Examples
    --------
    >>> table = ItemFeatures(np.array(["a", "b"]), ("sweet",), np.array([[1.0], [0.0]]))
    >>> table.of(np.array(["b"]))
    array([[0.]])
    """

    items: Labels
    names: tuple[str, ...]
    matrix: Floats

    def __post_init__(self) -> None:
        check_features(self.matrix, len(self.items))

    def of(self, items: Labels) -> Floats:
        """Features of some items, in their order; items without features are all named."""
        row = {label: k for k, label in enumerate(self.items.tolist())}
        missing = [label for label in items.tolist() if label not in row]
        if missing:
            named = ", ".join(repr(label) for label in missing)
            raise VoteError(
                f"{len(missing)} of {len(items):,} items have no features: {named}",
                expected="a row of features for every item in the votes",
                remedy="add these items to the table, or drop their votes",
            )
        return self.matrix[[row[label] for label in items.tolist()]]


def as_item_features(features: Any, items: Labels) -> ItemFeatures | None:
    """Features as given: None, a table (a path or a frame with a column of items), or an array
    in the order of `items`."""
    if features is None or isinstance(features, ItemFeatures):
        return features
    if not isinstance(features, np.ndarray | list | tuple):
        return ItemFeatures(*read_feature_table(features))
    matrix = check_features(features, len(items))
    names = tuple(f"feature {k + 1}" for k in range(matrix.shape[1]))
    return ItemFeatures(items, names, matrix)
