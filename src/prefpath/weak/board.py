"""A leaderboard of scores under a prior: they predict best, and have no intervals."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from prefpath.errors import SettingError
from prefpath.fitted import Fitted
from prefpath.inference.board import BoardOptions, board_columns
from prefpath.weak.effects import WeakEffects


def shrunk_columns(
    fitted: Fitted, weak: WeakEffects | None, annotator: Any = None, **how: Unpack[BoardOptions]
) -> dict[str, Any]:
    """The leaderboard of everybody or of one annotator; a column "shrunk" says so."""
    if weak is None:
        raise SettingError(
            "shrunk scores of a model without weak effects", expected="a model with weak=True"
        )
    scores = weak.scores
    if annotator is not None:
        scores = weak.personal_scores(fitted.votes.annotator_code(annotator))
    columns = board_columns(fitted, annotator, scores=scores, **how)
    return {**columns, "shrunk": np.ones(len(scores), dtype=bool)}
