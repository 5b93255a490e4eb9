"""`prefpath simulate`: a crowd with planted deviants and clickers, as a file of votes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from prefpath.cli.app import app, error_console
from prefpath.cli.takes_votes import known_seed
from prefpath.errors import SettingError
from prefpath.tables import format_of, write_table
from prefpath.votes import Votes
from prefpath.writing import check_file

if TYPE_CHECKING:
    from prefpath.simulate import Simulation


@app.command()
def simulate(
    out: Annotated[Path, typer.Argument(help="Where to: .csv, .parquet or .jsonl.")],
    votes: Annotated[int, typer.Option(help="Number of votes.")] = 5_000,
    annotators: Annotated[int, typer.Option(help="Number of annotators.")] = 50,
    items: Annotated[int, typer.Option(help="Number of items.")] = 10,
    deviants: Annotated[int, typer.Option(help="Annotators with a taste of their own.")] = 3,
    clickers: Annotated[int, typer.Option(help="Annotators who lean to a side.")] = 3,
    ties: Annotated[float, typer.Option(help="Share of ties.")] = 0.0,
    paper: Annotated[bool, typer.Option("--paper", help="The paper's section 4.1.")] = False,
    truth: Annotated[
        Path | None, typer.Option(help="Where to write who was planted, with their bias.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed.", callback=known_seed)] = 0,
) -> None:
    """Simulate a crowd whose truth is known."""
    from prefpath.simulate import simulate_crowd, simulate_paper

    for file in (out, truth):
        if file is not None:
            format_of(file)
            check_file(file, "the file")
    if truth is not None and truth.resolve() == out.resolve():
        raise SettingError("--truth is the file of the votes", remedy="give it another name")
    if paper:
        crowd = simulate_paper(seed=seed)
    else:
        crowd = simulate_crowd(
            votes,
            annotators,
            items,
            activity="even",
            deviants=deviants,
            clickers=clickers,
            ties=ties,
            labels="readable",
            seed=seed,
        )
    write_table(vote_columns(crowd.votes), out)
    error_console.print(f"wrote {crowd.votes} to {out}", markup=False, highlight=False)
    if truth is not None:
        write_table(_truth(crowd), truth)


def vote_columns(votes: Votes) -> dict[str, np.ndarray]:
    """The canonical columns, one row for each vote cast."""
    rows = np.repeat(np.arange(votes.n_rows), votes.count)
    words = np.array(["right", "tie", "left"])
    return {
        "annotator": votes.annotators[votes.annotator[rows]],
        "left": votes.items[votes.left[rows]],
        "right": votes.items[votes.right[rows]],
        "choice": words[np.sign(votes.choice[rows]).astype(int) + 1],
    }


def _truth(crowd: Simulation) -> dict[str, np.ndarray]:
    return {
        "annotator": crowd.votes.annotators,
        "deviates": np.isin(crowd.votes.annotators, crowd.deviants),
        "position_bias": crowd.position_bias,
    }
