"""The leaderboard as dots with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from prefpath.model.design import Floats
from prefpath.plots.style import BLUE, GREY, axes_or_new, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def leaderboard(ranking: Any, ax: Axes | None = None, *, top: int = 25) -> Axes:
    """Scores from best to worst, with their intervals where there are any.

    Parameters
    ----------
    ranking : frame or mapping of columns
        As `model.ranking()` or `model.ranking_columns()` gives it; columns score_low and
        score_high are drawn where they are there, and a column "name" is what items are called.
        An arrow stands for a side the votes do not
        bound.
    ax : matplotlib axes, optional
    top : int
        Rows to draw.
    """
    called = "name" if "name" in _columns(ranking) else "item"
    names = [shown(label) for label in np.asarray(ranking[called])[:top]]
    score = _numbers(ranking, "score", top)
    ax = axes_or_new(ax, (6.4, 0.8 + 0.27 * len(names)))
    place = np.arange(len(names))
    if "score_low" in _columns(ranking):
        _intervals(ax, place, score, *(_numbers(ranking, f"score_{end}", top) for end in _ENDS))
    ax.plot(score, place, "o", color=BLUE, markersize=6, zorder=3)
    ax.set_yticks(place, names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color="#e3e6ea", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.set_xlabel("score")
    return ax


_ENDS = ("low", "high")


def _intervals(ax: Axes, place: Any, score: Floats, low: Floats, high: Floats) -> None:
    bounded = np.isfinite(low) & np.isfinite(high)
    ax.hlines(
        place[bounded], low[bounded], high[bounded], color=BLUE, alpha=0.45, linewidth=4, zorder=2
    )
    for end, marker in ((low, "<"), (high, ">")):
        open_end = ~np.isfinite(end)
        ax.plot(score[open_end], place[open_end], marker, color=GREY, markersize=10, zorder=2)


def _columns(ranking: Any) -> list[str]:
    """Names of the columns of a mapping, or of a frame of any library."""
    if hasattr(ranking, "column_names"):
        return list(ranking.column_names)
    return list(ranking.columns if hasattr(ranking, "columns") else ranking)


def _numbers(ranking: Any, column: str, top: int) -> Floats:
    """A column as floats; None, which stands for an unknown value, becomes NaN."""
    values = np.asarray(ranking[column], dtype=object)[:top]
    numbers: Floats = np.array([np.nan if v is None else float(v) for v in values])
    return numbers
