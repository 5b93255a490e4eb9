"""What all figures share: axes, colours that everybody can tell apart, and labels."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefpath.errors import MissingExtra, SettingError
from prefpath.writing import check_file, whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, in the order figures use them.
BLUE, ORANGE, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
SERIES = (BLUE, ORANGE, GREEN, PURPLE, "#e69f00", "#56b4e9")
GREY, PALE = "#6b7480", "#c3c9d0"

DIVERGING = "RdBu"
"""Red below, blue above: one of matplotlib's maps that colour-blind readers can tell apart."""
SEQUENTIAL = "Blues"

FORMATS = ("png", "svg", "pdf")
_LONGEST_LABEL = 28


def axes_or_new(ax: Axes | None, size: tuple[float, float] = (6.4, 4.0)) -> Axes:
    """The axes given, or those of a new figure; without frame lines nobody reads."""
    if ax is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise MissingExtra("matplotlib", "plots", "a figure") from error
        _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def check_figure(file: str | Path) -> None:
    """Refuse a file no figure can be written to, before the work that is to be drawn."""
    if find_spec("matplotlib") is None:
        raise MissingExtra("matplotlib", "plots", "a figure")
    _format_of(file)
    check_file(file, "the figure's file")


def save_figure(figure: Figure, file: str | Path, *, dpi: int = 150) -> None:
    """Write a figure whole or not at all; its name says how."""
    kind = _format_of(file)
    with whole_file(file) as part:
        figure.savefig(part, format=kind, dpi=dpi)


def _format_of(file: str | Path) -> str:
    suffix = Path(file).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise SettingError(
            f"{file} does not say which format to draw",
            expected="a name that ends in .png, .svg or .pdf",
        )
    return suffix


def shown(label: Any) -> str:
    """A user's label for a figure: short, and no part of it is mathematics.

    >>> shown("costs $5 or $6")
    'costs \\\\$5 or \\\\$6'
    """
    words = " ".join(str(label).split())
    if len(words) > _LONGEST_LABEL:
        words = words[: _LONGEST_LABEL - 1] + "…"
    return words.replace("$", r"\$")


def mark_time(ax: Axes, t: float | None, words: str = "chosen t") -> None:
    """A dashed line at the chosen time."""
    if t is not None:
        ax.axvline(t, color=GREY, linestyle="--", linewidth=1.2, label=words, zorder=1)


def log_time_axis(ax: Axes) -> None:
    """The horizontal axis of every figure along the path."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xscale("log")
    low, high = ax.get_xlim()
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 1e3 * low else (1.0,)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda t, _: f"{t:,g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("t: from social to individuals")
