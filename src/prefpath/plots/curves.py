"""Curves: held-out error, losses, speed-up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from prefpath.model.losses import Loss, as_loss
from prefpath.plots.style import BLUE, GREY, SERIES, axes_or_new, log_time_axis, mark_time
from prefpath.selection.cross_validation import CrossValidation

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def error_curve(cv: CrossValidation, ax: Axes | None = None, *, t: float | None = None) -> Axes:
    """Held-out error along the path, with one standard error on both sides.

    Parameters
    ----------
    cv : CrossValidation
    ax : matplotlib axes, optional
    t : float, optional
        The chosen time; the time of the least error by default.
    """
    ax = axes_or_new(ax)
    low, high = cv.mean - cv.standard_error, cv.mean + cv.standard_error
    ax.fill_between(cv.times, low, high, color=BLUE, alpha=0.18, linewidth=0)
    ax.plot(cv.times, cv.mean, color=BLUE, linewidth=2)
    ax.set_xlim(cv.times[0], cv.times[-1])
    log_time_axis(ax)
    mark_time(ax, cv.t_cv if t is None else t)
    ax.set_ylabel("mismatch ratio" if cv.criterion == "mismatch" else "log-loss")
    ax.legend(frameon=False)
    return ax


def losses(
    names: Sequence[str | Loss] = ("linear", "bradley-terry", "thurstone-mosteller"),
    ax: Axes | None = None,
) -> Axes:
    """What a vote for the left item costs, by its margin (the paper's Fig. 2)."""
    ax = axes_or_new(ax)
    margin = np.linspace(-3.0, 3.0, 241)
    for name, colour, dash in zip(names, SERIES, ("-", "--", "-.", ":", "-", "--"), strict=False):
        loss = as_loss(name)
        cost = loss.value(margin, np.ones_like(margin))
        ax.plot(margin, cost, color=colour, linestyle=dash, linewidth=2, label=loss.name)
    ax.set_xlabel("margin of the left item, which was chosen")
    ax.set_ylabel("loss")
    ax.legend(frameon=False)
    return ax


def speed_up(threads: ArrayLike, seconds: ArrayLike, ax: Axes | None = None) -> Axes:
    """How many times faster the same work is with more threads; the dashed line is ideal.

    Parameters
    ----------
    threads : array (n,)
        The first is what the others are compared with.
    seconds : array (n,) or (n, repeats)
        Repeats are drawn as their median and range.
    """
    ax = axes_or_new(ax)
    count, time = np.asarray(threads, dtype=float), np.asarray(seconds, dtype=float)
    time = time.reshape(len(count), -1)
    ratio = np.median(time[0]) / time
    ax.plot(count, count / count[0], color=GREY, linestyle="--", linewidth=1.2, label="ideal")
    ax.fill_between(count, ratio.min(axis=1), ratio.max(axis=1), color=BLUE, alpha=0.18, lw=0)
    ax.plot(count, np.median(ratio, axis=1), "o-", color=BLUE, linewidth=2, label="measured")
    ax.set_xticks(count)
    ax.set_xlabel("threads")
    ax.set_ylabel("times as fast")
    ax.legend(frameon=False)
    return ax
