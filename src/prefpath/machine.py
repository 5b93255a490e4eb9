"""What the machine lacks, in plain words, what it has left, and what to compile for."""

from __future__ import annotations

import errno
import mmap
import os
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from prefpath.errors import MachineError

# Rows of a matrix from which BLAS's own threads save more than they cost: below, they mostly wait
# for each other, and a cross-validated ridge takes six times the processor time. Where other
# programs keep the processors busy, two threads factor 1,000 rows in 20 times the time of one.
_BLAS_THREADS_FROM = 3_000

# Up to so many rows NumPy is done before a loop would have been compiled, or even loaded.
FEW_ROWS = 20_000

_A_MOMENT = 0.003  # seconds

_NO_MEMORY, _NO_OUTPUT = 71, 74  # exit codes of sysexits.h: EX_OSERR, EX_IOERR
_MEMORY_REMEDY = (
    "use a machine or a limit with more memory, fewer votes, or fewer folds (--cv 2 or --cv 0)"
)
_LACKS = {
    errno.ENOSPC: ("the disk is full", "make room, or write to another place"),
    errno.EDQUOT: ("your share of the disk is used up", "make room, or write to another place"),
    errno.EROFS: ("the disk is read-only", "write to another place"),
    errno.EIO: ("the disk or terminal does not answer", "write to another place"),
    errno.EFBIG: (
        "the file is larger than files may be here",
        "raise the limit (ulimit -f), or write to another place",
    ),
    errno.EMFILE: ("too many files are open", "raise the limit (ulimit -n)"),
    errno.ENFILE: ("too many files are open on this machine", "close other programs"),
}


def for_rows(n_rows: int, compiled: Any, in_numpy: Any) -> Any:
    """A compiled function; for few rows one in NumPy, which gives the same numbers.

    The number of rows alone decides, so that results do not depend on what has been compiled.
    """
    return in_numpy if n_rows <= FEW_ROWS else compiled


def lacking(error: BaseException, doing: str = "") -> MachineError | None:
    """What the machine lacks if that is what `error` says; None if it is something else.

    >>> print(lacking(OSError(errno.ENOSPC, ""), "ranking.csv cannot be written"))
    ranking.csv cannot be written: the disk is full
      remedy:   make room, or write to another place
    >>> lacking(ValueError("x")) is None
    True
    """
    before = f"{doing}: " if doing else ""
    number = error.errno if isinstance(error, OSError) else None
    unmapped = isinstance(error, ImportError) and "failed to map" in str(error)
    if isinstance(error, MemoryError) or number == errno.ENOMEM or unmapped:
        return MachineError(
            f"{before}there is not enough memory", _MEMORY_REMEDY, exit_code=_NO_MEMORY
        )
    if number not in _LACKS:
        return None
    what, remedy = _LACKS[number]
    return MachineError(f"{before}{what}", remedy, exit_code=_NO_OUTPUT)


def free_memory() -> int | None:
    """Bytes this process may still take: of the machine, its group and its own limit.

    None where the system does not say.
    """
    known = [free for free in (_of_machine(), _of_group(), _of_process()) if free is not None]
    return min(known, default=None)


def processors() -> int:
    """Processors this process may use: those it is allowed, and its group's share of them."""
    usable = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    quota, _, period = _text("/sys/fs/cgroup/cpu.max").strip().partition(" ")
    if not quota.isdigit() or not period.isdigit():
        return usable
    return max(1, min(usable, int(quota) // int(period)))


def idle_processors() -> int:
    """Processors this process may use beside its own that nobody else keeps busy just now.

    Whoever is busy for a moment only is not counted; all are taken for idle where the system does
    not say.
    """
    others = min(_running(wait=wait) for wait in (0.0, *[_A_MOMENT] * 4)) - 1
    return max(0, min(processors(), (os.cpu_count() or 1) - others) - 1)


def _running(wait: float) -> int:
    """How many threads of all processes run or are ready to, this one included."""
    time.sleep(wait)
    known = _text("/proc/loadavg").split()
    return int(known[3].partition("/")[0]) if len(known) > 3 else 1


def require_memory(needed: int, doing: str) -> None:
    """Refuse what cannot fit, before any of it is done."""
    free = free_memory()
    if free is not None and needed > free:
        raise MachineError(
            f"{doing} needs about {_size(needed)} of memory, and {_size(free)} are free",
            _MEMORY_REMEDY,
            exit_code=_NO_MEMORY,
        )


def _of_machine() -> int | None:
    for line in _text("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _of_group() -> int | None:
    """What is left of a container's limit; caches count as used, but can be given back."""
    folder = "/sys/fs/cgroup"
    limit, used = _text(f"{folder}/memory.max").strip(), _text(f"{folder}/memory.current").strip()
    if not limit.isdigit() or not used.isdigit():
        return None
    cached = dict(line.split() for line in _text(f"{folder}/memory.stat").splitlines())
    return int(limit) - int(used) + int(cached.get("inactive_file", 0))


def address_limit() -> int | None:
    """The limit of this process in bytes (`ulimit -v`), None without one.

    It counts addresses and not pages in use: libraries take hundreds of megabytes of them.
    """
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _of_process() -> int | None:
    limit, pages = address_limit(), _text("/proc/self/statm").split()
    if limit is None or not pages:
        return None
    return max(0, limit - int(pages[0]) * mmap.PAGESIZE)


def _text(file: str) -> str:
    try:
        return Path(file).read_text("ascii", "replace")
    except OSError:
        return ""


def _size(n_bytes: int) -> str:
    """A size for a person.

    >>> _size(3_500_000), _size(12_340_000_000)
    ('4 MB', '12.3 GB')
    """
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"


def blas_threads_for(n_rows: int) -> AbstractContextManager[object]:
    """Within it, BLAS keeps to one thread unless matrices of `n_rows` rows are worth more."""
    return one_blas_thread() if n_rows < _BLAS_THREADS_FROM else nullcontext()


def one_blas_thread() -> AbstractContextManager[object]:
    """Within it, BLAS keeps to one thread."""
    libraries = _libraries("scipy.linalg" in sys.modules)
    limits: AbstractContextManager[object] = libraries.limit(limits=1, user_api="blas")
    return limits


@cache
def _libraries(_with_scipy: bool) -> ThreadpoolController:
    """The libraries with threads that are loaded; SciPy brings a BLAS of its own.

    To look for them takes as long as a matrix of 200 items is taken apart.
    """
    return ThreadpoolController()
