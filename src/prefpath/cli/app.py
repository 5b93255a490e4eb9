"""What all commands share: the application, the consoles, tables and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

app = typer.Typer(
    name="prefpath",
    help="What a crowd prefers, and who in it sees things differently, from pairwise votes.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.callback()
def _commands() -> None:
    """Typer makes a program of a single command without this; the help text is the app's."""


console = Console()
error_console = Console(stderr=True)


def table(title: str, columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[Any]]) -> Table:
    """A Rich table; columns are (heading, "left" or "right"); cells are shown as plain text."""
    result = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        header_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for heading, side in columns:
        # A label that does not fit goes on in the next line: cut off, two may look the same.
        right = side == "right"
        result.add_column(heading, justify="right" if right else "left", overflow="fold")
    for row in rows:
        result.add_row(*(escape(str(cell)) for cell in row))
    return result


def print_json(data: Any) -> None:
    """JSON for machines on standard output: labels as they are, null for what is not finite."""
    typer.echo(json.dumps(plain(data), ensure_ascii=False, allow_nan=False, indent=2))


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
