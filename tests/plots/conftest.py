"""Stable results to draw, and a comparison with small stored images."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from prefpath import Votes, fit_path, simulate_crowd
from prefpath.path import Path as PreferencePath
from prefpath.selection.cross_validation import CrossValidation

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

BASELINE = Path(__file__).parent / "baseline"
TOLERANCE = 6.0
"""Root mean square of grey levels: lines may be smoothed differently, nothing may move."""


@pytest.fixture(autouse=True)
def plain_style() -> Iterator[None]:
    """Matplotlib's own defaults, whatever the machine's; figures closed afterwards."""
    import matplotlib.pyplot as plt

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams["font.family"] = "DejaVu Sans"
        yield
    plt.close("all")


@pytest.fixture(scope="session")
def votes() -> Votes:
    return simulate_crowd(1500, 20, 6, deviants=2, clickers=2, labels="readable", seed=4).votes


@pytest.fixture(scope="session")
def path(votes: Votes) -> PreferencePath:
    return fit_path(votes, solver="lbi", n_times=15, t_ratio=20.0)


@pytest.fixture(scope="session")
def cv() -> CrossValidation:
    times = np.geomspace(10.0, 500.0, 12)
    curve = 0.2 + 0.02 * (np.log(times) - np.log(60.0)) ** 2
    folds = curve + 0.01 * np.array([[-1.0], [0.0], [1.0]])
    return CrossValidation(times, folds, "mismatch", folds)


@pytest.fixture
def looks_like() -> Callable[[object, str], None]:
    """Compare a figure with its stored image; `PREFPATH_BASELINE=write` stores it anew."""
    return compare_with_baseline


def compare_with_baseline(ax: object, name: str) -> None:
    from matplotlib.testing.compare import compare_images

    figure = ax.figure  # type: ignore[attr-defined]
    _remove_words(figure)
    stored = BASELINE / f"{name}.png"
    if os.environ.get("PREFPATH_BASELINE") == "write":
        figure.savefig(stored, dpi=40, metadata={"Software": None})
    drawn = Path(os.environ["PREFPATH_DRAWN"]) / f"{name}.png"
    figure.savefig(drawn, dpi=40, metadata={"Software": None})
    difference = compare_images(str(stored), str(drawn), TOLERANCE)
    assert difference is None, difference


@pytest.fixture(autouse=True)
def drawn_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFPATH_DRAWN", str(tmp_path))


def _remove_words(figure: object) -> None:
    """Fonts differ between machines: what is compared is lines, bars, cells and colours.

    The place of the axes depends on the size of the words too, so it is fixed.
    """
    figure.set_layout_engine("none")  # type: ignore[attr-defined]
    for ax in figure.axes:  # type: ignore[attr-defined]
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_tick_params(which="both", labelbottom=False, labeltop=False,
                                 labelleft=False, labelright=False)  # fmt: skip
            axis.label.set_visible(False)
            axis.get_offset_text().set_visible(False)
        for text in [*ax.texts, *([ax.get_legend()] if ax.get_legend() else [])]:
            text.set_visible(False)
    figure.axes[0].set_position((0.1, 0.1, 0.7, 0.8))  # type: ignore[attr-defined]
    for k, bar in enumerate(figure.axes[1:]):  # type: ignore[attr-defined]
        bar.set_position((0.85 + 0.05 * k, 0.1, 0.03, 0.8))
