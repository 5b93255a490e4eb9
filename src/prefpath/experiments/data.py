"""Where the experiments' data are when PREFPATH_DATA does not say."""

from __future__ import annotations

import os
from pathlib import Path


def look_beside_the_clone() -> None:
    """In a clone of the project, ../shared/data is where the data are expected.

    An installed package has no clone around it: there PREFPATH_DATA or the cache must have them.
    """
    clone = Path(__file__).resolve().parents[3]
    beside = clone.parent / "shared" / "data"
    if (clone / "pyproject.toml").is_file() and beside.is_dir():
        os.environ.setdefault("PREFPATH_DATA", str(beside))
