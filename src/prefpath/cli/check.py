"""`prefpath check`: can a ranking of these votes be trusted?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer
from rich.markup import escape
from rich.table import Table

from prefpath.cli.app import app, console, print_json
from prefpath.cli.takes_votes import Json, Seed, takes_votes
from prefpath.text import counted
from prefpath.votes import Votes

if TYPE_CHECKING:
    from prefpath.trust import TrustPanel

_MARKS = {
    "passed": "[green]passed[/]",
    "warn": "[yellow]warn[/]",
    "fail": "[red]fail[/]",
    "unchecked": "[dim]unknown[/]",
}


@app.command()
@takes_votes
def check(votes: Votes, seed: Seed = 0, json: Json = False) -> None:  # noqa: ARG001
    """Check whether votes can carry a ranking: connections, sides, circles, with advice.

    The exit code is 1 if a check fails, 2 if the votes cannot be read.
    """
    from prefpath.trust import trust_panel

    panel = trust_panel(votes)
    if json:
        print_json(_as_json(votes, panel))
    else:
        _show(panel, votes.voter)
    if panel.status == "fail":
        raise typer.Exit(1)


def _as_json(votes: Votes, panel: TrustPanel) -> dict[str, object]:
    return {"origin": dict(votes.origin), "status": panel.status, **asdict(panel)}


def _show(panel: TrustPanel, voter: str) -> None:
    counts = ((panel.n_votes, "vote"), (panel.n_annotators, voter), (panel.n_items, "item"),
              (panel.n_pairs, "pair"))  # fmt: skip
    console.print(
        ", ".join(counted(n, noun) for n, noun in counts),
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
