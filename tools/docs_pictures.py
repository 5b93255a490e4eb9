"""Pictures of the pages on the model and its solver: `make docs` runs it.

python tools/docs_pictures.py        # writes docs/images/held-out.svg, losses.svg, evaluations.svg
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt

from prefpath import PreferenceModel, fit_path, plots, simulate_crowd

OUT = Path(__file__).resolve().parents[1] / "docs" / "images"
RATIOS = (2.0, 5.0, 10.0, 20.0)


def held_out() -> None:
    """Held-out error along a path, and the time chosen."""
    model = PreferenceModel().fit(simulate_crowd(6000, 60, 12, seed=3).votes)
    assert model.cv_ is not None
    figure, axes = plt.subplots(figsize=(6.4, 3.0), layout="constrained")
    plots.error_curve(model.cv_, axes, t=model.t_)
    save(figure, "held-out")


def losses() -> None:
    """What a vote costs at each margin."""
    figure, axes = plt.subplots(figsize=(6.4, 3.0), layout="constrained")
    plots.losses(ax=axes)
    save(figure, "losses")


def evaluations() -> None:
    """Passes over the votes that each solver needs, the further the path goes."""
    votes = simulate_crowd(4000, 40, 10, seed=3).votes
    figure, axes = plt.subplots(figsize=(6.4, 3.0), layout="constrained")
    for solver, style in (("lbi", "o--"), ("flow", "o-")):
        needed = [
            fit_path(votes, solver=solver, t_ratio=ratio, n_times=5).n_evaluations
            for ratio in RATIOS
        ]
        axes.plot(RATIOS, needed, style, color="black", label=solver)
    axes.set(xscale="log", yscale="log", xlabel="how far: t / first entry", ylabel="evaluations")
    axes.set_xticks(RATIOS, [f"{ratio:g}" for ratio in RATIOS])
    axes.minorticks_off()
    axes.legend(frameon=False)
    save(figure, "evaluations")


def save(figure: plt.Figure, name: str) -> None:
    """The same bytes for the same picture."""
    OUT.mkdir(parents=True, exist_ok=True)
    figure.savefig(OUT / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    with mpl.rc_context({"svg.hashsalt": "prefpath", "font.size": 9}):
        held_out()
        losses()
        evaluations()
