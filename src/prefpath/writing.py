"""Files appear whole or not at all: written under a temporary name, synced, renamed."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from prefpath.errors import PrefpathError, SettingError
from prefpath.machine import lacking

_ANOTHER_PLACE = "choose another place"


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """A temporary name beside `path`, which becomes `path` when the block ends without an error.

    What `path` was before stays until then. A process that is killed leaves at most a file
    `.NAME.*.part`. Links are followed; what is no regular file (/dev/stdout) is written directly.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with whole_file(folder / "result.csv") as part:
    ...     _ = part.write_text("item,score")
    ...     (folder / "result.csv").exists()
    False
    >>> (folder / "result.csv").read_text()
    'item,score'
    """
    target = Path(path).resolve()
    with _said_of(path):
        if target.exists() and not target.is_file():
            _refuse_folder(target)
            yield target
            return
        part = target.with_name(_part_name(target))
        try:
            yield part
            _keep_mode(target, part)
            _sync(part)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
        _sync(target.parent)


def write_bytes(path: str | Path, contents: bytes) -> Path:
    """Replace a file's contents, wholly or not at all."""
    with whole_file(path) as part:
        part.write_bytes(contents)
    return Path(path)


def write_text(path: str | Path, text: str) -> Path:
    """Replace a file's contents by text in UTF-8, wholly or not at all.

    A lone surrogate is a valid label in Python and not a character of any encoding: it
    becomes a question mark.
    """
    return write_bytes(path, text.encode("utf-8", "replace"))


@contextmanager
def whole_folder(path: str | Path, last: str) -> Iterator[Path]:
    """A temporary folder whose files move to the folder `path` when the block ends without error.

    A new folder appears at once with all of its files. In a folder that exists, files of the
    same names are replaced one by one, `last` after all others; an old `last` is removed first.
    So a folder that has `last` is complete.
    """
    target = Path(path).resolve()
    with _said_of(path):
        # Within a folder that exists: it may be a disk of its own, and what is above it another's.
        part = (target / "x" if target.is_dir() else target).with_name(_part_name(target))
        try:
            part.mkdir(parents=True)
            yield part
            for file in part.iterdir():
                _sync(file)
            _sync(part)
            _move_folder(part, target, last)
        finally:
            shutil.rmtree(part, ignore_errors=True)
        _sync(target.parent)


@contextmanager
def only_writer(path: str | Path) -> Iterator[None]:
    """Hold a folder of results for the time of the work that fills it.

    Another process that would fill it, too, is refused before its work: one's results would
    replace the other's. The system lets go of the lock however the process ends.
    """
    target = Path(path).resolve()
    name = hashlib.sha256(os.fsencode(target)).hexdigest()[:12]
    lock = _existing(target) / f".prefpath-{name}.lock"
    with _said_of(path):
        handle = _own(lock)
    if handle is None:
        raise SettingError(
            f"another fit is writing to {path}", remedy="choose another folder, or wait"
        )
    with handle:
        try:
            yield
        finally:
            with suppress(OSError):  # Windows removes no file that is open
                lock.unlink()


def _own(lock: Path) -> IO[str] | None:
    """The file, locked; None if another process has. One that is gone by then is nobody's."""
    while True:
        handle = lock.open("w")
        if not _locked(handle.fileno(), wait=False):
            handle.close()
            return None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle.fileno()), lock.stat()):
                return handle
        handle.close()


def _existing(target: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    return next(folder for folder in (target, *target.parents) if folder.is_dir())


def _locked(handle: int, *, wait: bool) -> bool:
    """Lock a file or folder; False if another process has. No lock is one where systems lack it."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES)
    return True


def check_file(path: str | Path, what: str) -> None:
    """Refuse a place where no file can be written, before the work that is to fill it."""
    target = Path(path).resolve()
    with _said_of(path):
        _try_name(target)
        if target.is_dir():
            raise SettingError(f"{what} {path} is a folder", expected="the name of a file")
        if target.exists() and not target.is_file():
            return
        _try_writing(target)


def check_folder(path: str | Path, what: str) -> None:
    """Refuse a folder that cannot be written to or made, before the work that is to fill it."""
    target = Path(path).resolve()
    with _said_of(path):
        _try_name(target)
        if target.exists() and not target.is_dir():
            raise SettingError(f"{what} {path} is a file", expected="a folder to write to")
        _try_writing(_existing(target) / "x")


def _try_name(target: Path) -> None:
    """A name that is too long is an error here; `exists` of later Pythons calls it not there."""
    with suppress(FileNotFoundError):
        target.lstat()


def _try_writing(target: Path) -> None:
    """A file can be made here and one byte written; permissions alone do not tell."""
    trial = target.with_name(_part_name(target))
    try:
        trial.write_bytes(b"x")
    finally:
        trial.unlink(missing_ok=True)


@contextmanager
def _said_of(path: str | Path) -> Iterator[None]:
    try:
        yield
    except PrefpathError:
        raise
    except (OSError, MemoryError) as error:
        raise _cannot_write(path, error) from error


def _cannot_write(path: str | Path, error: OSError | MemoryError) -> PrefpathError:
    doing = f"{path} cannot be written"
    lacks = lacking(error, doing)
    if lacks is not None or isinstance(error, MemoryError):
        assert lacks is not None
        return lacks
    words = {
        errno.ENOENT: "there is no such folder",
        errno.ENOTDIR: "a part of its name is a file, not a folder",
        errno.EACCES: "this is not allowed here",
        errno.EPERM: "this is not allowed here",
        errno.ENAMETOOLONG: "its name is too long",
    }.get(error.errno or 0, error.strerror or str(error))
    return SettingError(f"{doing}: {words}", remedy=_ANOTHER_PLACE)


def _refuse_folder(target: Path) -> None:
    if target.is_dir():
        raise SettingError(f"{target} is a folder", expected="the name of a file")


def _part_name(target: Path) -> str:
    """Hidden, and of this process alone: two runs may write to the same place."""
    return f".{target.name[:40]}.{secrets.token_hex(4)}.part"


def _keep_mode(target: Path, part: Path) -> None:
    if target.exists():
        part.chmod(target.stat().st_mode & 0o7777)


def _sync(path: Path) -> None:
    """Onto the disk: after a power cut the name must not stand for an empty file."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _move_folder(part: Path, target: Path, last: str) -> None:
    if not target.exists():
        try:
            part.rename(target)
            return
        except OSError:
            if not target.is_dir():  # else another process has made it just now
                raise
    with _alone_in(target):
        (target / last).unlink(missing_ok=True)
        for file in sorted(part.iterdir(), key=lambda file: (file.name == last, file.name)):
            file.replace(target / file.name)
        _sync(target)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """One process at a time moves its files into a folder, so that all are of one of them."""
    if os.name == "nt":  # folders cannot be opened there
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        _locked(handle, wait=True)
        yield
    finally:
        os.close(handle)
