"""`prefpath compare`: our models and their rivals on the user's own votes."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from prefpath.cli import reading
from prefpath.cli.app import app, console, print_json, table
from prefpath.cli.progress import progress_bar
from prefpath.compare import CONTENDERS, Comparison, compare_methods
from prefpath.model.features import ItemFeatures
from prefpath.votes import Votes
from prefpath.votes.features import read_feature_table


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


@app.command()
def compare(
    votes: reading.Source,
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
        str | None, typer.Option(help=f"Separated by commas: {', '.join(CONTENDERS)}.")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Write a figure to this file (PNG, SVG or PDF).")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; one for each processor by default.")
    ] = None,
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
    seed: Annotated[int, typer.Option(help="Of the splits, and of the draw of pairs.")] = 0,
    memory_limit: reading.MemoryLimit = "1GB",
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare our three models with twelve rivals: held-out error on repeated random splits.

    Every method is tuned on the training votes alone, by cross-validation.
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
    phi = None if features is None else ItemFeatures(*read_feature_table(features)).of(read.items)
    over = hold_out or (HeldOut.votes if phi is None else HeldOut.items)
    with progress_bar() as report:
        found = compare_methods(
            read,
            features=phi,
            methods=None if methods is None else [name.strip() for name in methods.split(",")],
            over=over.value,
            n_splits=splits,
            test_share=test_share,
            random_state=seed,
            n_jobs=jobs,
            progress=report,
        )
    if json:
        print_json({"held_out": over.value, "test_share": test_share, **found.as_dict()})
    else:
        _show(read, found, over.value, splits, test_share)
    if figure is not None:
        _draw(found, figure)


def _show(votes: Votes, found: Comparison, over: str, n_splits: int, test_share: float) -> None:
    title = f"mismatch ratio on held-out votes: {n_splits} random splits, "
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
    from prefpath.plots.comparison import save_comparison

    ours = {one.name for one in CONTENDERS.values() if one.is_ours}
    save_comparison(file, found.summaries(), emphasised=ours)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
