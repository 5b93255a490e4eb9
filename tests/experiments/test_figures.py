"""The paper's figures: every number draws something, and says what it is."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from prefpath import MissingExtra, PreferenceModel, SettingError, fit_path, simulate_crowd
from prefpath.cli import app
from prefpath.experiments import reproduce, speed_up_figures
from prefpath.experiments.figure_kit import Figure, Finding, entry_order, fitted
from prefpath.experiments.figures import FIGURES, figures_of
from prefpath.experiments.movie_figures import FIRST_OCCUPATIONS, LAST_OCCUPATIONS, occupation
from prefpath.experiments.speed_up_figures import many_times, time_iterations
from prefpath.model.problem import Problem

plt = pytest.importorskip("matplotlib.pyplot")
NUMBERS = [f"figure{k}" for k in range(1, 14)]


@pytest.mark.parametrize("name", NUMBERS)
def test_every_number_is_drawn_and_says_what_is_known(name: str) -> None:
    figures = figures_of(name)
    assert figures
    for figure in figures:
        seen = f"the paper's figure {figure.number} as far as known: "
        not_seen = f"we could not see the paper's figure {figure.number}"
        assert figure.known.startswith((seen, not_seen))


def test_names_are_unique_and_all_are_among_the_figures() -> None:
    assert len({figure.name for figure in FIGURES}) == len(FIGURES)
    assert figures_of("figures") == list(FIGURES)
    assert {figure.name for name in NUMBERS for figure in figures_of(name)} < {
        figure.name for figure in FIGURES
    }


def test_a_figure_the_paper_does_not_have(tmp_path: Path) -> None:
    options = reproduce.Options(tmp_path, Console(file=io.StringIO()))
    with pytest.raises(SettingError, match="the paper has no figure14"):
        reproduce.reproduce("figure14", options)


def test_a_figure_is_written_with_its_numbers(tmp_path: Path) -> None:
    said, shares = io.StringIO(), []
    options = reproduce.Options(
        tmp_path, Console(file=said, width=200), quick=True,
        progress=lambda name, share: shares.append((name, share)),
    )  # fmt: skip
    reproduce.reproduce("figure2", options)
    assert "the paper's figure 2 as far as known" in said.getvalue()
    assert shares == [("figure2", 1.0)]
    folder = tmp_path / "figures-quick"
    assert (folder / "losses.png").read_bytes().startswith(b"\x89PNG")
    with (folder / "losses.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    at_zero = next(row for row in rows if abs(float(row["margin"])) < 1e-9)
    assert float(at_zero["bradley-terry"]) == pytest.approx(np.log(2.0))
    assert float(at_zero["linear"]) == pytest.approx(0.5)


def test_the_page_has_every_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(quick: bool) -> Finding:
        plt.figure()
        return Finding(f"quick is {quick}", {"x": [1]})

    from prefpath.experiments import figures

    two = (Figure("a", "one", draw, "1", "known"), Figure("b", "two", draw))
    monkeypatch.setattr(figures, "FIGURES", two)
    options = reproduce.Options(tmp_path, Console(file=io.StringIO()))
    reproduce.reproduce("figures", options)
    page = (tmp_path / "figures" / "README.md").read_text()
    assert "## Figure 1: one" in page
    assert "![two](b.png)" in page
    assert "Known. Quick is False." in page


def test_the_authors_occupations_by_name() -> None:
    named = [occupation(code) for code in (*FIRST_OCCUPATIONS, *LAST_OCCUPATIONS)]
    assert named == [
        "executive/managerial", "technician/engineer", "academic/educator",
        "scientist", "unemployed", "farmer",
    ]  # fmt: skip


def test_orders_go_by_the_grid_and_then_by_number() -> None:
    votes = simulate_crowd(600, 8, 5, deviants=0.5, seed=1, labels="numbered").votes
    names = {label: k for k, label in enumerate(votes.annotators)}
    model = fitted(PreferenceModel(cv=None, t_ratio=30.0, n_times=4), votes)
    object.__setattr__(model.path_, "annotators", np.arange(len(names)))
    order = entry_order(model, "deviation")
    step = np.searchsorted(model.path_.times, model.path_.entered)
    assert len(order) == np.isfinite(model.path_.entered).sum() > 2
    assert [(step[u], u) for u in order] == sorted((step[u], u) for u in order)


def test_the_crowd_many_times_over_has_the_same_common_scores() -> None:
    votes = simulate_crowd(500, 10, 6, seed=0).votes
    large = many_times(votes, 4)
    assert (large.n_votes, large.n_annotators) == (4 * votes.n_votes, 40)
    times = [0.05, 0.1]  # before anybody deviates the mean loss, and so the path, is the same
    one, four = (fit_path(each, times=times, solver="lbi", step=0.01) for each in (votes, large))
    np.testing.assert_allclose(one.scores(0.1), four.scores(0.1), atol=1e-12)


def test_speed_up_is_against_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed_up_figures, "SECONDS_A_RUN", 0.001)
    problem = Problem.build(simulate_crowd(500, 10, 6, seed=0).votes)
    timing = time_iterations(problem, (1, 2), repeats=2)
    assert timing.seconds.shape == (2, 2)
    assert (timing.seconds > 0).all()
    assert timing.speed_up[0] == 1.0
    assert timing.efficiency[1] == timing.speed_up[1] / 2


def test_without_matplotlib_a_figure_is_refused_in_one_line_with_the_remedy(monkeypatch, tmp_path):
    monkeypatch.setattr(reproduce, "find_spec", lambda name: None)
    asked = ["reproduce", "table5", "figure1", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, asked)
    assert isinstance(result.exception, MissingExtra)
    assert str(result.exception) == (
        "a figure of the paper needs matplotlib: pip install 'prefpath[plots]'"
    )
    assert not (tmp_path / "out").exists()
