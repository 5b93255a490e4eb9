"""The model at every position of the slider, from social to individuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prefpath.model.design import Floats, Ints
from prefpath.path import Path
from prefpath.plots.tally import deviation_size

if TYPE_CHECKING:
    from prefpath.estimators import PreferenceModel

BAND_QUANTILES = (0.5, 0.9, 0.99)
"""What the bands of a large crowd show: the middle annotator, nine in ten, 99 in 100."""

_JUST_BEFORE = 0.95


@dataclass(frozen=True, eq=False)
class Journey:
    """What the page shows at each time.

    Attributes
    ----------
    times : array (n_times,)
        A time just before anybody pops up, the path's knots, and the chosen time.
    chosen : int
        Position of the chosen time.
    scores : array (n_times, n_items shown)
    n_deviating, n_leaning : array (n_times,)
        Annotators with a deviation and with a position bias, of the whole crowd.
    n_active : array (n_times,)
        Annotators with either.
    deviation, position_bias : array (n_times, n_annotators shown)
        Size of the deviation; position bias with its sign.
    deviation_bands, position_bias_bands : array (n_times, 3)
        Quantiles over the whole crowd of the sizes of both.
    error, error_se : array (n_times,) or None
        Held-out error and its standard error, where there was cross-validation.
    criterion : str
        What the error measures.
    """

    times: Floats
    chosen: int
    scores: Floats
    n_deviating: Ints
    n_leaning: Ints
    n_active: Ints
    deviation: Floats
    position_bias: Floats
    deviation_bands: Floats
    position_bias_bands: Floats
    error: Floats | None
    error_se: Floats | None
    criterion: str


def gather_journey(model: PreferenceModel, item_codes: Ints, annotator_codes: Ints) -> Journey:
    """Read the path at its knots and at the chosen time; one pass, for crowds of any size."""
    path = model.path_
    times = np.union1d(path.times, [_social_time(path), model.t_])
    states = [_State.at(path, float(t), item_codes, annotator_codes) for t in times]
    error, spread = _errors(model, times)
    return Journey(
        times=times,
        chosen=int(np.searchsorted(times, model.t_)),
        scores=np.array([state.scores for state in states]),
        n_deviating=np.array([state.n_deviating for state in states]),
        n_leaning=np.array([state.n_leaning for state in states]),
        n_active=np.array([state.n_active for state in states]),
        deviation=np.array([state.deviation for state in states]),
        position_bias=np.array([state.position_bias for state in states]),
        deviation_bands=np.array([state.deviation_band for state in states]),
        position_bias_bands=np.array([state.position_bias_band for state in states]),
        error=error,
        error_se=spread,
        criterion="mismatch" if model.cv_ is None else model.cv_.criterion,
    )


def _social_time(path: Path) -> float:
    """A time at which nobody stands out: the first knot is where the first one pops up."""
    first = float(path.times[0])
    return first if path.active_count(first) == (0, 0) else _JUST_BEFORE * first


@dataclass(frozen=True, eq=False)
class _State:
    """The path at one time, as far as the page shows it."""

    scores: Floats
    n_deviating: int
    n_leaning: int
    n_active: int
    deviation: Floats
    position_bias: Floats
    deviation_band: Floats
    position_bias_band: Floats

    @classmethod
    def at(cls, path: Path, t: float, items: Ints, annotators: Ints) -> _State:
        size, bias = deviation_size(path, t), path.position_bias(t)
        return cls(
            scores=path.scores(t)[items],
            n_deviating=int(np.count_nonzero(size)),
            n_leaning=int(np.count_nonzero(bias)),
            n_active=int(np.count_nonzero((size != 0) | (bias != 0))),
            deviation=size[annotators],
            position_bias=bias[annotators],
            deviation_band=np.quantile(size, BAND_QUANTILES),
            position_bias_band=np.quantile(np.abs(bias), BAND_QUANTILES),
        )


def _errors(model: PreferenceModel, times: Floats) -> tuple[Floats | None, Floats | None]:
    """Held-out error at the slider's times; between two knots the mean of both is drawn."""
    if model.cv_ is None:
        return None, None
    knots = np.log(model.cv_.times)
    return (
        np.interp(np.log(times), knots, model.cv_.mean),
        np.interp(np.log(times), knots, model.cv_.standard_error),
    )
