"""Find a file of known contents: in the user's folder, in the cache, or on the network."""

from __future__ import annotations

import hashlib
import os
import tempfile
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from prefpath.errors import VoteError

_TIMEOUT_SECONDS = 30
_CHUNK = 2**20


@dataclass(frozen=True)
class PinnedFile:
    """A file by its name and the SHA-256 of its contents.

    Attributes
    ----------
    name : str
        In the user's folder and in the cache.
    sha256 : str
        Of its contents, in hexadecimal.
    url : str or None
        Where it is downloaded from; None where nobody publishes exactly this file.
    obtain : str
        Where a person gets it.
    """

    name: str
    sha256: str
    url: str | None = None
    obtain: str = ""


def data_folder() -> Path | None:
    """The folder the user keeps data in: PREFPATH_DATA."""
    named = os.environ.get("PREFPATH_DATA")
    return Path(named).expanduser() if named else None


def cache_folder() -> Path:
    """Where downloads go: PREFPATH_CACHE, or prefpath in the user's own cache folder."""
    own = os.environ.get("PREFPATH_CACHE")
    if own:
        return Path(own).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "prefpath"


def find_file(file: PinnedFile) -> Path:
    """The path of a file whose contents are as pinned; downloaded if need be.

    Raises
    ------
    VoteError
        It is nowhere, or its contents are others: the message says what to get and where to
        put it.
    """
    for folder in (data_folder(), cache_folder()):
        if folder is not None and (folder / file.name).is_file():
            return _checked(folder / file.name, file)
    if file.url is None:
        raise _missing(file, f"{file.name} is not on this machine")
    return _download(file, cache_folder() / file.name)


def _download(file: PinnedFile, target: Path) -> Path:
    """Into a temporary file first: a broken download never looks like a whole one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".download-")
    part = Path(name)
    try:
        # The address is pinned in our source, and the contents by their digest.
        with (
            os.fdopen(handle, "wb") as out,
            urllib.request.urlopen(str(file.url), timeout=_TIMEOUT_SECONDS) as response,  # noqa: S310
        ):
            while chunk := response.read(_CHUNK):
                out.write(chunk)
        _checked(part, file)
        part.replace(target)
    except (OSError, HTTPException) as error:  # of the network, the disk or the server
        raise _missing(file, f"{file.name} could not be downloaded: {error}") from error
    finally:
        part.unlink(missing_ok=True)
    return target


def _checked(path: Path, file: PinnedFile) -> Path:
    found = sha256_of(path)
    if found != file.sha256:
        raise _missing(file, f"{file.name} is not the file it should be (SHA-256 {found})")
    return path


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's contents, in hexadecimal."""
    with path.open("rb") as contents:
        return hashlib.file_digest(contents, "sha256").hexdigest()


def _missing(file: PinnedFile, what: str) -> VoteError:
    folder = data_folder() or cache_folder()
    return VoteError(
        what,
        expected=f"a file with SHA-256 {file.sha256}",
        remedy=f"get it from {file.url or file.obtain} and put it at {folder / file.name}, or set "
        "PREFPATH_DATA to the folder it is in",
    )
