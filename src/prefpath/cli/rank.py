"""`prefpath rank`: the plain ranking of votes, one score for each item."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prefpath.cli.app import app, console, error_console, print_json, table
from prefpath.cli.names import read_names
from prefpath.cli.show_people import between, more
from prefpath.cli.takes_votes import Json, Seed, takes_votes
from prefpath.text import abridged
from prefpath.votes.origin import summarise_origin

if TYPE_CHECKING:
    from prefpath.plain import PlainRanking
    from prefpath.plain.arrays import CodedComparisons


def _without_the_reader(source: str, given: Mapping[str, Any]) -> CodedComparisons | None:
    """The comparisons of a large plain file; None where `read_votes` should look at it."""
    from prefpath.plain.plain_csv import origin_of_plain_csv, read_plain_csv
    from prefpath.plain.scoring import FITTED

    if given["method"] not in FITTED:
        return None
    found = read_plain_csv(source, with_annotators=bool(given["interval"]))
    origin = None if found is None else origin_of_plain_csv(source, found)
    if origin is None:
        return None
    if not given["json"]:
        error_console.print(summarise_origin(origin), markup=False, highlight=False)
    return found


@app.command()
@takes_votes(shortcut=_without_the_reader)
def rank(
    votes: Any,  # Votes, or the comparisons of a large plain file
    *,
    method: Annotated[
        str, typer.Option(help="bradley-terry, thurstone-mosteller, linear, or a baseline's name.")
    ] = "bradley-terry",
    interval: Annotated[
        float, typer.Option(help="Level of the intervals; 0 for scores only.")
    ] = 0.95,
    top: Annotated[int, typer.Option(min=1, help="How many items to show.")] = 20,
    names: Annotated[
        Path | None,
        typer.Option(help="Names to show for items: a table with columns item and name."),
    ] = None,
    seed: Seed = 0,  # noqa: ARG001
    json: Json = False,
) -> None:
    """Rank items by one score each; nobody's taste or side is looked at.

    Intervals are clustered by annotator where the votes say who cast them.
    """
    from prefpath.leaderboard import with_names
    from prefpath.plain import rank as plain_rank

    called = read_names(names)
    found = plain_rank(votes, method=method, interval=interval or None)
    columns = with_names(found.columns(), called)
    if json:
        print_json(_as_json(found, columns))
    else:
        _show(found, columns, top)


def _as_json(found: PlainRanking, columns: dict[str, Any]) -> dict[str, Any]:
    rows = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    return {
        "method": found.method,
        "interval": found.level,
        "notes": list(found.notes),
        "ranking": rows,
    }


def _show(found: PlainRanking, columns: dict[str, Any], top: int) -> None:
    n_items, grouped = len(columns["item"]), "component" in columns
    headings = [
        *([("group", "right")] if grouped else []),
        ("rank", "right"),
        ("item", "left"),
        ("score", "right"),
        *([(f"{found.level:.0%} interval", "right"), ("ranks", "right")] if found.level else []),
        ("votes", "right"),
        ("won", "right"),
    ]
    rows = [
        _cells({name: values[k] for name, values in columns.items()})
        for k in range(min(top, n_items))
    ]
    console.print(table(f"Ranking by {found.method}", headings, rows))
    more(console, n_items, top, "item")
    for note in found.notes:
        console.print(note, markup=False, highlight=False)


def _cells(row: dict[str, Any]) -> list[Any]:
    from prefpath.inference.words import missing_end

    cells = [row["component"]] if "component" in row else []
    cells += [row["rank"], abridged(row.get("name", row["item"])), f"{row['score']:.3f}"]
    if "score_low" in row:
        known = between(row["score_low"], row["score_high"], "{:.3f}".format)
        cells.append(known if row["bounded"] else missing_end(row["win_rate"], row["votes"]))
        cells.append(between(row["rank_low"], row["rank_high"], str))
    rate = row["win_rate"]
    return [*cells, f"{row['votes']:,.6g}", "" if rate is None else f"{rate:.0%}"]
