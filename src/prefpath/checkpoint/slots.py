"""When what is kept: each path under way has a slot of a checkpoint, which saves it in turn.

The clock only decides when something is saved, never what: results do not depend on it.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from prefpath.checkpoint.files import Arrays, read_arrays, write_arrays
from prefpath.errors import MachineError, PrefpathError, SettingError, VoteError, VoteWarning

# A kill is to lose at most 30 seconds; the rest is for the step under way and for writing.
SECONDS_BETWEEN_SAVES = 20.0
# Writing takes at most this share of the time, however large the crowd: up to seven seconds for
# all that is kept, a kill loses less than 30.
_SHARE_OF_WRITING = 0.25

Snapshot = Callable[[], Arrays]


class Slot:
    """The place of one path in a checkpoint.

    Its owner calls `begin` before it moves, `tick` between steps, `end` when it stops moving (it
    may stand still for long while others move, and is saved in the meantime).
    """

    def __init__(self, name: str, slots: Slots) -> None:
        self.name = name
        self.saved_at = slots.now()
        self.unsaved: Snapshot | None = None
        self._slots = slots

    def load(self, fits: Callable[[Arrays], bool]) -> Arrays | None:
        """What was kept here last, or the time before where that does not fit; None if nothing."""
        return self._slots.load(self.name, fits)

    def begin(self) -> None:
        """The owner moves on: what it showed with `end` no longer holds."""
        with self._slots.lock:
            self.unsaved = None

    def tick(self, snapshot: Snapshot) -> None:
        """Save, if it is time."""
        if self._slots.is_due(self):
            self._slots.save(self, snapshot)

    def end(self, snapshot: Snapshot) -> None:
        """The owner stands still: `snapshot` holds until `begin`."""
        with self._slots.lock:
            self.unsaved = snapshot
        self.tick(snapshot)


class Slots:
    """All slots of a folder.

    `first_after` seconds pass before anything is saved, `every` from one save to the next (0: after
    every step).
    `prepare` is called before a file is written, `after_save` after, with the number of files
    written so far.
    """

    def __init__(
        self,
        folder: Path,
        prepare: Callable[[], None],
        *,
        every: float = SECONDS_BETWEEN_SAVES,
        first_after: float | None = None,
        after_save: Callable[[int], None] | None = None,
    ) -> None:
        self.folder, self._prepare = folder, prepare
        self.lock = threading.RLock()
        self.n_saved = 0
        self._slots: dict[str, Slot] = {}
        self._every, self._after_save = every, after_save
        self._delay = 0.0 if first_after is None else first_after - every
        self._started, self._seconds_to_write, self._said = self.now(), 0.0, False

    def now(self) -> float:
        return time.monotonic()

    def slot(self, name: str) -> Slot:
        """The slot of a name, made when first asked for; those made first are saved first."""
        with self.lock:
            return self._slots.setdefault(name, Slot(name, self))

    def is_due(self, slot: Slot) -> bool:
        """Whether it is time to save a slot."""
        computing = self._seconds_to_write * (1.0 / _SHARE_OF_WRITING - 1.0)
        wait = max(self._every, computing) if self._every > 0.0 else 0.0
        return self.now() - max(slot.saved_at, self._started + self._delay) >= wait

    def save(self, slot: Slot, snapshot: Snapshot) -> None:
        """Save a slot, and before it all others that stand still and have changed."""
        with self.lock:
            start = self.now()
            self.save_unsaved(but=slot)
            self._write(slot, snapshot)
            self._seconds_to_write = self.now() - start

    def save_unsaved(self, but: Slot | None = None) -> None:
        """Save all slots that stand still and have changed since they were saved."""
        with self.lock:
            for slot in self._slots.values():
                if slot.unsaved is not None and slot is not but:
                    self._write(slot, slot.unsaved)

    def load(self, name: str, fits: Callable[[Arrays], bool]) -> Arrays | None:
        """What was saved last under a name, is not damaged and fits."""
        for file in self._files(name):
            if file.exists():
                try:
                    arrays = read_arrays(file)
                    if fits(arrays):
                        return arrays
                    problem = f"{file} does not fit the others"
                except (VoteError, KeyError) as error:
                    problem = error.what if isinstance(error, VoteError) else str(error)
                warnings.warn(f"{problem}; going on from before it", VoteWarning, stacklevel=3)
        return None

    def renew(self) -> None:
        """Another fit begins: what earlier owners of slots showed is of no concern."""
        with self.lock:
            for slot in self._slots.values():
                slot.unsaved, slot.saved_at = None, self.now()

    def forget(self) -> None:
        """Remove all that was saved, and what a killed process had not written wholly."""
        self.renew()
        for pattern in ("*.state.npz", ".*.state.npz.*.part", ".fit.json.*.part"):
            for file in self.folder.glob(pattern):
                file.unlink(missing_ok=True)

    def _files(self, name: str) -> tuple[Path, Path]:
        return self.folder / f"{name}.state.npz", self.folder / f"{name}.before.state.npz"

    def _write(self, slot: Slot, snapshot: Snapshot) -> None:
        newest, before = self._files(slot.name)
        slot.saved_at = self.now()  # where it fails, too: it is tried again in its turn
        try:
            self._prepare()
            if newest.exists():
                newest.replace(before)
            write_arrays(newest, snapshot())
        except (MachineError, SettingError, OSError, MemoryError) as error:
            self.say_it_fails(error)
            return
        slot.unsaved, slot.saved_at = None, self.now()
        self.n_saved += 1
        if self._after_save is not None:
            self._after_save(self.n_saved)

    def say_it_fails(self, error: OSError | MemoryError | PrefpathError) -> None:
        """A fit that cannot be saved goes on all the same."""
        if not self._said:
            self._said = True
            warnings.warn(
                f"the checkpoint in {self.folder} cannot be written, and the fit goes on "
                f"without: {error}",
                VoteWarning,
                stacklevel=4,
            )
