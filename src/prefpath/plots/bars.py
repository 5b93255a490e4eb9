"""Bars: feature proportions, Hodge energies, clicks by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from prefpath.hodge import HodgeDecomposition
from prefpath.plots.style import BLUE, GREY, ORANGE, PALE, SERIES, axes_or_new, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def feature_shares(
    shares: Mapping[str, ArrayLike], features: Sequence[Any], ax: Axes | None = None
) -> Axes:
    """Share of each feature among the top items, in common or by group (Figs. 1a, 5a, 5b).

    Parameters
    ----------
    shares : mapping from a name to an array (n_features,)
        "common" alone, or several groups side by side.
    features : sequence of labels
        Drawn from the largest share of the first name to its smallest.
    ax : matplotlib axes, optional
    """
    values = [np.asarray(share, dtype=float) for share in shares.values()]
    order = np.argsort(-values[0], kind="stable")
    ax = axes_or_new(ax, (1.5 + 0.45 * len(features), 4.0))
    width = 0.8 / len(values)
    for k, (name, value, colour) in enumerate(zip(shares, values, SERIES, strict=False)):
        place = np.arange(len(order)) + (k - (len(values) - 1) / 2) * width
        ax.bar(place, value[order], width * 0.94, color=colour, label=shown(name))
    ax.set_xticks(range(len(order)), [shown(features[k]) for k in order], rotation=60, ha="right")
    ax.tick_params(axis="x", length=0)
    ax.set_ylabel("share among the top items")
    if len(values) > 1:
        ax.legend(frameon=False)
    return ax


def hodge_energies(
    decompositions: HodgeDecomposition | Mapping[str, HodgeDecomposition], ax: Axes | None = None
) -> Axes:
    """How much of what a crowd prefers is a ranking, and how much goes in circles.

    Parameters
    ----------
    decompositions : HodgeDecomposition or mapping from a name to one
        One bar each.
    """
    if isinstance(decompositions, HodgeDecomposition):
        decompositions = {"votes": decompositions}
    ax = axes_or_new(ax, (6.4, 0.9 + 0.5 * len(decompositions)))
    start = np.zeros(len(decompositions))
    place = np.arange(len(decompositions))
    for part, words, colour in (
        ("gradient", "ranking", BLUE),
        ("local", "triangles", ORANGE),
        ("harmonic", "longer circles", PALE),
    ):
        energies = [parts.energy for parts in decompositions.values()]
        share = np.array([getattr(e, part) / e.total if e.total else 0.0 for e in energies])
        ax.barh(place, share, 0.6, left=start, color=colour, label=words)
        start += share
    ax.set_yticks(place, [shown(name) for name in decompositions])
    ax.invert_yaxis()
    ax.set_xlim(0.0, 1.0)
    ax.set_xlabel("share of energy")
    ax.legend(frameon=False, ncols=3, loc="lower left", bbox_to_anchor=(0.0, 1.0))
    return ax


def position_clicks(annotators: Any, ax: Axes | None = None, *, top: int = 10) -> Axes:
    """Left and right clicks of the first annotators whose position bias popped up.

    Parameters
    ----------
    annotators : frame or mapping of columns
        As `model.annotators()` or `model.annotator_columns()` gives it.
    ax : matplotlib axes, optional
    top : int
        How many annotators to draw, in the order of popping up.
    """
    names, left, right, ties, entered = (
        np.asarray(annotators[column])
        for column in ("annotator", "left", "right", "ties", "position_bias_entered")
    )
    when = np.array([np.inf if t is None else float(t) for t in entered])
    order = np.argsort(when, kind="stable")[:top]
    order = order[np.isfinite(when[order])]
    ax = axes_or_new(ax, (6.4, 0.9 + 0.3 * max(len(order), 1)))
    place, start = np.arange(len(order)), np.zeros(len(order))
    for clicks, words, colour in (
        (left, "left", BLUE),
        (ties, "tie", PALE),
        (right, "right", ORANGE),
    ):
        ax.barh(place, clicks[order], 0.7, left=start, color=colour, label=words)
        start += clicks[order]
    for row, u in enumerate(order):
        ax.text(start[row], row, f" {left[u]:g} : {right[u]:g}", va="center", color=GREY, size=8)
    ax.set_yticks(place, [shown(names[u]) for u in order])
    ax.invert_yaxis()
    ax.set_xlabel("votes")
    ax.legend(frameon=False, ncols=3, loc="lower left", bbox_to_anchor=(0.0, 1.0))
    return ax
