"""From votes to a flow on pairs of items: by how much the first is preferred to the second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import logit, ndtri

from prefpath.errors import VoteError
from prefpath.pairs import pool_votes
from prefpath.text import counted
from prefpath.votes import Votes
from prefpath.votes.encode import CodeArray, FloatArray

Transform = Literal["uniform", "bradley-terry", "thurstone-mosteller", "angular"]


@dataclass(frozen=True, eq=False)
class PairFlow:
    """A flow on the compared pairs `first < second` (item codes), and what each pair weighs.

    A positive value prefers the first item; the flow from second to first is its negative.
    """

    n_items: int
    first: CodeArray
    second: CodeArray
    weight: FloatArray
    value: FloatArray


def flow_of_votes(votes: Votes) -> PairFlow:
    """Mean choice on each pair, ties counting 0, weighted by the votes on it."""
    pooled = pool_votes(votes)
    return PairFlow(pooled.n_items, pooled.first, pooled.second, pooled.weight, pooled.choice)


def transformed_flow(votes: Votes, transform: Transform) -> PairFlow:
    """The flow of a transform of the share of wins; see `hodge_decompose`."""
    if transform not in _TRANSFORMS:
        raise VoteError(f"transform is {transform!r}", expected=" or ".join(_TRANSFORMS))
    flow = flow_of_votes(votes)
    if transform != "uniform":
        _check_strengths(votes, transform)
    value = _TRANSFORMS[transform](flow.value, flow.weight)
    return PairFlow(flow.n_items, flow.first, flow.second, flow.weight, value)


def _check_strengths(votes: Votes, transform: str) -> None:
    beyond = np.abs(votes.choice) > 1
    if beyond.any():
        raise VoteError(
            f"{counted(votes.count[beyond].sum(), 'vote')} with a strength beyond 1 "
            f"(the first is {votes.choice[beyond][0]:g})",
            expected=f"choices from -1 to 1: the {transform} transform needs shares of wins",
            remedy='use transform="uniform", or divide the choices by the greatest strength',
        )


def _share_of_wins(mean_choice: FloatArray, weight: FloatArray) -> FloatArray:
    """Share of wins after half a vote for either side, so that it is never 0 or 1.

    Half a vote is what makes the empirical logit unbiased up to 1/n^2 (Haldane 1956).
    """
    return 0.5 + 0.5 * mean_choice * weight / (weight + 1.0)


def _mean_choice(mean_choice: FloatArray, _weight: FloatArray) -> FloatArray:
    return mean_choice


def _log_odds(mean_choice: FloatArray, weight: FloatArray) -> FloatArray:
    return np.asarray(logit(_share_of_wins(mean_choice, weight)))


def _normal_quantile(mean_choice: FloatArray, weight: FloatArray) -> FloatArray:
    return np.asarray(ndtri(_share_of_wins(mean_choice, weight)))


def _arc_sine(mean_choice: FloatArray, _weight: FloatArray) -> FloatArray:
    # A weighted mean of 1 and -1 may exceed 1 by a rounding error.
    return np.asarray(np.arcsin(np.clip(mean_choice, -1.0, 1.0)))


_TRANSFORMS: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "uniform": _mean_choice,
    "bradley-terry": _log_odds,
    "thurstone-mosteller": _normal_quantile,
    "angular": _arc_sine,
}
