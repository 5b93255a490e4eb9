"""`prefpath fit`: the leaderboard, who deviates, who leans to a side."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from prefpath.cli import show
from prefpath.cli.app import app, console, error_console, print_json
from prefpath.cli.progress import progress_bar
from prefpath.cli.takes_votes import Json, Seed, takes_votes
from prefpath.errors import SettingError, VoteWarning
from prefpath.export import path_columns, write_table
from prefpath.fitted import Fitted
from prefpath.leaderboard import interval_meaning
from prefpath.votes import Votes

if TYPE_CHECKING:
    from prefpath.estimators import PreferenceModel

_MODEL = "The model"
_OUTPUT = "What comes out"


@app.command()
@takes_votes
def fit(
    votes: Votes,
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
        bool,
        typer.Option(help="Whether all may share a position effect.", rich_help_panel=_MODEL),
    ] = False,
    balance: Annotated[
        bool | None,
        typer.Option(
            help="Whether heavy voters enter no sooner for voting a lot.",
            show_default="up to 200,000 votes",
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
    q: Annotated[
        float, typer.Option(help="Target false-discovery rate.", rich_help_panel=_OUTPUT)
    ] = 0.1,
    top: Annotated[int, typer.Option(help="Rows of each table.", rich_help_panel=_OUTPUT)] = 20,
    personal: Annotated[
        list[str] | None,
        typer.Option(help="Whose own ranking to show, too.", rich_help_panel=_OUTPUT),
    ] = None,
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
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Rank the items, and name the annotators who deviate or lean to one side."""
    from prefpath.diagnose import personal_ranking
    from prefpath.estimators import PreferenceModel

    model = PreferenceModel(
        loss=loss,
        features=features,
        position_bias=position_bias,
        common_position=common_position,
        balance="auto" if balance is None else balance,
        kappa=kappa,
        cv=cv,
        criterion=criterion,  # type: ignore[arg-type]
        rule=rule,  # type: ignore[arg-type]
        solver=solver,  # type: ignore[arg-type]
        t_ratio="auto" if solver == "flow" else 50.0,
        random_state=seed,
        n_threads=threads,
    )
    fit_with_progress(model, votes)
    if t is not None:
        model.stop_at(t)
    ranking = model.ranking_columns(scale=scale, anchor=anchor, interval=interval)  # type: ignore[arg-type]
    people = model.annotator_columns(q=q)
    own = {name: personal_ranking(model, name).columns() for name in personal or []}
    if json:
        print_json(as_json(model.fitted_, ranking, people, own))
    else:
        show.result(console, model.fitted_, ranking, people, top=top, scale=scale)
        for name, columns in own.items():
            show.personal(console, name, columns, top=top)
    if out is not None:
        write_everything(model.fitted_, ranking, people, own, out, table_format)
    if report is not None:
        model.report(report)
        error_console.print(f"wrote {report}", markup=False, highlight=False)


def fit_with_progress(model: PreferenceModel, votes: Votes) -> None:
    """Fit with a bar that shows t and who has popped up; warnings are said in plain words."""
    with progress_bar() as report, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", VoteWarning)
        first: list[float] = []

        def progress(t: float, active: int) -> None:
            first.append(t)
            if report is not None:
                share = np.log(t / first[0]) / np.log(50.0)
                report("following the path", min(0.99, float(share)))
                report(f"  {active:,} annotators have popped up", min(0.99, float(share)))

        model.fit(votes, progress=progress if report is not None else None)
    for warning in said:
        error_console.print(f"note: {warning.message}", style="yellow", markup=False)


def _held_out(fitted: Fitted) -> dict[str, Any]:
    """Errors on held-out votes at the chosen t, and with one ranking for all."""
    found, common = fitted.held_out, fitted.held_out_of_one_ranking
    return {
        "criterion": fitted.criterion,
        "held_out_error": None if found is None else found.error,
        "held_out_error_of_one_ranking": None if common is None else common.error,
        "held_out_wrong": None if found is None else found.wrong,
        "held_out_wrong_of_one_ranking": None if common is None else common.wrong,
    }


def as_json(
    fitted: Fitted,
    ranking: dict[str, Any],
    people: dict[str, Any],
    own: dict[str, dict[str, Any]],
) -> dict[str, Any]:
    """Everything a fit says, for machines."""
    return {
        "t": fitted.t,
        "balanced": fitted.balanced,
        **_held_out(fitted),
        "intervals": (
            interval_meaning(fitted.votes.n_annotators, fitted.active_count[0])
            if "score_low" in ranking
            else None
        ),
        "ranking": _records(ranking),
        "annotators": _records(people),
        "personal": {name: _records(columns) for name, columns in own.items()},
        "votes": dict(fitted.votes.origin),
    }


def write_everything(
    fitted: Fitted,
    ranking: dict[str, Any],
    people: dict[str, Any],
    own: dict[str, dict[str, Any]],
    folder: Path,
    suffix: str = "csv",
) -> None:
    """Tables, path and cross-validation into a folder."""
    if folder.exists() and not folder.is_dir():
        raise SettingError(f"{folder} is a file", expected="a folder to write to")
    folder.mkdir(parents=True, exist_ok=True)
    write_table(ranking, folder / f"ranking.{suffix}")
    write_table(people, folder / f"annotators.{suffix}")
    for name, columns in own.items():
        write_table(columns, folder / f"personal-{_file_name(name)}.{suffix}")
    fitted.path.save(folder / "path.npz")
    write_table(path_columns(fitted.path), folder / f"path.{suffix}")
    found = fitted.cross_validation
    if found is not None:
        errors = {f"fold {k + 1}": row for k, row in enumerate(found.errors)}
        table = {"t": found.times, "mean": found.mean, **errors}
        write_table(table, folder / f"cross_validation.{suffix}")
    error_console.print(f"wrote tables and path to {folder}", markup=False, highlight=False)


def _records(columns: dict[str, Any]) -> list[dict[str, Any]]:
    names = list(columns)
    rows = zip(*(columns[name] for name in names), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _file_name(label: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in label)[:80]
