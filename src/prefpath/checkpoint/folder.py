"""The folder of a checkpoint: whose fit it is, and what was reached.

    fit.json               votes (a digest), settings, version, command; whether it has finished
    NAME.state.npz         where a path stands: plain arrays with a checksum
    NAME.before.state.npz  the same, one save earlier
    lock                   held by the process that fits

Files appear whole or not at all, and nothing in them is ever run.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from prefpath.checkpoint.files import FORMAT
from prefpath.checkpoint.slots import SECONDS_BETWEEN_SAVES, Slot, Slots
from prefpath.errors import MachineError, SettingError
from prefpath.version import __version__
from prefpath.writing import check_folder, write_text

RECORD = "fit.json"
_ANOTHER = "choose another folder, or remove this one"


class Checkpoint:
    """What a fit has reached, in a folder.

    Parameters
    ----------
    folder : str or Path
        Made where it does not exist.
    lazy : float, optional
        Write nothing before so many seconds have passed, and then begin anew where the folder
        holds another fit. By default the folder is made at once, and another fit in it refused.
    every : float
        Seconds from one save to the next; 0 saves after every step.
    after_save : callable, optional
        Called after each file with the number of files written.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        lazy: float | None = None,
        every: float = SECONDS_BETWEEN_SAVES,
        after_save: Callable[[int], None] | None = None,
    ) -> None:
        self.folder = Path(folder).resolve()
        self._lazy = lazy is not None
        self._slots = Slots(
            self.folder, self._prepare, every=every, first_after=lazy, after_save=after_save
        )
        self._lock: IO[str] | None = None
        self._record: dict[str, Any] = {}
        self._written = False
        if not self._lazy:
            check_folder(folder, "the folder for checkpoints")
            self._take()

    def slot(self, name: str) -> Slot:
        """The place of one path under way."""
        return self._slots.slot(name)

    @property
    def n_saved(self) -> int:
        """Files written so far."""
        return self._slots.n_saved

    def of_command(self, command: Mapping[str, Any]) -> bool:
        """Note the command that fits, so that `prefpath resume` can give it again.

        True if the folder holds what this very command has reached.
        """
        command = json.loads(json.dumps(command))
        old = self._known()
        goes_on = bool(old) and not old["finished"]
        same = old.get("command") == command
        if not self._lazy and goes_on and not same:
            raise SettingError(
                f"{self.folder} holds a fit that has not finished, begun with other options",
                remedy=f"go on with it (prefpath resume {self.folder}), or {_ANOTHER}",
            )
        self._record["command"] = command
        if not self._lazy and not goes_on:
            self._slots.forget()
            self._write_record()
        return goes_on and same and self.holds_states

    @property
    def holds_states(self) -> bool:
        """Whether something that was reached is in the folder."""
        return any(self.folder.glob("*.state.npz"))

    def claim(self, votes: str, settings: Mapping[str, Any]) -> bool:
        """Take the folder for the fit of votes (their digest) with settings.

        True if it holds what this very fit has reached: slots then go on from there.

        Raises
        ------
        SettingError
            It holds another fit that has not finished.
        """
        settings = json.loads(json.dumps(dict(settings)))
        self._slots.renew()
        self._record |= {"votes": votes, "settings": settings, "finished": False}
        if not self._is_ours():
            return False
        old = self._known()
        holds_one = bool(old) and old["votes"] is not None
        other = self._difference(old) if holds_one else ""
        if other and not self._lazy and not old["finished"]:
            raise SettingError(f"{self.folder} holds a fit {other}", remedy=_ANOTHER)
        goes_on = holds_one and not other
        with self._only_said():
            if goes_on:
                self._record["seed"] = old["seed"]
            else:
                self._slots.forget()
            self._write_record()
        return goes_on

    @property
    def seed(self) -> int:
        """A number drawn once for this fit: for folds whose seed is left to chance."""
        seed: int = self._record.setdefault("seed", secrets.randbits(32))
        return seed

    def flush(self) -> None:
        """Save all that stands still, unless nothing has been written and nothing need be."""
        if self._written:
            self._slots.save_unsaved()

    def keep(self) -> None:
        """The fit has ended. What it reached stays until another fit takes the folder.

        The same fit again then ends at once.
        """
        if self._written:
            self._slots.save_unsaved()
            self._record["finished"] = True
            with self._only_said():
                self._write_record()

    def finish(self, *, remove: bool = False) -> None:
        """Remove what was reached: the results are in safety. The folder says so.

        Of a lazy checkpoint, and where it is to be removed, nothing is left.
        """
        with self._only_said():
            if self._written:
                self._record["finished"] = True
                self._write_record()
                self._slots.forget()
                if self._lazy or remove:
                    self._remove()
        self.close()

    def close(self) -> None:
        """Let another process take the folder."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _known(self) -> dict[str, Any]:
        return read_record(self.folder, lenient=self._lazy)

    def _difference(self, old: Mapping[str, Any]) -> str:
        """What is another in the fit this folder holds; empty if nothing is."""
        if old.get("prefpath") != __version__ or old.get("format") != FORMAT:
            return f"of prefpath {old.get('prefpath')}, and this is {__version__}"
        if old["votes"] != self._record["votes"]:
            return "of other votes"
        then, now = old["settings"], self._record["settings"]
        for name in sorted({*then, *now}):
            if then.get(name) != now.get(name):
                return (
                    f"with {name} {_shown(then.get(name))}, and now it is {_shown(now.get(name))}"
                )
        return ""

    def _prepare(self) -> None:
        """Before anything is saved: the folder is ours, and says whose fit it holds."""
        if not self._written:
            self._take()
            self._write_record()

    def _is_ours(self) -> bool:
        """Whether we hold the folder; a lazy checkpoint makes none, and takes none from others."""
        if not self._lazy:
            self._take()
            return True
        try:
            if self.folder.is_dir():
                self._take()
        except (SettingError, OSError):
            return False
        return self._lock is not None

    def _take(self) -> None:
        """Hold the lock; the system lets go of it however the process ends."""
        if self._lock is not None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            import fcntl
        except ImportError:  # not on Windows
            return
        handle = (self.folder / "lock").open("w")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            handle.close()
            raise SettingError(
                f"another fit is using {self.folder}", remedy="choose another folder, or wait"
            ) from error
        self._lock = handle
        for part in self.folder.glob(".*.part"):  # of a process killed as it wrote
            part.unlink(missing_ok=True)

    @contextmanager
    def _only_said(self) -> Iterator[None]:
        """Of a fit whose results are in safety or that asked for no checkpoint: a warning."""
        try:
            yield
        except (MachineError, SettingError, OSError) as error:
            if not self._lazy and not self._record["finished"]:
                raise
            self._slots.say_it_fails(error)

    def _write_record(self) -> None:
        self._record.setdefault("finished", False)
        self._record.setdefault("votes", None)
        self._record |= {"format": FORMAT, "prefpath": __version__, "seed": self.seed}
        write_text(self.folder / RECORD, json.dumps(self._record, indent=1))
        self._written = True

    def _remove(self) -> None:
        for name in (RECORD, "lock"):
            (self.folder / name).unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()
        self._written = False


def read_record(folder: Path, *, lenient: bool = False) -> dict[str, Any]:
    """What a folder says of its fit; empty without one (or, if lenient, with a damaged one)."""
    file = folder / RECORD
    if not file.exists():
        return {}
    try:
        record: dict[str, Any] = json.loads(file.read_text("utf-8"))
        if isinstance(record["finished"], bool) and record["format"] == FORMAT:
            return record
        problem = f"it has format {record['format']}, and this version reads {FORMAT}"
    except (OSError, ValueError, KeyError, TypeError) as error:
        problem = f"it is damaged ({type(error).__name__})"
    if lenient:
        return {}
    raise SettingError(f"{file} cannot be used: {problem}", remedy=_ANOTHER)


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."
