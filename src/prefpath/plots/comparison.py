"""Methods beside each other: mean and range of their held-out error."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from prefpath.errors import MissingExtra
from prefpath.plots.style import GREY, ORANGE, axes_or_new, save_figure, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class MethodErrors(Protocol):
    """What is drawn of a method: its name, and its error over the splits."""

    @property
    def method(self) -> str: ...
    @property
    def min(self) -> float: ...
    @property
    def mean(self) -> float: ...
    @property
    def max(self) -> float: ...


def comparison(
    summaries: Sequence[MethodErrors],
    ax: Axes | None = None,
    *,
    emphasised: Collection[str] = (),
    published: Mapping[str, float] | None = None,
) -> Axes:
    """A line from the least to the largest mismatch ratio of each method, a dot at the mean.

    Parameters
    ----------
    emphasised : collection of str
        Methods drawn in colour.
    published : mapping, optional
        Means published elsewhere, drawn as diamonds.
    """
    ax = axes_or_new(ax, (6.4, 0.9 + 0.32 * len(summaries)))
    known = published or {}
    for row, one in enumerate(summaries):
        colour = ORANGE if one.method in emphasised else GREY
        ax.plot([one.min, one.max], [row, row], color=colour, linewidth=2.0, solid_capstyle="round")
        ax.plot([one.mean], [row], "o", color=colour, markersize=6)
        if one.method in known:
            ax.plot([known[one.method]], [row], "D", color="none", markeredgecolor="black")
    ax.set_yticks(range(len(summaries)), [shown(one.method) for one in summaries])
    ax.invert_yaxis()
    ax.set_xlabel("mismatch ratio on held-out votes: least, mean and largest")
    return ax


def save_comparison(
    file: Path,
    summaries: Sequence[MethodErrors],
    *,
    title: str = "",
    emphasised: Collection[str] = (),
    published: Mapping[str, float] | None = None,
) -> None:
    """The same in a file; needs no display."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("matplotlib", "plots", "a figure") from error
    figure = Figure(figsize=(7.2, 1.2 + 0.32 * len(summaries)), layout="constrained")
    ax = comparison(summaries, figure.subplots(), emphasised=emphasised, published=published)
    ax.set_title(title, loc="left", fontsize=10)
    save_figure(figure, file)
