"""Reading arrays by name from a file, from any thread."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# NumPy reads the header of an array with `ast`, whose count of its own depth Python 3.11 keeps
# for all threads at once: two readers side by side get "AST constructor recursion depth mismatch".
_ONE_READER = threading.Lock()


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
        return dict(archive)
