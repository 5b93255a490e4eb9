"""What all commands share: the application, the consoles, tables and JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import numpy as np
import typer

from prefpath.cli.terminal import Listing, SafeConsole, json_text
from prefpath.version import __version__

app = typer.Typer(
    name="prefpath",
    help="What a crowd prefers, and who in it sees things differently, from pairwise votes.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

console = SafeConsole()
error_console = SafeConsole(stderr=True)


def _say_version(asked: bool) -> None:
    if asked:
        typer.echo(f"prefpath {__version__}")
        raise typer.Exit


@app.callback()
def _commands(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_say_version, is_eager=True, help="Say the version."),
    ] = False,
) -> None:
    """Typer makes a program of a single command without this; the help text is the app's."""


def table(title: str, columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[Any]]) -> Listing:
    """A table; columns are (heading, "left" or "right"); cells are shown as plain text."""
    return Listing.of(title, columns, rows)


def print_json(data: Any) -> None:
    """JSON for machines on standard output: labels as they are, null for what is not finite."""
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    typer.echo(json_text(plain(data), ascii_only=not encoding.startswith("utf")))


def plain(value: Any) -> Any:
    """NumPy values as JSON has them; what is not finite becomes None."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value.tolist()]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
