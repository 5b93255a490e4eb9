"""How kernels are compiled: what only other kernels call gets no entry from Python.

An entry unpacks Python objects, array by array of every tuple; it takes LLVM as long as a kernel of
twenty lines, and it is compiled again into whatever calls the kernel. Nothing here is called by C.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core import event
from numba.core.registry import CPUDispatcher

_HOW: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}


class _Uncollected(event.Listener):
    """Lets no garbage be looked for while something is compiled.

    A compiler makes millions of objects that stay: to walk over them took a tenth of its time.
    """

    def __init__(self) -> None:
        self._depth, self._collects = 0, True

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        if self._depth == 0:
            self._collects = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        self._depth -= 1
        if self._depth == 0 and self._collects:
            gc.enable()


event.register("numba:compile", _Uncollected())  # type: ignore[no-untyped-call]


class _Inner(CPUDispatcher):
    """A compiled function without an entry from Python.

    Called from there (tests do), it would end the process: a twin that has one answers. The twin
    is not kept on disk, where it would be taken for this one.
    """

    def __call__(self, *arguments: Any) -> Any:
        if "twin" not in vars(self):
            how = {**_HOW, **self.targetoptions, "cache": False, "no_cpython_wrapper": False}
            del how["nopython"]  # which njit says itself
            self.twin = njit(**how)(self.py_func)
        return self.twin(*arguments)


def kernel(**options: Any) -> Callable[[Any], Any]:
    """A compiled function that is called from Python, and perhaps from other kernels, too."""
    how: dict[str, Any] = {**_HOW, **options}
    compiled: Callable[[Any], Any] = njit(**how)
    return compiled


def inner_kernel(**options: Any) -> Callable[[Any], Any]:
    """A compiled function that other kernels call."""

    def compiled(function: Any) -> Any:
        how = {**_HOW, "cache": False, "no_cpython_wrapper": True, **options}
        made = njit(**how)(function)
        if not isinstance(made, CPUDispatcher):  # as it is written: NUMBA_DISABLE_JIT
            return made
        inner = _Inner(function, targetoptions=made.targetoptions)
        inner.enable_caching()
        return inner

    return compiled
