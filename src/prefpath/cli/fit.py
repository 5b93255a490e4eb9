"""`prefpath fit`: the leaderboard, who deviates, who leans to a side."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import typer

from prefpath.cli import show
from prefpath.cli.app import app, console, error_console, print_json
from prefpath.cli.before import check_families, check_fit, check_labels, check_memory
from prefpath.cli.cluster import ClusterFolder, Collect, Scheduler
from prefpath.cli.failures import say_warning
from prefpath.cli.followers import rank_followers
from prefpath.cli.keeping import Remembering, checkpoint_for
from prefpath.cli.names import read_families, read_names
from prefpath.cli.outcome import Outcome
from prefpath.cli.progress import Report, progress_bar
from prefpath.cli.takes_votes import Json, Seed, takes_votes
from prefpath.errors import FindingWarning, VoteWarning
from prefpath.population import population_of
from prefpath.stages import watched
from prefpath.text import counted
from prefpath.votes import Votes

if TYPE_CHECKING:
    from prefpath.checkpoint import Checkpoint
    from prefpath.estimators import PreferenceModel

_MODEL = "The model"
_OUTPUT = "What comes out"


@app.command(cls=Remembering)
@takes_votes(check=check_fit, fits=True)
def fit(
    source: Any,  # Votes, or votes of a cluster, collected or not
    *,
    loss: Annotated[
        str,
        typer.Option(
            help="bradley-terry, thurstone-mosteller, linear, huber or smooth-l1.",
            rich_help_panel=_MODEL,
        ),
    ] = "bradley-terry",
    features: Annotated[
        str | None, typer.Option(help="Table of item features.", rich_help_panel=_MODEL)
    ] = None,
    position_bias: Annotated[
        bool, typer.Option(help="Whether annotators may lean.", rich_help_panel=_MODEL)
    ] = True,
    common_position: Annotated[
        bool | None,
        typer.Option(
            help="Whether all share a position effect (home advantage).",
            show_default="if the votes show one",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    attention: Annotated[
        bool | None,
        typer.Option(
            help="Whether annotators may see the scores more or less sharply.",
            show_default="if the votes show it",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    balance: Annotated[
        bool | None,
        typer.Option(
            help="Whether heavy voters enter no sooner for voting a lot.",
            show_default="yes",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    kappa: Annotated[
        float, typer.Option(help="Larger is less biased.", rich_help_panel=_MODEL)
    ] = 20.0,
    cv: Annotated[
        int, typer.Option(help="Folds of cross-validation; 0 for none.", rich_help_panel=_MODEL)
    ] = 5,
    criterion: Annotated[
        str,
        typer.Option(
            help="What the stop is chosen by: mismatch, log-loss, or auto (log-loss where the "
            "loss has probabilities).",
            rich_help_panel=_MODEL,
        ),
    ] = "auto",
    rule: Annotated[
        str, typer.Option(help="best or one-standard-error.", rich_help_panel=_MODEL)
    ] = "best",
    t: Annotated[
        float | None, typer.Option(help="Stop here instead.", rich_help_panel=_MODEL)
    ] = None,
    solver: Annotated[
        str, typer.Option(help="flow, or lbi (the paper's).", rich_help_panel=_MODEL)
    ] = "flow",
    t_ratio: Annotated[
        float | None,
        typer.Option(
            help="How far the path goes: its end over its start.",
            show_default="until the held-out error has stopped falling",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="One for each processor.", rich_help_panel=_MODEL)
    ] = None,
    scale: Annotated[
        str, typer.Option(help="natural, elo or probability.", rich_help_panel=_OUTPUT)
    ] = "natural",
    anchor: Annotated[
        str | None, typer.Option(help="Item to measure from.", rich_help_panel=_OUTPUT)
    ] = None,
    interval: Annotated[
        str, typer.Option(help="sandwich or bootstrap.", rich_help_panel=_OUTPUT)
    ] = "sandwich",
    about: Annotated[
        str | None,
        typer.Option(
            help="Whom intervals are about: these annotators, or all annotators like them.",
            show_default="these, if fewer than ten",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    q: Annotated[
        float, typer.Option(help="Target false-discovery rate.", rich_help_panel=_OUTPUT)
    ] = 0.1,
    top: Annotated[int, typer.Option(help="Rows of each table.", rich_help_panel=_OUTPUT)] = 20,
    personal: Annotated[
        list[str] | None,
        typer.Option(help="Whose own ranking to show, too.", rich_help_panel=_OUTPUT),
    ] = None,
    followers: Annotated[
        bool,
        typer.Option(
            "--followers",
            help="Rank the votes of those who follow by themselves, too.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder for tables and path.", rich_help_panel=_OUTPUT)
    ] = None,
    table_format: Annotated[
        str,
        typer.Option("--format", help="Of --out: csv, parquet or json.", rich_help_panel=_OUTPUT),
    ] = "csv",
    report: Annotated[
        Path | None, typer.Option(help="HTML report to write.", rich_help_panel=_OUTPUT)
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Folder that keeps what has been reached, for prefpath resume.",
            show_default="beside --out, for fits over a minute",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    scheduler: Scheduler = None,
    cluster_folder: ClusterFolder = None,
    collect: Collect = True,
    title: Annotated[
        str, typer.Option(help="Title of the report.", rich_help_panel=_OUTPUT)
    ] = "Preference report",
    names: Annotated[
        Path | None,
        typer.Option(
            help="Names to show for items: a table with columns item and name.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    families: Annotated[
        Path | None,
        typer.Option(
            help="Families of annotators and items, to see who favours their own: a table with "
            "columns name and family.",
            show_default="own names",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Rank the items, and name the annotators who deviate or lean to one side."""
    from prefpath.diagnose import personal_ranking
    from prefpath.estimators import PreferenceModel
    from prefpath.findings import find
    from prefpath.inference import IntervalSettings
    from prefpath.leaderboard import with_names

    del scheduler, cluster_folder, collect  # `takes_votes` has read the source by them
    votes = source if isinstance(source, Votes) else source.votes
    shown_names = read_names(names)
    known_families = None if families is None else read_families(families)
    asked = list(dict.fromkeys(personal or []))
    check_labels(votes, [anchor], asked)
    population_of(votes.n_annotators, about)  # type: ignore[arg-type]
    check_families(votes, known_families)
    check_memory(votes, cv)
    model = PreferenceModel(
        loss=loss,
        features=features,
        position_bias=position_bias,
        common_position="auto" if common_position is None else common_position,
        attention="auto" if attention is None else attention,
        balance="auto" if balance is None else balance,
        kappa=kappa,
        cv=cv,
        criterion=criterion,  # type: ignore[arg-type]
        rule=rule,  # type: ignore[arg-type]
        solver=solver,  # type: ignore[arg-type]
        t_ratio=_path_length(t_ratio, solver),
        random_state=seed,
        n_threads=threads,
    )
    how = IntervalSettings(interval, about=about)  # type: ignore[arg-type]
    with checkpoint_for(checkpoint, out) as keeper:
        fit_with_progress(model, source, keeper)
        if t is not None:
            model.stop_at(t)
        with progress_bar() as bar, watched(bar):
            findings = find(
                model,
                how,
                q=q,
                scale=scale,  # type: ignore[arg-type]
                anchor=anchor,
                weak=model.weak_ if report is not None else None,
                names=shown_names,
                families=known_families,
            )
            with closing(findings.diagnosis):
                found = Outcome(
                    findings,
                    {
                        name: with_names(
                            personal_ranking(model, name, weak=model.weak_).columns(), shown_names
                        )
                        for name in asked
                    },
                    rank_followers(findings, model) if followers else None,
                )
                # Files first: whatever happens to the terminal, the fit is not lost.
                wrote = _write_files(found, out, table_format, report, title)
        if json:
            print_json(found.as_json())
        else:
            show.result(console, found, top=top)
    for place in wrote:
        error_console.print(f"wrote {place}", markup=False, highlight=False)


def _path_length(asked: float | None, solver: str) -> float | Literal["auto"]:
    """Of LBI the end must be known before its start."""
    if asked is not None:
        return asked
    return "auto" if solver == "flow" else 50.0


def _write_files(
    found: Outcome, out: Path | None, suffix: str, report: Path | None, title: str
) -> list[str]:
    """Write what was asked for; say where."""
    wrote = []
    if out is not None:
        found.write(out, suffix)
        wrote.append(f"tables and path to {out}")
    if report is not None:
        from prefpath.report import write_report

        shown = found.findings.on_natural_scale()  # the slider moves natural scores
        write_report(shown, report, title=title)
        wrote.append(str(report))
    return wrote


def _say_once() -> Callable[..., None]:
    """Says each warning when it comes, and not again of every fold."""
    said: set[str] = set()

    def say(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        if str(message) not in said:
            said.add(str(message))
            say_warning(message, category)

    return say


def fit_with_progress(
    model: PreferenceModel, source: Any, checkpoint: Checkpoint | None = None
) -> None:
    """Fit with a bar: how far it is, how many differ; warnings are said in plain words."""
    from prefpath.ahead import expect_verdicts, n_helping
    from prefpath.solver.compiled import seconds_to_compile, when_compiling

    n_rows = (source if isinstance(source, Votes) else source.votes).n_rows
    expect_verdicts(n_rows)

    def say() -> None:
        seconds = seconds_to_compile(n_rows, 1 + n_helping())
        error_console.print(f"compiling once, about {seconds} seconds", style="dim")

    when_compiling(say)
    with progress_bar() as report, warnings.catch_warnings():
        warnings.simplefilter("always", VoteWarning)
        warnings.simplefilter("ignore", FindingWarning)  # shown with the result
        warnings.showwarning = _say_once()  # at once: a fit may take hours
        voter = source.voter if isinstance(source, Votes) else "annotator"
        told = None if report is None else _path_progress(report, voter)
        if isinstance(source, Votes):
            model.fit(source, progress=told, checkpoint=checkpoint)
        elif hasattr(source, "remote"):
            model.fit_elsewhere(source, progress=told, checkpoint=checkpoint)
        else:
            model.fit_collected(source, progress=told, checkpoint=checkpoint)


def _path_progress(report: Report, voter: str) -> Callable[[float, int], None]:
    """Shows how far path and folds have come, on a bar after that of what comes before them."""
    preparing = "preparing the votes"
    first: list[float] = []
    report(preparing, 0.0)

    def progress(t: float, active: int) -> None:
        first.append(t)
        report(preparing, 1.0)
        share = min(0.99, float(np.log(t / first[0]) / np.log(50.0)))
        report("following the path", share, f", {counted(active, voter)} unlike the rest")

    return progress
