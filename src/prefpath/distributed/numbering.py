"""Annotators in the order of their labels, and as the shards have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from prefpath.model.design import Ints


class Numbering(NamedTuple):
    """Whose place in the order of labels is which number across shards.

    Attributes
    ----------
    order : array (n_annotators,)
        Number of the annotator at each place.
    first : array (n_shards + 1,)
        Number of the first annotator of each shard, and of all together.
    """

    order: Ints
    first: Ints

    def split(self, values: Any) -> list[Any]:
        """Values of annotators in the order of labels, for each shard its own."""
        across = np.empty_like(values)
        across[self.order] = values
        return [across[a:b] for a, b in zip(self.first[:-1], self.first[1:], strict=True)]

    def join(self, parts: Sequence[Any]) -> Any:
        """Values of the annotators of all shards, in the order of labels."""
        return np.concatenate(parts)[self.order]

    def within(self, shard: int, who: Ints) -> tuple[Ints, Ints]:
        """Who of some annotators (by place) is in a shard: their numbers there, where they were."""
        number = self.order[who] - self.first[shard]
        at = np.flatnonzero((number >= 0) & (number < self.first[shard + 1] - self.first[shard]))
        at = at[np.argsort(number[at], kind="stable")]
        return number[at], at
