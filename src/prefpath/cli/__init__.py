"""The command line: `prefpath COMMAND`. One file a command; `app` holds what they share."""

from __future__ import annotations

import os
import sys
from importlib import import_module

from prefpath.cli.app import app, error_console
from prefpath.errors import PrefpathError

_COMMANDS: tuple[str, ...] = ("check", "fit", "simulate", "demo", "compare", "reproduce")
for _name in _COMMANDS:
    import_module(f"prefpath.cli.{_name}")


def main() -> None:
    """Entry point: errors made on purpose are shown without a traceback, with exit code 2."""
    try:
        app()
    except PrefpathError as error:
        error_console.print(f"error: {error}", style="red", markup=False, highlight=False)
        sys.exit(2)
    except KeyboardInterrupt:
        error_console.print("stopped")
        sys.exit(130)
    except Exception as error:
        if os.environ.get("PREFPATH_DEBUG"):
            raise
        said = f"error: {type(error).__name__}: {error}\n  this should not happen; "
        said += "run again with PREFPATH_DEBUG=1 to see where, and report it"
        error_console.print(said, style="red", markup=False, highlight=False)
        sys.exit(70)
