"""The options of every command that reads votes, and the reading itself."""

from __future__ import annotations

import warnings
from enum import StrEnum
from typing import Annotated, Any

import typer

from prefpath.cli.app import error_console
from prefpath.cli.progress import progress_bar
from prefpath.errors import SettingError, VoteWarning
from prefpath.votes import Votes, read_votes
from prefpath.votes.choices import parse_choices
from prefpath.votes.origin import summarise_origin


class Ties(StrEnum):
    half = "half"
    drop = "drop"


class BothBad(StrEnum):
    tie = "tie"
    drop = "drop"


class Unknown(StrEnum):
    error = "error"
    drop = "drop"


class Grades(StrEnum):
    weight = "weight"
    strength = "strength"


_PANEL = "Reading votes"

Source = Annotated[
    str, typer.Argument(help="A file (CSV, TSV, JSON Lines, Parquet), a folder, or a pattern.")
]
Annotator = Annotated[
    str | None, typer.Option(help="Column of the annotators.", rich_help_panel=_PANEL)
]
Left = Annotated[str | None, typer.Option(help="Column of the left items.", rich_help_panel=_PANEL)]
Right = Annotated[
    str | None, typer.Option(help="Column of the right items.", rich_help_panel=_PANEL)
]
Choice = Annotated[str | None, typer.Option(help="Column of the verdicts.", rich_help_panel=_PANEL)]
Weight = Annotated[str | None, typer.Option(help="Column of the weights.", rich_help_panel=_PANEL)]
Group = Annotated[
    str | None,
    typer.Option(help="Column of groups to use in the annotators' place.", rich_help_panel=_PANEL),
]
Annotators = Annotated[
    str | None,
    typer.Option(help="Table of annotators that has the groups.", rich_help_panel=_PANEL),
]
DialectOption = Annotated[
    str | None,
    typer.Option("--dialect", help="Read as this dialect: arena, ...", rich_help_panel=_PANEL),
]
TiesOption = Annotated[
    Ties, typer.Option("--ties", help="Ties: half a win each, or drop.", rich_help_panel=_PANEL)
]
BothBadOption = Annotated[
    BothBad, typer.Option("--both-bad", help='"Both bad": tie, or drop.', rich_help_panel=_PANEL)
]
UnknownOption = Annotated[
    Unknown,
    typer.Option(
        "--unknown",
        help="Unknown verdicts, missing labels: error, or drop.",
        rich_help_panel=_PANEL,
    ),
]
WinnerFirst = Annotated[
    bool,
    typer.Option(
        "--winner-first",
        help="The left column holds the winner, not what was shown there.",
        rich_help_panel=_PANEL,
    ),
]
ChoicesOption = Annotated[
    str | None,
    typer.Option(
        "--choices",
        help="What verdicts mean: 1=left,2=right,0=tie; names; probability; percent; strength "
        "(above 0 left); strength-of-right.",
        rich_help_panel=_PANEL,
    ),
]
Scores = Annotated[
    str | None,
    typer.Option(
        help="Columns of the two items' scores, the higher won: home_goals,away_goals.",
        rich_help_panel=_PANEL,
    ),
]
Position = Annotated[
    bool | None,
    typer.Option(
        "--position-known/--position-unknown",
        help="Whether left and right are as shown.",
        rich_help_panel=_PANEL,
    ),
]
GradesOption = Annotated[
    Grades | None,
    typer.Option("--grades", help="Grades as weights or strengths.", rich_help_panel=_PANEL),
]
Baseline = Annotated[
    str | None,
    typer.Option(help="The model Arena-Hard judgments are against.", rich_help_panel=_PANEL),
]
Pairs = Annotated[
    int | None,
    typer.Option(
        "--pairs-per-annotator", help="Ratings: pairs to draw.", min=1, rich_help_panel=_PANEL
    ),
]
MemoryLimit = Annotated[
    str, typer.Option(help="Memory for reading; beyond it, disk.", rich_help_panel=_PANEL)
]


def load_votes(source: str, *, quiet: bool = False, **options: Any) -> Votes:
    """Read votes with a progress bar; say on standard error how they were read.

    What was left out is part of what is said, so its warning is not repeated.
    """
    with progress_bar() as report, warnings.catch_warnings():
        warnings.simplefilter("ignore", VoteWarning)
        votes = read_votes(source, progress=report, **parsed(options))
    if not quiet:
        said = summarise_origin(votes.origin)
        error_console.print(said, markup=False, highlight=False)
    return votes


def parsed(options: dict[str, Any]) -> dict[str, Any]:
    """Options that are more than a word, from their text."""
    choices, scores = options.pop("choices", None), options.pop("scores", None)
    pair = None if scores is None else tuple(name.strip() for name in scores.split(","))
    if pair is not None and len(pair) != 2:
        raise SettingError(f"--scores is {scores!r}", expected="two columns: home_goals,away_goals")
    parsed = None if choices is None else parse_choices(choices)
    return options | {"choices": parsed, "scores": pair}
