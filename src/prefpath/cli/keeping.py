"""What a fit under way keeps, and which command began it: `prefpath resume` gives it again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from prefpath.checkpoint import Checkpoint
from prefpath.cli.app import error_console
from prefpath.errors import VoteError
from prefpath.writing import only_writer

# Shorter fits are sooner begun anew than resumed.
_SECONDS_BEFORE_KEEPING = 60.0

_arguments: ContextVar[tuple[str, ...]] = ContextVar("arguments", default=())
_resumed: ContextVar[Checkpoint | None] = ContextVar("resumed", default=None)


class Remembering(TyperCommand):
    """A command that knows with which arguments it was given."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As Typer's, after a note of the arguments."""
        _arguments.set(tuple(args))
        return super().parse_args(ctx, args)

    def give_again(self, arguments: list[str], checkpoint: Checkpoint) -> None:
        """Run with the arguments of a fit whose checkpoint this is."""
        token = _resumed.set(checkpoint)
        try:
            with self.make_context("fit", arguments) as context:
                self.invoke(context)
        finally:
            _resumed.reset(token)


@contextmanager
def checkpoint_for(asked: Path | None, out: Path | None) -> Iterator[Checkpoint | None]:
    """The checkpoint of a fit: as asked for, or beside --out if the fit takes long.

    It is finished when the block ends without an error: by then the results are in safety. No
    other fit may write to --out meanwhile.
    """
    with nullcontext() if out is None else only_writer(out):
        yield from _kept(asked, out)


def _kept(asked: Path | None, out: Path | None) -> Iterator[Checkpoint | None]:
    resumed = _resumed.get()
    checkpoint = _open(asked, out) if resumed is None else resumed
    if checkpoint is None:
        yield None
        return
    automatic = asked is None
    command = {"arguments": _arguments.get(), "folder": str(Path.cwd()), "automatic": automatic}
    try:
        if checkpoint.of_command(command):
            _say(f"going on from what is kept in {checkpoint.folder}")
        yield checkpoint
        checkpoint.finish(remove=automatic)
    except BaseException as error:
        if checkpoint.holds_states and not isinstance(error, VoteError):
            _say(f"what was reached is kept; go on with: prefpath resume {checkpoint.folder}")
        raise
    finally:
        checkpoint.close()


def automatic_folder(out: Path) -> Path:
    """Where a fit with --out keeps what it has reached, unless told otherwise."""
    place = out.resolve()
    return place.with_name(f"{place.name}.checkpoint")


def _open(asked: Path | None, out: Path | None) -> Checkpoint | None:
    if asked is not None:
        return Checkpoint(asked)
    if out is not None:
        return Checkpoint(automatic_folder(out), lazy=_SECONDS_BEFORE_KEEPING)
    return None


def _say(words: str) -> None:
    error_console.print(words, markup=False, highlight=False)
