"""Votes for a command that fits on a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prefpath.cli.app import error_console
from prefpath.cli.reading import parsed
from prefpath.votes.origin import summarise_origin

if TYPE_CHECKING:
    from prefpath.distributed.collected import Collected
    from prefpath.distributed.remote import Elsewhere

_PANEL = "A cluster"

Scheduler = Annotated[
    str | None,
    typer.Option(
        help="Fit on the Dask cluster of this scheduler: tcp://HOST:8786.", rich_help_panel=_PANEL
    ),
]
ClusterFolder = Annotated[
    Path | None,
    typer.Option(
        help="Folder that this machine and all workers see, for votes in shards.",
        show_default="a temporary one: for workers on this machine",
        rich_help_panel=_PANEL,
    ),
]

Collect = Annotated[
    bool,
    typer.Option(
        help="Whether votes come to this machine for what follows the path.",
        rich_help_panel=_PANEL,
    ),
]


@contextmanager
def read_on_cluster(
    source: str, given: Mapping[str, Any], options: Mapping[str, Any]
) -> Iterator[Collected | Elsewhere]:
    """Votes in shards on a cluster, and collected here if asked; says how they were read."""
    from prefpath.distributed.collected import collect, on_cluster
    from prefpath.distributed.remote import count_votes
    from prefpath.distributed.workers import connect

    reading = parsed({**options, "seed": given.get("seed", 0)})
    folder = given.get("cluster_folder")
    with (
        connect(given["scheduler"]) as client,
        on_cluster(client, source, folder, **reading) as cluster,
    ):
        found = collect(cluster) if given["collect"] else count_votes(cluster)
        if not given.get("json"):
            said = summarise_origin(found.votes.origin)
            error_console.print(said, markup=False, highlight=False)
        yield found
