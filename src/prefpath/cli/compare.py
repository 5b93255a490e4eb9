"""`prefpath compare`: our models and their rivals on the user's own votes."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from prefpath.cli.app import app, console, print_json, table
from prefpath.cli.progress import progress_bar
from prefpath.cli.takes_votes import Json, Seed, takes_votes
from prefpath.text import counted
from prefpath.votes import Votes

if TYPE_CHECKING:
    from prefpath.compare import Comparison


class HeldOut(StrEnum):
    votes = "votes"
    items = "items"


_COLUMNS = (
    ("method", "left"),
    ("min", "right"),
    ("mean", "right"),
    ("max", "right"),
    ("std", "right"),
    ("log-loss", "right"),
    ("CPU s", "right"),
)


def _check(given: Mapping[str, Any]) -> None:
    """A figure that cannot be drawn is refused before anything is compared."""
    if given["figure"] is not None:
        from prefpath.plots.style import check_figure

        check_figure(given["figure"])


@app.command()
@takes_votes(check=_check)
def compare(
    votes: Votes,
    *,
    features: Annotated[
        str | None, typer.Option(help="Table of the items' features, one row an item.")
    ] = None,
    hold_out: Annotated[
        HeldOut | None,
        typer.Option(help="What is predicted: votes, or items (the default with features)."),
    ] = None,
    splits: Annotated[int, typer.Option(min=1, help="Random splits.")] = 10,
    test_share: Annotated[float, typer.Option(help="Share held out.")] = 0.3,
    methods: Annotated[
        str | None,
        typer.Option(help="Some only, separated by commas; a wrong name lists them all."),
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Write a figure to this file (PNG, SVG or PDF).")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; one for each processor by default.")
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Compare our three models with seventeen rivals: held-out error on repeated random splits.

    Every method is tuned on the training votes alone, by cross-validation.
    """
    from prefpath.compare import compare_methods
    from prefpath.model.features import as_item_features

    known = as_item_features(features, votes.items)
    phi = None if known is None else known.of(votes.items)
    over = hold_out or (HeldOut.votes if phi is None else HeldOut.items)
    with progress_bar() as report:
        found = compare_methods(
            votes,
            features=phi,
            methods=None if methods is None else [name.strip() for name in methods.split(",")],
            over=over.value,
            n_splits=splits,
            test_share=test_share,
            random_state=seed,
            n_jobs=jobs,
            progress=report,
        )
    if figure is not None:
        _draw(found, figure)
    if json:
        print_json({"held_out": over.value, "test_share": test_share, **found.as_dict()})
    else:
        _show(votes, found, over.value, splits, test_share)


def _show(votes: Votes, found: Comparison, over: str, n_splits: int, test_share: float) -> None:
    title = f"mismatch ratio on held-out votes: {counted(n_splits, 'random split')}, "
    title += f"{test_share:.0%} of the {over} held out"
    rows = [
        (
            one.method,
            *(_number(x) for x in (one.min, one.mean, one.max, one.std, one.log_loss)),
            f"{one.seconds:.2f}",
        )
        for one in found.summaries()
    ]
    console.print(table(title, _COLUMNS, rows), highlight=False)
    if found.least_mismatch:
        n_ties = int(votes.count[votes.choice == 0].sum())
        console.print(
            f"{n_ties:,} of {votes.n_votes:,} votes are ties, half an error whatever is predicted: "
            f"nobody can go below {found.least_mismatch:.4f} (--ties drop leaves them out)",
            highlight=False,
        )
    for method, reason in found.failures.items():
        console.print(f"[yellow]left out:[/] {escape(method)}: {escape(reason)}", highlight=False)


def _draw(found: Comparison, file: Path) -> None:
    from prefpath.compare import CONTENDERS
    from prefpath.plots.comparison import save_comparison

    ours = {one.name for one in CONTENDERS.values() if one.is_ours}
    save_comparison(file, found.summaries(), emphasised=ours)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
