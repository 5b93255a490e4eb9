"""Margins of votes at a time on the path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from prefpath.model.design import Floats, Ints
from prefpath.path import Path
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray, CodeArray


@dataclass(frozen=True)
class Comparisons:
    """Comparisons by codes of the path's annotators and items; annotator -1 is a stranger."""

    annotator: CodeArray | Ints
    left: CodeArray | Ints
    right: CodeArray | Ints
    position_known: BoolArray

    @classmethod
    def of(cls, votes: Votes, rows: BoolArray | Ints) -> Comparisons:
        """The comparisons of some rows of the votes."""
        return cls(
            votes.annotator[rows], votes.left[rows], votes.right[rows], votes.position_known[rows]
        )


def path_margins(path: Path, asked: Comparisons, t: float) -> Floats:
    """Margin of each comparison at time t: common, personal and positional part together."""
    return state_margins(
        asked,
        theta=path.scores(t),
        deviation=path.deviation(t),
        bias=path.position_bias(t),
        common_bias=path.common_position_at(t),
        features=path.features,
        attention=path.attention(t),
    )


def state_margins(
    asked: Comparisons,
    *,
    theta: Floats,
    deviation: sparse.csr_matrix,
    bias: Floats,
    common_bias: float,
    features: Floats | None,
    attention: Floats | None = None,
) -> Floats:
    """Margins from a common score, sparse deviations, position bias and attention (sigma)."""
    margin = theta[asked.left] - theta[asked.right]
    known = asked.annotator >= 0
    if attention is not None:
        margin += np.where(known, attention[asked.annotator], 0.0) * margin
    margin += np.where(asked.position_known, common_bias, 0.0)
    margin += np.where(known & asked.position_known, bias[asked.annotator], 0.0)
    moved = known & (np.diff(deviation.indptr)[asked.annotator] > 0)
    if moved.any():
        who = asked.annotator[moved]
        margin[moved] += _own(deviation, who, asked.left[moved], features)
        margin[moved] -= _own(deviation, who, asked.right[moved], features)
    return margin


def _own(
    deviation: sparse.csr_matrix,
    who: CodeArray | Ints,
    item: CodeArray | Ints,
    features: Floats | None,
) -> Floats:
    """Deviation of annotator `who[k]` for item `item[k]`, in O(entries) memory."""
    if features is None:
        return np.asarray(deviation[who, item], dtype=np.float64).ravel()
    distinct, place = np.unique(who, return_inverse=True)
    own = np.asarray(deviation[distinct].todense())
    result: Floats = np.einsum("kd,kd->k", own[place], features[item])
    return result
