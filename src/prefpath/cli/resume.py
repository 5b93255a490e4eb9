"""`prefpath resume`: go on with a fit that was stopped."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from prefpath.checkpoint import Checkpoint
from prefpath.checkpoint.folder import read_record
from prefpath.cli.app import app, error_console
from prefpath.cli.fit import fit
from prefpath.cli.keeping import Remembering, automatic_folder
from prefpath.errors import SettingError
from prefpath.version import __version__

_EXPECTED = "the folder of fit --checkpoint, or of fit --out"


@app.command()
def resume(
    folder: Annotated[
        Path, typer.Argument(help="The folder given as --checkpoint or, without one, as --out.")
    ],
) -> None:
    """Go on with a fit that was stopped or killed; it ends as if nothing had happened."""
    place = _place_of(folder)
    record = read_record(place)
    _check_record(place, record)
    command = record["command"]
    checkpoint = Checkpoint(place)
    try:
        _go_to(command["folder"])
        shown = " ".join(command["arguments"])
        error_console.print(f"prefpath fit {shown}", style="dim", markup=False, highlight=False)
        fit_command().give_again(list(command["arguments"]), checkpoint)
    finally:
        checkpoint.close()


def fit_command() -> Remembering:
    """The command that fits, as the command line knows it."""
    group: Any = typer.main.get_command(app)
    found = group.commands[fit.__name__]
    assert isinstance(found, Remembering)
    return found


def _place_of(folder: Path) -> Path:
    """The folder of the checkpoint, from it or from the folder of results beside it."""
    from prefpath.export import MANIFEST

    for place in (folder, automatic_folder(folder)):
        if read_record(place):
            return place
    if (folder / MANIFEST).is_file():
        raise SettingError(
            f"there is nothing to resume: the results in {folder} are complete",
            remedy="read them, or fit again",
        )
    what = f"no fit was kept in {folder}" if folder.is_dir() else f"there is no folder {folder}"
    raise SettingError(what, expected=_EXPECTED, remedy="begin anew: prefpath fit")


def _check_record(place: Path, record: dict[str, Any]) -> None:
    """Whether the fit of a folder can be gone on with; its votes are looked at later."""
    if record["finished"]:
        raise SettingError(
            f"the fit of {place} has finished", remedy="read its results, or fit again"
        )
    if record.get("prefpath") != __version__:
        raise SettingError(
            f"{place} holds a fit of prefpath {record.get('prefpath')}, and this is {__version__}",
            remedy="go on with the version that began it, or begin anew: prefpath fit",
        )
    command = record.get("command")
    if command is None:
        raise SettingError(
            f"the fit of {place} was begun from Python", remedy="run the same program again"
        )
    arguments = command.get("arguments") if isinstance(command, dict) else None
    if not isinstance(arguments, list) or not all(isinstance(word, str) for word in arguments):
        raise SettingError(f"{place} does not say which command began it", expected=_EXPECTED)


def _go_to(folder: Any) -> None:
    """Names of files in a command are meant where it was given."""
    try:
        os.chdir(folder)
    except (OSError, TypeError) as error:
        raise SettingError(
            f"the fit was begun in {folder}, and that cannot be entered",
            remedy="make that folder again, with the votes in it",
        ) from error
