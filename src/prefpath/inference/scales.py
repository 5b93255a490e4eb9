"""How scores are shown: natural, Elo-like, or as the probability of beating an average item."""

from __future__ import annotations

from typing import Literal

import numpy as np

from prefpath.errors import SettingError
from prefpath.model.design import Floats
from prefpath.model.losses import Loss

Scale = Literal["natural", "elo", "probability"]
SCALES = ("natural", "elo", "probability")

ELO_POINTS = 400.0 / np.log(10.0)  # ten to one is 400 points
ELO_START = 1000.0


def check_scale(scale: str) -> None:
    """Is there such a scale?"""
    if scale not in SCALES:
        raise SettingError(f"scale is {scale!r}", expected=f"one of {', '.join(SCALES)}")


def rescale(score: Floats, scale: Scale, loss: Loss) -> Floats:
    """Scores (or differences from a reference) on the scale named; monotone.

    Examples
    --------
    >>> from prefpath.model.losses import BradleyTerry
    >>> rescale(np.array([0.0, np.log(10.0)]), "elo", BradleyTerry())
    array([1000., 1400.])
    """
    check_scale(scale)
    if scale == "elo":
        return ELO_START + ELO_POINTS * score
    if scale == "probability":
        return loss.probability(score)
    return score
