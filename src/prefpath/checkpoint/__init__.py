"""A folder that keeps what a long fit has reached, so that it can go on after a kill."""

from prefpath.checkpoint.folder import Checkpoint, as_checkpoint
from prefpath.checkpoint.slots import Slot

__all__ = ["Checkpoint", "Slot", "as_checkpoint"]
