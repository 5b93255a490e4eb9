"""Whether the kernels have been compiled on this machine before."""

from __future__ import annotations

from pathlib import Path

from prefpath.solver.active import rkc_stages_serial

# CPU seconds of the first fit ever, about (benchmarks/first_fit.py).
SECONDS_TO_COMPILE = 50


def is_compiled() -> bool:
    """Whether Numba's folder holds the kernel that calls most others; True if that is unknown.

    Numba has no public question for it, so that a version that stores its index elsewhere is taken
    to have compiled.
    """
    if rkc_stages_serial.signatures:
        return True
    stored = getattr(getattr(rkc_stages_serial, "_cache", None), "_cache_file", None)
    index = getattr(stored, "_index_path", None)
    return index is None or Path(index).is_file()
