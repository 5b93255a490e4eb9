"""What `prefpath reproduce` does, piece by piece."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console

from prefpath.errors import MissingExtra, SettingError
from prefpath.experiments import report
from prefpath.experiments.data import look_beside_the_clone
from prefpath.experiments.runner import Results, run_table
from prefpath.experiments.tables import OURS, OWN_FOUR, PAPER_RIVALS, TABLES, Variant
from prefpath.text import counted
from prefpath.writing import write_text

__all__ = ["METHODS", "OWN_FOUR", "Options", "reproduce"]

QUICK_REPEATS = 2
METHODS = (*PAPER_RIVALS, *OURS)
BIAS_TABLES = {"table5": "iqa", "table7": "worldcollege"}


@dataclass(frozen=True)
class Options:
    """How to run the experiments."""

    out: Path
    console: Console
    quick: bool = False
    n_repeats: int = 20
    methods: Sequence[str] = METHODS
    n_jobs: int | None = None
    progress: Callable[[str, float], None] | None = None


def reproduce(name: str, options: Options) -> None:
    """One table or figure of the paper."""
    look_beside_the_clone()
    if name in TABLES:
        reproduce_table(name, options)
    elif name in BIAS_TABLES:
        reproduce_bias_table(name, options)
    else:
        reproduce_figures(name, options)


def reproduce_table(name: str, options: Options) -> None:
    """Run what is missing of a table, print it, and write CSV and figure."""
    table = TABLES[name].quick() if options.quick else TABLES[name]
    stem = f"{name}-quick" if options.quick else name
    n_repeats = min(QUICK_REPEATS, options.n_repeats) if options.quick else options.n_repeats
    results = run_table(
        table,
        options.methods,
        n_repeats,
        options.out / f"{stem}-repeats.csv",
        quick=options.quick,
        n_jobs=options.n_jobs,
        progress=options.progress,
    )
    for number, variant in enumerate(table.variants, start=1):
        lines = report.lines_of(table, variant, results, options.methods)
        report.show(table, variant, lines, options.console)
        _say_if_likelihood_beats_linear(variant, results, options.console)
        one = stem if len(table.variants) == 1 else f"{stem}-{number}"
        report.write_summary(options.out / f"{one}.csv", lines)
        if find_spec("matplotlib") is not None:
            report.write_figure(options.out / f"{one}.png", table.title, lines)
    if options.quick:
        options.console.print(
            f"quick: {counted(n_repeats, 'repeat')}, paths to ratio {table.t_ratio:g}, and not the "
            f"paper's {options.n_repeats} and {TABLES[name].t_ratio:g}",
            style="yellow",
        )
    minutes = sum(one.seconds for one in results.values()) / 60.0
    options.console.print(
        f"all repeats together: {minutes:.1f} processor minutes; written to {options.out}/{stem}*",
        highlight=False,
    )


def reproduce_bias_table(name: str, options: Options) -> None:
    """The ten annotators who first show a position bias, with their clicks."""
    from prefpath.experiments.position_bias_tables import top_ten

    said = io.StringIO()
    with redirect_stdout(said):
        top_ten(BIAS_TABLES[name])
    options.console.print(f"Table {name[5:]}: who leans to one side first", style="bold")
    options.console.print(said.getvalue(), markup=False, highlight=False)
    write_text(options.out / f"{name}.txt", said.getvalue())


def check_figures_can_be_drawn() -> None:
    """Refuse figures where nothing can draw them, before any work."""
    if find_spec("matplotlib") is None:
        raise MissingExtra("matplotlib", "plots", "a figure of the paper")


def reproduce_figures(name: str, options: Options) -> None:
    """All figures, or the parts of the paper's figure of a number, each with its numbers."""
    check_figures_can_be_drawn()
    import matplotlib

    from prefpath.experiments.figures import draw_figure, figures_of, write_page

    matplotlib.use("Agg")
    wanted = figures_of(name)
    if not wanted:
        raise SettingError(f"the paper has no {name}", expected="figure1 to figure13, or figures")
    folder = options.out / ("figures-quick" if options.quick else "figures")
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for done, figure in enumerate(wanted, start=1):
        found[figure.name] = draw_figure(figure, folder, quick=options.quick)
        options.console.print(f"\n{figure.title}", style="bold", highlight=False)
        options.console.print(f"{figure.known}\nours: {found[figure.name].words}", highlight=False)
        if options.progress is not None:
            options.progress(name, done / len(wanted))
    if name == "figures":
        write_page(found, folder, quick=options.quick)
    if options.quick:
        options.console.print("quick: paths to ratio 10, fewer repeats", style="yellow")
    options.console.print(f"written to {folder}", highlight=False)


def _say_if_likelihood_beats_linear(variant: Variant, results: Results, console: Console) -> None:
    for loss in ("bradley-terry", "thurstone-mosteller"):
        found = report.paired_difference(
            results, variant, f"multi-level-{loss}", "multi-level-linear"
        )
        if found is not None:
            mean, error = found
            console.print(
                f"{loss} minus linear on equal seeds: {mean:+.4f} ± {error:.4f}", highlight=False
            )
