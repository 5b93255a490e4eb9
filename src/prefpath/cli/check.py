"""`prefpath check`: can a ranking of these votes be trusted?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from prefpath.cli import reading
from prefpath.cli.app import app, console, print_json
from prefpath.trust import TrustPanel, trust_panel
from prefpath.votes import Votes

_MARKS = {"passed": "[green]passed[/]", "warn": "[yellow]warn[/]", "fail": "[red]fail[/]"}


@app.command()
def check(
    votes: reading.Source,
    annotator: reading.Annotator = None,
    left: reading.Left = None,
    right: reading.Right = None,
    choice: reading.Choice = None,
    weight: reading.Weight = None,
    group: reading.Group = None,
    annotators: reading.Annotators = None,
    dialect: reading.DialectOption = None,
    ties: reading.TiesOption = reading.Ties.half,
    both_bad: reading.BothBadOption = reading.BothBad.tie,
    unknown: reading.UnknownOption = reading.Unknown.error,
    position_known: reading.Position = None,
    grades: reading.GradesOption = None,
    baseline: reading.Baseline = None,
    pairs_per_annotator: reading.Pairs = None,
    seed: Annotated[int, typer.Option(help="Of the draw of pairs.")] = 0,
    memory_limit: reading.MemoryLimit = "1GB",
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check whether votes can carry a ranking: connections, sides, circles, with advice.

    The exit code is 1 if a check fails, 2 if the votes cannot be read.
    """
    read = reading.load_votes(
        votes,
        quiet=json,
        annotator=annotator,
        left=left,
        right=right,
        choice=choice,
        weight=weight,
        group=group,
        annotators=annotators,
        dialect=dialect,
        ties=ties.value,
        both_bad=both_bad.value,
        unknown=unknown.value,
        position_known=position_known,
        grades=grades.value if grades else None,
        baseline=baseline,
        pairs_per_annotator=pairs_per_annotator,
        seed=seed,
        memory_limit=memory_limit,
    )
    panel = trust_panel(read)
    if json:
        print_json(_as_json(read, panel))
    else:
        _show(panel)
    if panel.status == "fail":
        raise typer.Exit(1)


def _as_json(votes: Votes, panel: TrustPanel) -> dict[str, object]:
    return {"origin": dict(votes.origin), "status": panel.status, **asdict(panel)}


def _show(panel: TrustPanel) -> None:
    console.print(
        f"votes {panel.n_votes:,}, annotators {panel.n_annotators:,}, items {panel.n_items:,}, "
        f"pairs {panel.n_pairs:,}",
        highlight=False,
    )
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()
    for one in panel.checks:
        advice = f"\n[dim]{escape(one.advice)}[/]" if one.advice else ""
        table.add_row(_MARKS[one.status], one.name, escape(one.finding) + advice)
    console.print(table, highlight=False)
