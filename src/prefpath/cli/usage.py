"""Options and arguments that no command knows: in the words of all other errors."""

from __future__ import annotations

from typing import Any

from prefpath.errors import SettingError
from prefpath.text import spelling


def plain_usage(error: Exception) -> SettingError | None:
    """What is wrong with a command line, by the error of the library that reads it; else None.

    Typer has Click's classes, or its own copies of them, by its version: they are known by what
    they have.
    """
    if not (hasattr(error, "ctx") and hasattr(error, "format_message")):
        return None
    command = "prefpath" if error.ctx is None else error.ctx.command_path
    to_help = f"{command} --help lists what can be given"
    no_such = hasattr(error, "possibilities") and hasattr(error, "option_name")
    if no_such and error.ctx is not None:
        asked = str(error.option_name)  # type: ignore[attr-defined]
        remedy = f"{spelling(asked, _options(error.ctx))} ({to_help})"
        return SettingError(f"there is no option {asked}", remedy=remedy)
    what = str(error.format_message()).rstrip(".")
    return SettingError(what[:1].lower() + what[1:], remedy=to_help)


def is_request_for_help(error: Exception) -> bool:
    """Whether a command without arguments is to show its help."""
    return type(error).__name__ == "NoArgsIsHelpError"


def _options(context: Any) -> list[str]:
    parameters = context.command.get_params(context)
    return [name for parameter in parameters for name in parameter.opts if name.startswith("-")]
