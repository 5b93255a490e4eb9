"""Reading arrays by name from a file, from any thread."""

from __future__ import annotations

import struct
import threading
import zlib
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from prefpath.machine import require_memory

# NumPy reads the header of an array with `ast`, whose count of its own depth Python 3.11 keeps
# for all threads at once: two readers side by side get "AST constructor recursion depth mismatch".
_ONE_READER = threading.Lock()
_MOST_PACKED = 1_032  # bytes in one, by zlib
# What NumPy and zip raise on a file that is something else, cut short or spoiled. A flipped bit
# can say "compressed by a method nobody knows" or "encrypted": NotImplementedError, RuntimeError.
DAMAGED = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    EOFError,
    OverflowError,
    RuntimeError,
    BadZipFile,
    struct.error,
    zlib.error,
)


def read_archive(file: Path) -> dict[str, NDArray[Any]]:
    """All arrays of an `.npz` file; nothing in it is ever run.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "two.npz"
    >>> np.savez(file, a=np.arange(3), b=np.array(2.5))
    >>> sorted(read_archive(file))
    ['a', 'b']
    """
    with _ONE_READER, file.open("rb") as handle, np.load(handle, allow_pickle=False) as archive:
        _require_room(file, sum(part.file_size for part in archive.zip.infolist()))
        return dict(archive)


def _require_room(file: Path, unpacked: int) -> None:
    """Refuse what does not fit into memory before it is unpacked, and sizes that cannot be."""
    if unpacked > _MOST_PACKED * file.stat().st_size:
        raise BadZipFile(f"it is said to unpack to {unpacked:,} bytes")
    require_memory(unpacked, f"reading {file}")
