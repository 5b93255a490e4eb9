"""Regularization paths: who leaves the common ranking, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prefpath.model.design import Floats, Ints
from prefpath.path import Kind, Path
from prefpath.plots.style import BLUE, GREEN, ORANGE, PALE, axes_or_new, log_time_axis, mark_time
from prefpath.plots.tally import deviation_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LINES = 400


def deviation_paths(
    path: Path, ax: Axes | None = None, *, t: float | None = None, n_marked: int = 3
) -> Axes:
    """Size of every annotator's deviation along the path, from social to individuals.

    Parameters
    ----------
    path : Path
    ax : matplotlib axes, optional
    t : float, optional
        The chosen time, shown as a dashed line.
    n_marked : int
        How many annotators are marked at the top, in the middle and at the bottom of the
        order in which they pop up.

    Returns
    -------
    matplotlib axes
    """
    ax = axes_or_new(ax)
    values = np.array([deviation_size(path, float(time)) for time in path.times])
    _draw(ax, path, values, "deviation", n_marked)
    ax.set_ylabel("size of deviation")
    return _finish(ax, t)


def position_bias_paths(
    path: Path, ax: Axes | None = None, *, t: float | None = None, n_marked: int = 3
) -> Axes:
    """Position bias of every annotator along the path; above 0 leans left.

    Parameters are those of `deviation_paths`.
    """
    ax = axes_or_new(ax)
    values = np.array([path.position_bias(float(time)) for time in path.times])
    _draw(ax, path, values, "position_bias", n_marked)
    ax.set_ylabel("position bias (left above 0)")
    return _finish(ax, t)


def marked_annotators(entered: Floats, n_marked: int) -> tuple[Ints, Ints, Ints]:
    """Codes at the top, in the middle and at the bottom of the order of popping up.

    >>> marked_annotators(np.array([4.0, 1.0, np.inf, 2.0, 3.0]), 1)
    (array([1]), array([4]), array([2]))
    """
    order = np.argsort(entered, kind="stable")
    n = min(n_marked, len(order) // 3)
    middle = (len(order) - n) // 2
    return order[:n], order[middle : middle + n], order[len(order) - n :]


def _draw(ax: Axes, path: Path, values: Floats, kind: Kind, n_marked: int) -> None:
    """Pale lines for all (the furthest, in a large crowd), colours for the marked."""
    from matplotlib.collections import LineCollection

    furthest = np.argsort(-np.abs(values).max(axis=0), kind="stable")[:_MOST_LINES]
    lines = [np.column_stack((path.times, values[:, u])) for u in furthest]
    ax.add_collection(LineCollection(lines, colors=PALE, linewidths=0.7, zorder=2))
    groups = marked_annotators(path.entry_times(kind), n_marked)
    for codes, colour, words in zip(
        groups, (ORANGE, BLUE, GREEN), ("first", "middle", "last"), strict=True
    ):
        for k, u in enumerate(codes):
            label = f"{words} to pop up" if k == 0 else None
            ax.plot(path.times, values[:, u], color=colour, linewidth=1.8, label=label, zorder=3)
    ax.set_xlim(path.times[0], path.times[-1])
    ax.autoscale(axis="y")


def _finish(ax: Axes, t: float | None) -> Axes:
    log_time_axis(ax)
    mark_time(ax, t)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=False, loc="upper left", fontsize="small")
    return ax
