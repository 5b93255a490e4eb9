"""The picture of the README: a simulated crowd, its leaderboard and its paths.

python tools/readme_picture.py        # writes docs/images/overview.png
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

import numpy as np

from prefpath import PreferenceModel, plots, simulate_crowd
from prefpath.plots.style import BLUE, GREY, ORANGE, PALE
from prefpath.plots.tally import deviation_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OUT = FilePath(__file__).resolve().parents[1] / "docs" / "images" / "overview.png"
QUIET = {"follows the crowd", "goes with the crowd", "inconclusive", "too few votes to tell"}
LETTERS = {"font.size": 11.0, "axes.titlesize": 12.5, "axes.titlelocation": "left"}


def main() -> None:
    """Fit a crowd with four planted tastes and four planted leans, and draw what was found."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    crowd = simulate_crowd(6000, 60, 12, deviants=4, clickers=4, labels="readable", seed=3)
    model = PreferenceModel(t_ratio=20).fit(crowd.votes)
    with plt.rc_context(LETTERS):
        figure, (left, middle, right) = plt.subplots(
            1, 3, figsize=(13.5, 4.3), layout="constrained"
        )
        figure.get_layout_engine().set(wspace=0.06)
        plots.leaderboard(model.ranking_columns(), left)
        left.set_title("What the crowd prefers, 95 % intervals")
        draw_paths(middle, model, partial(deviation_size, model.path_), ("own taste",), ORANGE)
        middle.set(title="Whose taste differs", ylabel="size of the taste of one's own")
        draw_paths(right, model, model.path_.position_bias, ("leans left", "leans right"), BLUE)
        right.set(title="Who leans to one side", ylabel="lean: right below 0, left above")
        OUT.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(OUT, dpi=130, metadata={"Software": None})
    people = model.annotator_columns()
    named = [str(who) for who, word in zip(people["annotator"], people["verdict"], strict=True)
             if word not in QUIET]  # fmt: skip
    print(f"planted: {', '.join(sorted({*crowd.deviants, *crowd.clickers}))}")
    print(f"named: {', '.join(sorted(named))}\nwritten: {OUT}")


def draw_paths(
    ax: Axes,
    model: PreferenceModel,
    size: Callable[[float], np.ndarray],
    verdicts: tuple[str, ...],
    colour: str,
) -> None:
    """Everybody's effect along the path, pale; in colour, by name, who has such a verdict."""
    path = model.path_
    values = np.array([size(float(t)) for t in path.times])
    people = model.annotator_columns()
    given = dict(zip(people["annotator"], people["verdict"], strict=True))
    named = [u for u, name in enumerate(path.annotators) if given[name] in verdicts]
    ax.plot(path.times, values, color=PALE, linewidth=0.8)
    ax.plot(path.times, values[:, named], color=colour, linewidth=2.2)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set(xscale="log", xlim=(path.times[0], path.times[-1]))
    ax.tick_params(axis="x", which="both", length=0, labelbottom=False)
    ax.set_xlabel("one ranking for all   →   everybody alone")
    ax.axvline(model.t_, color=GREY, linestyle="--", linewidth=1.2)
    place = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
    ax.annotate("chosen by\nheld-out votes", (model.t_, 1.0), (-4, -2), color=GREY, fontsize=9.5,
                ha="right", va="top", **place)  # fmt: skip
    name_lines(ax, [str(path.annotators[u]) for u in named], values[-1, named], colour)


def name_lines(ax: Axes, names: list[str], ends: np.ndarray, colour: str) -> None:
    """Names right of where the lines end, moved apart so that none covers another."""
    low, high = ax.get_ylim()
    apart, place = (high - low) / 16, -np.inf
    for k in np.argsort(ends, kind="stable"):
        place = max(float(ends[k]), place + apart)
        ax.annotate(
            names[k],
            (1.0, place),
            (5, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            color=colour,
            va="center",
            annotation_clip=False,
        )


if __name__ == "__main__":
    main()
