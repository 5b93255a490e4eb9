"""A checkpoint for the time of one fit, from what a user gives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prefpath.checkpoint.folder import Checkpoint
from prefpath.checkpoint.slots import Slot

Place = str | Path | Checkpoint
"""A folder, or a checkpoint in one."""


def as_checkpoint(given: Place | None) -> Checkpoint | None:
    """A checkpoint from what a user gives."""
    if given is None or isinstance(given, Checkpoint):
        return given
    return Checkpoint(given)


@contextmanager
def keeping(given: Place | None) -> Iterator[Checkpoint | None]:
    """A checkpoint for the time of a fit; however that ends, what stands still is saved.

    Who gives a folder has it let go of at the end, with what was reached still in it. Who gives
    a checkpoint says when it is to be finished or closed.
    """
    checkpoint = as_checkpoint(given)
    if checkpoint is None:
        yield None
        return
    try:
        yield checkpoint
        if checkpoint is not given:
            checkpoint.keep()
    finally:
        checkpoint.flush()
        if checkpoint is not given:
            checkpoint.close()


def slot_in(checkpoint: Checkpoint | None, name: str) -> Slot | None:
    """The slot of a name, if there is a checkpoint."""
    return None if checkpoint is None else checkpoint.slot(name)
