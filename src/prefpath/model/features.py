"""Features of items as users give them: a table, or an array in the order of the items."""

from __future__ import annotations

from typing import Any

import numpy as np

from prefpath.votes.check import check_features
from prefpath.votes.encode import Labels
from prefpath.votes.features import ItemFeatures, read_feature_table

__all__ = ["ItemFeatures", "as_item_features"]


def as_item_features(features: Any, items: Labels) -> ItemFeatures | None:
    """Features as given: None, a table (a path or a frame with a column of items), or an array
    in the order of `items`."""
    if features is None or isinstance(features, ItemFeatures):
        return features
    if not isinstance(features, np.ndarray | list | tuple):
        return read_feature_table(features)
    matrix = check_features(features, len(items))
    names = tuple(f"feature {k + 1}" for k in range(matrix.shape[1]))
    return ItemFeatures(items, names, matrix)
