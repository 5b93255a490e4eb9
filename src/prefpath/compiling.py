"""How kernels are compiled: what only other kernels call gets no entry from Python.

An entry unpacks Python objects, array by array of every tuple; it takes LLVM as long as a kernel of
twenty lines, and it is compiled again into whatever calls the kernel. Nothing here is called by C.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba import config, njit
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


_before: list[Callable[[str], None]] = []


@contextmanager
def told_before_compiling(tell: Callable[[str], None]) -> Iterator[None]:
    """Within it, `tell` is called with a kernel's name before it is loaded or compiled.

    It may wait for another process that compiles it: Numba looks into its folder after that.
    """
    _before.append(tell)
    try:
        yield
    finally:
        _before.remove(tell)


class _Outer(CPUDispatcher):
    """A compiled function that says so before it is compiled."""

    def compile(self, sig: Any) -> Any:
        for tell in _before:
            tell(name_of(self))
        return super().compile(sig)


def name_of(compiled: Any) -> str:
    """Where a compiled function is defined, and what it is called there."""
    return f"{compiled.py_func.__module__}.{compiled.py_func.__qualname__}"


def compiles() -> bool:
    """Whether kernels are compiled at all: not with NUMBA_DISABLE_JIT."""
    return not config.DISABLE_JIT  # type: ignore[attr-defined]


def is_kept(compiled: Any) -> bool:
    """Whether Numba's folder has anything compiled of a function as it is written now.

    True, too, where that cannot be known: nothing is compiled (NUMBA_DISABLE_JIT), or this Numba
    keeps its files in another way.
    """
    try:
        return bool(compiled._cache._cache_file._load_index())
    except (AttributeError, OSError):
        return True


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
    return _made_as(_Outer, {**_HOW, **options})


def inner_kernel(**options: Any) -> Callable[[Any], Any]:
    """A compiled function that other kernels call."""
    return _made_as(_Inner, {**_HOW, "no_cpython_wrapper": True, **options})


def _made_as(kind: type[CPUDispatcher], how: dict[str, Any]) -> Callable[[Any], Any]:
    """A decorator that compiles, and keeps what it compiled, as a dispatcher of our own."""

    def compiled(function: Any) -> Any:
        made = njit(**{**how, "cache": False})(function)
        if not isinstance(made, CPUDispatcher):  # as it is written: NUMBA_DISABLE_JIT
            return made
        own = kind(function, targetoptions=made.targetoptions)
        own.enable_caching()
        return own

    return compiled
