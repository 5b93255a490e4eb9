"""docs/reference/cli.md: every command with its arguments, options and defaults.

python tools/cli_reference.py docs/reference/cli.md
"""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path
from typing import Any

import typer.main

from prefpath.cli import app, failures

HEAD = """# Command line

`prefpath COMMAND --help` says the same. Commands that print tables have `--json`. What the options
of reading mean (columns, dialects, ties) is in [Reading votes](../reading.md).

## Exit codes

"""


def page() -> str:
    """All commands: first what each is for, then each with its options."""
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    rows = [
        f"| [`prefpath {name}`](#prefpath-{name}) | {_cell(_first(command))} |"
        for name, command in commands.items()
    ]
    overview = "\n".join(("| command | what it does |", "|---|---|", *rows)) + "\n"
    parts = [HEAD.replace("## Exit codes\n", f"{overview}\n## Exit codes\n") + _exit_codes()]
    parts += [_section(name, command) for name, command in commands.items()]
    return "\n".join(parts)


def _exit_codes() -> str:
    """The table in the docstring of the module that ends the program."""
    told = (failures.__doc__ or "").splitlines()
    return "\n".join(line for line in told if line.startswith("|")) + "\n"


def _section(name: str, command: Any) -> str:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    usage = " ".join([f"prefpath {name}", *(_named(one) for one in arguments), "[OPTIONS]"])
    lines = [f"## prefpath {name}\n", f"    {usage}\n", (command.help or "").strip() + "\n"]
    rows = [f"| `{_named(one)}` | {_cell(one.help)} | |" for one in arguments]
    rows += [f"| {_spelling(one)} | {_cell(one.help)} | {_default(one)} |" for one in options]
    if rows:
        lines.append(
            "\n".join(("| option | what it is | default |", "|---|---|---|", *rows)) + "\n"
        )
    return "\n".join(lines)


def _first(command: Any) -> str:
    """The first paragraph of a command's help, on one line."""
    return " ".join((command.help or "").strip().split("\n\n")[0].split())


def _named(argument: Any) -> str:
    name = str(argument.name).upper()
    return name if argument.required else f"[{name}]"


def _spelling(option: Any) -> str:
    return ", ".join(f"`{word}`" for word in (*option.opts, *option.secondary_opts))


def _default(option: Any) -> str:
    """As it would be typed; nothing where there is none."""
    value = option.default
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, bool):
        words = option.opts if value else option.secondary_opts
        return f"`{words[0]}`" if option.secondary_opts else ""
    return "" if value is None or callable(value) else f"`{value}`"


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), "utf-8")
