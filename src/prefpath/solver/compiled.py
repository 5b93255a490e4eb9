"""What is said while kernels are compiled, which happens once on a machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import event

from prefpath.machine import FEW_ROWS

# CPU seconds that compiling takes, about (benchmarks/first_fit.py --files --kernels): of verdicts,
# which few votes need none for, and of the path.
_OF_VERDICTS, _OF_PATHS = 15, 15
# What the fit compiles itself, however many processes help: of paths one kernel alone takes this.
_AT_LEAST = 10


class _FirstPass(event.Listener):
    """Numba runs passes only where it compiles: what it finds in its folder, it loads."""

    def __init__(self, say: Callable[[], None]) -> None:
        self._say: Callable[[], None] | None = say

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        say, self._say = self._say, None
        if say is not None:
            say()

    def on_end(self, event: Any) -> None:
        pass


def seconds_to_compile(n_rows: int, n_processes: int = 1) -> int:
    """What compiling takes at the first fit of so many rows, about, by so many processes.

    >>> [seconds_to_compile(100_000, n_processes) for n_processes in (1, 2, 8)]
    [30, 15, 10]
    >>> seconds_to_compile(10_000)
    15
    """
    of_verdicts = _OF_VERDICTS if n_rows > FEW_ROWS else 0
    return max((of_verdicts + _OF_PATHS) // n_processes, _AT_LEAST)


def when_compiling(say: Callable[[], None]) -> None:
    """Call `say` when something is compiled for the first time in this process."""
    event.register("numba:run_pass", _FirstPass(say))  # type: ignore[no-untyped-call]
