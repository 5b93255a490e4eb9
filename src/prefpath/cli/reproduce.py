"""`prefpath reproduce`: the paper's tables and figures, by one command each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prefpath.cli.app import app, console
from prefpath.cli.progress import progress_bar
from prefpath.errors import SettingError

_TABLES = ("table1", "table2", "table4", "table6")
_BIAS_TABLES = ("table5", "table7")
_FIGURES = tuple(f"figure{k}" for k in range(1, 14))
_GROUPS = {
    "tables": (*_TABLES, *_BIAS_TABLES),
    "all": (*_TABLES, *_BIAS_TABLES, "figures"),
}
_OURS = "ours"


@app.command()
def reproduce(
    what: Annotated[
        list[str],
        typer.Argument(help="table1, 2, 4, 5, 6, 7; figure1 to 13; tables, figures or all."),
    ],
    quick: Annotated[bool, typer.Option("--quick", help="Few repeats, shorter paths.")] = False,
    repeats: Annotated[int, typer.Option(min=1, help="Random splits of each table.")] = 20,
    methods: Annotated[
        str | None,
        typer.Option(help='Methods, separated by commas; "ours" is our three and HodgeRank.'),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; one for each processor by default.")
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder for repeats, tables and figures; a run resumes from it.")
    ] = Path("out/experiments"),
) -> None:
    """Reproduce the paper's tables and figures beside its own figures.

    Every finished repeat is kept in the output folder: a stopped run goes on.
    Data are read from the folder that PREFPATH_DATA names.
    """
    wanted = _expand(what)
    from prefpath.experiments import reproduce as experiments

    if any(name.startswith("figure") for name in wanted):
        experiments.check_figures_can_be_drawn()
    out.mkdir(parents=True, exist_ok=True)
    with progress_bar() as report:
        options = experiments.Options(
            out=out,
            console=console,
            quick=quick,
            n_repeats=repeats,
            methods=_methods(methods),
            n_jobs=jobs,
            progress=report,
        )
        for name in wanted:
            experiments.reproduce(name, options)


def _expand(what: list[str]) -> list[str]:
    """Single experiments, each once, in the order asked for."""
    known = {*_GROUPS["all"], *_FIGURES}
    wanted: dict[str, None] = {}
    for name in what:
        if name not in known | set(_GROUPS):
            raise SettingError(
                f"there is no experiment {name!r}",
                expected=f"one of {', '.join((*_GROUPS['all'], *_FIGURES, *_GROUPS))}",
            )
        wanted.update(dict.fromkeys(_GROUPS.get(name, (name,))))
    return list(wanted)


def _methods(asked: str | None) -> tuple[str, ...]:
    from prefpath.experiments.reproduce import METHODS, OWN_FOUR

    if asked is None:
        return METHODS
    if asked == _OURS:
        return OWN_FOUR
    names = tuple(name.strip().lower() for name in asked.split(","))
    from prefpath.compare import find_contenders
    from prefpath.experiments.tables import DEFAULTS

    find_contenders([name for name in names if name not in DEFAULTS])
    return names
