"""A folder that keeps what a long fit has reached, so that it can go on after a kill."""

from prefpath.checkpoint.folder import Checkpoint
from prefpath.checkpoint.slots import Slot
from prefpath.checkpoint.use import Place, as_checkpoint, keeping, slot_in

__all__ = ["Checkpoint", "Place", "Slot", "as_checkpoint", "keeping", "slot_in"]
