"""The model at every position of the slider, from social to individuals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prefpath.fitted import Fitted
from prefpath.model.design import Floats, Ints
from prefpath.path import Kind, Path
from prefpath.plots.tally import deviation_size

BAND_QUANTILES = (0.5, 0.9, 0.99)
"""What the bands of a large crowd show: the middle annotator, nine in ten, 99 in 100."""

_JUST_BEFORE = 0.95
_KINDS: tuple[Kind, ...] = ("deviation", "position_bias", "attention")


@dataclass(frozen=True, eq=False)
class Lines:
    """Paths of one kind of effect.

    Attributes
    ----------
    shown : array (n_times, n_annotators shown)
        In the order of the table of annotators.
    codes : array (n_lines,)
        The annotators of the whole crowd who go furthest, the furthest first.
    values : array (n_times, n_lines)
        Their paths.
    bands : array (n_times, 3)
        Quantiles of the size over the whole crowd.
    n_active : array (n_times,)
        How many of the whole crowd are not zero.
    """

    shown: Floats
    codes: Ints
    values: Floats
    bands: Floats
    n_active: Ints

    @classmethod
    def of(cls, every: Floats, annotators: Ints, n_lines: int) -> Lines:
        """From the paths of everybody, (n_times, n_annotators)."""
        furthest = np.abs(every).max(axis=0)
        codes = np.argsort(-furthest, kind="stable")[:n_lines]
        codes = codes[furthest[codes] > 0]
        return cls(
            shown=every[:, annotators],
            codes=codes,
            values=every[:, codes],
            bands=np.quantile(np.abs(every), BAND_QUANTILES, axis=1).T,
            n_active=np.count_nonzero(every, axis=1),
        )


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
    deviation, position_bias, attention : Lines
        Size of the deviation; position bias and attention with their signs.
    n_active : array (n_times,)
        Annotators with either or an attention, of the whole crowd.
    error, error_se : array (n_times,) or None
        Held-out error and its standard error, where there was cross-validation.
    criterion : str
        What the error measures.
    wrong : array (n_times,) or None
        Share of held-out votes predicted wrong.
    """

    times: Floats
    chosen: int
    scores: Floats
    deviation: Lines
    position_bias: Lines
    attention: Lines
    n_active: Ints
    error: Floats | None
    error_se: Floats | None
    criterion: str
    wrong: Floats | None


def gather_journey(
    fitted: Fitted, item_codes: Ints, annotator_codes: Ints, n_lines: int
) -> Journey:
    """Read the path at its knots and at the chosen time, for crowds of any size."""
    path = fitted.path
    times = np.union1d(path.times, [_social_time(path), fitted.t])
    deviation = np.array([deviation_size(path, float(t)) for t in times])
    bias = np.array([path.position_bias(float(t)) for t in times])
    attention = np.array([path.attention(float(t)) for t in times])
    held_out = fitted.held_out_along(times)
    return Journey(
        times=times,
        chosen=int(np.searchsorted(times, fitted.t)),
        scores=np.array([_scores(fitted, float(t))[item_codes] for t in times]),
        deviation=Lines.of(deviation, annotator_codes, n_lines),
        position_bias=Lines.of(bias, annotator_codes, n_lines),
        attention=Lines.of(attention, annotator_codes, n_lines),
        n_active=np.count_nonzero((deviation != 0) | (bias != 0) | (attention != 0), axis=1),
        error=None if held_out is None else held_out.error,
        error_se=None if held_out is None else held_out.standard_error,
        criterion=fitted.criterion or "mismatch",
        wrong=None if held_out is None else held_out.wrong,
    )


def _scores(fitted: Fitted, t: float) -> Floats:
    """Scores at a time, placed as on the leaderboard."""
    scores = fitted.path.scores(t)
    return scores if fitted.bounded.all() else fitted.placing.of(scores)


def _social_time(path: Path) -> float:
    """A time at which nobody stands out: the first knot is where the first one pops up."""
    first = float(path.times[0])
    enters = min(float(path.entry_times(kind).min(initial=np.inf)) for kind in _KINDS)
    # The first knot is the first entry, to rounding: whether somebody is in there is chance.
    return first if enters > first * (1.0 + 1e-6) else _JUST_BEFORE * first
