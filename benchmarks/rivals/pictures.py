"""Figures of docs/rivals.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt

mpl.use("svg")
Record = dict[str, Any]
_SETTINGS = {"svg.hashsalt": "prefpath", "font.size": 9, "axes.spines.top": False,
             "axes.spines.right": False}  # fmt: skip
_OURS = "prefpath"


def draw_costs(records: list[Record], by: str, file: Path) -> None:
    """CPU seconds over votes; ours thick. `by` tells apart sizes of as many votes."""
    done = [one for one in records if "cpu" in one]
    methods = list(dict.fromkeys(one["method"] for one in done))
    sizes = list(dict.fromkeys((one["votes"], one[by]) for one in records))
    sizes.sort(key=lambda size: size[0])
    with mpl.rc_context(_SETTINGS):
        figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
        for method in methods:
            points = {
                (one["votes"], one[by]): one["cpu"] for one in done if one["method"] == method
            }
            at = [k for k, size in enumerate(sizes) if size in points]
            style = {"lw": 2.5, "color": "black"} if method == _OURS else {"lw": 1.0}
            dashes = "--" if method.startswith(_OURS + ",") else "-"
            axes.plot(at, [points[sizes[k]] for k in at], dashes, marker="o", ms=3, label=method,
                      **style)  # fmt: skip
        axes.set_xticks(range(len(sizes)), [f"{v:,} votes\n{_about(w, by)}" for v, w in sizes])
        axes.set(yscale="log", ylabel="CPU seconds")
        axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
        _save(figure, file)


def _about(value: Any, by: str) -> str:
    return f"{value:,} items" if by == "items" else str(value)


def draw_scaling(records: list[Record], file: Path) -> None:
    """A panel for everything varied."""
    done = [one for one in records if "cpu" in one]
    varied = list(dict.fromkeys(one["varied"] for one in done))
    with mpl.rc_context(_SETTINGS):
        figure, panels = plt.subplots(
            1, max(len(varied), 1), figsize=(9, 2.2), layout="constrained", squeeze=False
        )
        for axes, what in zip(panels[0], varied, strict=False):
            points = [(one[what], one["wall" if what == "threads" else "cpu"]) for one in done
                      if one["varied"] == what]  # fmt: skip
            axes.plot(*zip(*points, strict=True), "o-", color="black", ms=3, lw=1)
            axes.set(xlabel=what, xscale="log", yscale="log")
            axes.set_title("s on the clock" if what == "threads" else "CPU s", fontsize=8)
            axes.set_xticks([points[0][0], points[-1][0]], [f"{x:,g}" for x, _ in
                            (points[0], points[-1])])  # fmt: skip
            axes.minorticks_off()
        _save(figure, file)


def _save(figure: Any, file: Path) -> None:
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)
