"""What is said while kernels are compiled, which happens once on a machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import event

# CPU seconds of the first large fit ever, about (benchmarks/first_fit.py --large).
SECONDS_TO_COMPILE = 50


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


def when_compiling(say: Callable[[], None]) -> None:
    """Call `say` when something is compiled for the first time in this process."""
    event.register("numba:run_pass", _FirstPass(say))  # type: ignore[no-untyped-call]
