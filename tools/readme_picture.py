"""The picture of the README: a simulated crowd, its paths and its leaderboard.

python tools/readme_picture.py        # writes docs/images/overview.png
"""

from __future__ import annotations

from pathlib import Path as FilePath

from prefpath import PreferenceModel, plots, simulate_crowd

OUT = FilePath(__file__).resolve().parents[1] / "docs" / "images" / "overview.png"


def main() -> None:
    """Fit a crowd with four planted deviants and four clickers, and draw what was found."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    crowd = simulate_crowd(6000, 60, 12, deviants=4, clickers=4, labels="readable", seed=3)
    model = PreferenceModel().fit(crowd.votes)
    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(12.0, 3.7), layout="constrained", width_ratios=(1.0, 1.0, 1.0)
    )
    plots.leaderboard(model.ranking_columns(), left)
    left.set_title("The common ranking, with 95 % intervals", fontsize=10, loc="left")
    plots.deviation_paths(model.path_, middle, t=model.t_)
    middle.set_title("Who has a taste of their own", fontsize=10, loc="left")
    plots.position_bias_paths(model.path_, right, t=model.t_)
    right.set_title("Who leans to one side of the screen", fontsize=10, loc="left")
    OUT.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(OUT, dpi=110, metadata={"Software": None})
    print(f"written: {OUT}")


if __name__ == "__main__":
    main()
