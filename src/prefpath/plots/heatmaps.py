"""Heat maps: personal ranks beside the common one, and who beats whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from prefpath.errors import VoteError
from prefpath.fitted import Fitted, HasFitted, as_fitted, order_within, rank_within
from prefpath.model.design import Floats
from prefpath.path import Path
from prefpath.plots.style import DIVERGING, SEQUENTIAL, axes_or_new, shown
from prefpath.plots.tally import pair_tables
from prefpath.votes import Votes
from prefpath.votes.encode import CodeArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NUMBERS = 400  # cells; beyond, the numbers no longer fit


def personal_rankings(
    model: Fitted | HasFitted | Path,
    t: float | None,
    annotators: Sequence[Any],
    ax: Axes | None = None,
    *,
    n_items: int | None = None,
) -> Axes:
    """Ranks by some annotators beside the common rank (the paper's Figs. 8 and 11).

    Parameters
    ----------
    model : fitted PreferenceModel, Fitted or Path
        Ranks hold within groups of items that were compared; a path alone knows no groups, and
        all of its items are ranked together.
    t : float or None
        The time at which to look; None is where the model stopped.
    annotators : sequence of labels
        One column each, after the common ranking.
    n_items : int, optional
        The common ranking's first rows only.
    """
    path, time, component = _seen_at(model, t)
    common = path.scores(time)
    order = order_within(common, component)[:n_items]
    columns = [common, *(path.personal_scores(annotator, time) for annotator in annotators)]
    rank = np.column_stack([rank_within(scores, component) for scores in columns])[order]
    ax = axes_or_new(ax, (1.5 + 0.5 * len(columns), 1.2 + 0.28 * len(order)))
    _heat(ax, rank.astype(float), DIVERGING + "_r", (1.0, float(len(common))), "rank", "{:.0f}")
    _tick(ax, ["common", *map(shown, annotators)], [shown(path.items[i]) for i in order])
    return ax


def win_fractions(
    votes: Votes, ax: Axes | None = None, *, items: Sequence[Any] | None = None
) -> Axes:
    """Share of votes the row's item won against the column's.

    Parameters
    ----------
    votes : Votes
    items : sequence of labels, optional
        Rows and columns in this order, such as a ranking's; all items by default.
    """
    return _battles(votes, ax, items, 0, DIVERGING, (0.0, 1.0), "share won", "{:.2f}")


def battle_counts(
    votes: Votes, ax: Axes | None = None, *, items: Sequence[Any] | None = None
) -> Axes:
    """Votes on each pair of items; parameters are those of `win_fractions`."""
    return _battles(votes, ax, items, 1, SEQUENTIAL, (0.0, None), "votes", "{:.0f}")


def _battles(
    votes: Votes,
    ax: Axes | None,
    items: Sequence[Any] | None,
    which: int,
    colours: str,
    limits: tuple[float, float | None],
    words: str,
    form: str,
) -> Axes:
    labels = votes.items if items is None else items
    codes = [votes.item_code(label) for label in labels]
    if len(set(codes)) < len(codes):
        raise VoteError("an item is named twice", expected="each item once")
    table = pair_tables(votes, codes)[which]
    values = np.where(table > 0, table, np.nan) if which else table
    side = 1.6 + 0.38 * len(codes)
    ax = axes_or_new(ax, (side + 0.6, side))
    _heat(ax, values, colours, limits, words, form)
    names = [shown(label) for label in labels]
    _tick(ax, names, names)
    return ax


def _heat(
    ax: Axes,
    values: Floats,
    colours: str,
    limits: tuple[float, float | None],
    words: str,
    form: str,
) -> None:
    image = ax.imshow(values, cmap=colours, vmin=limits[0], vmax=limits[1], aspect="auto")
    ax.figure.colorbar(image, ax=ax, label=words, shrink=0.8)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    if values.size > _MOST_NUMBERS:
        return
    # Numbers are white where the map is dark: at both ends of a diverging one.
    light = np.asarray(image.to_rgba(values))[..., :3] @ np.array([0.299, 0.587, 0.114])
    for (i, j), value in np.ndenumerate(values):
        if np.isfinite(value):
            colour = "white" if light[i, j] < 0.5 else "black"
            ax.text(j, i, form.format(value), ha="center", va="center", color=colour, size=7)


def _tick(ax: Axes, columns: Sequence[str], rows: Sequence[str]) -> None:
    ax.set_xticks(range(len(columns)), columns, rotation=90)
    ax.set_yticks(range(len(rows)), rows)
    ax.xaxis.tick_top()


def _seen_at(model: Fitted | HasFitted | Path, t: float | None) -> tuple[Path, float, CodeArray]:
    if isinstance(model, Path):
        end = float(model.times[-1])
        return model, end if t is None else t, np.zeros(len(model.items), dtype=np.int32)
    fitted = as_fitted(model)
    return fitted.path, fitted.t if t is None else t, fitted.component
