"""The command line: `prefpath COMMAND`. One file a command; `app` holds what they share."""

from __future__ import annotations

from importlib import import_module

from prefpath.cli.app import app
from prefpath.cli.failures import run

_COMMANDS: tuple[str, ...] = (
    "check", "fit", "resume", "rank", "simulate", "demo", "compare", "reproduce", "compile",
)  # fmt: skip
for _name in _COMMANDS:
    import_module(f"prefpath.cli.{_name}")


def main() -> None:
    """Entry point: every way to end has its exit code, and no traceback (`cli/failures.py`)."""
    run(lambda: app(standalone_mode=False))  # else Typer has words of its own for errors
