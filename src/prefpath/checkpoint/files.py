"""Arrays by name in one file, which is whole and as it was written, or refused."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefpath.archives import DAMAGED, read_archive
from prefpath.errors import VoteError
from prefpath.writing import whole_file

Arrays = Mapping[str, NDArray[Any]]

FORMAT = 1
"""Of the files of a checkpoint; another one is not read."""

_DIGEST, _FORMAT = "checksum", "format"


def write_arrays(file: Path, arrays: Arrays) -> None:
    """Replace a file by these arrays and their checksum, wholly or not at all."""
    extra: dict[str, Any] = {_DIGEST: _digest(arrays), _FORMAT: np.array(FORMAT), **arrays}
    with whole_file(file) as part, part.open("wb") as handle:
        np.savez(handle, **extra)


def read_arrays(file: Path) -> dict[str, NDArray[Any]]:
    """The arrays `write_arrays` wrote.

    Raises
    ------
    VoteError
        The file is not there, damaged, or of another format. Nothing in it is ever run.
    """
    try:
        arrays = read_archive(file)
        expected, number = arrays.pop(_DIGEST), int(arrays.pop(_FORMAT))
    except (*DAMAGED, MemoryError) as error:
        raise VoteError(
            f"{file} is no checkpoint, or damaged: {error}", remedy="remove it, or make it anew"
        ) from error
    if number != FORMAT:
        raise VoteError(f"{file} has format {number}", expected=f"format {FORMAT}")
    if not np.array_equal(expected, _digest(arrays)):
        raise VoteError(
            f"{file} is damaged: its checksum is another", remedy="remove it, or make it anew"
        )
    return arrays


def _digest(arrays: Arrays) -> NDArray[np.uint8]:
    total = hashlib.sha256()
    for name in sorted(arrays):
        part = np.ascontiguousarray(arrays[name])
        total.update(f"{name} {part.dtype.str} {arrays[name].shape} ".encode())
        total.update(part.reshape(-1).view(np.uint8).data)
    return np.frombuffer(total.digest(), dtype=np.uint8)
