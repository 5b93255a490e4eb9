"""What a problem is, in a few words and a digest: is it the one a checkpoint was made of?"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefpath.model.problem import Problem
from prefpath.votes import Votes


def votes_digest(votes: Votes) -> str:
    """A digest of who voted how, with labels; where the votes came from is no part of it."""
    total = hashlib.sha256()
    for labels in (votes.annotators, votes.items):
        words = (f"{type(label).__name__} {label!r}" for label in labels.tolist())
        total.update("\0".join(words).encode("utf-8", "backslashreplace") + b"\1")
    columns = (votes.offsets, votes.left, votes.right, votes.choice, votes.weight, votes.count)
    for column in (*columns, votes.position_known):
        total.update(_bytes(column))
    return total.hexdigest()


def problem_settings(problem: Problem) -> dict[str, Any]:
    """The settings of a problem as JSON has them; of long arrays a digest."""
    features = problem.features
    thresholds = np.concatenate((problem.deviation_threshold, problem.position_threshold))
    return {
        "loss": repr(problem.loss),
        "penalty": repr(problem.penalty),
        "features": None if features is None else _digest(features),
        "position_bias": bool(problem.position_bias),
        "common_position": bool(problem.common_position),
        "attention": bool(problem.attention),
        "kappa": problem.kappa,
        "thresholds": _digest(thresholds),
    }


def _digest(values: NDArray[Any]) -> str:
    return hashlib.sha256(_bytes(values)).hexdigest()[:16]


def _bytes(values: NDArray[Any]) -> bytes:
    return f"{values.dtype.str} {values.shape} ".encode() + np.ascontiguousarray(values).tobytes()
