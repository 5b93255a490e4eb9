"""How kernels are compiled: what only other kernels call gets no entry from Python.

An entry unpacks Python objects, array by array of every tuple; it takes LLVM as long as a kernel of
twenty lines, and it is compiled again into whatever calls the kernel. Nothing here is called by C.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, ClassVar
from weakref import WeakSet

from numba import config, njit
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature

from prefpath.compiling.libraries import InnerCompiler, OuterCompiler, set_environments

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
    """A compiled function that says so before it is compiled.

    Kernels that call it get a twin without an entry from Python.
    """

    how_inner: dict[str, Any]

    def compile(self, sig: Any) -> Any:
        for tell in _before:
            tell(name_of(self))
        with global_compiler_lock:  # or what another thread compiles would be forgotten meanwhile
            try:
                return self._compiled(sig)
            except Exception:
                if not OuterCompiler.own_ways:
                    raise
                self._reset_overloads()  # type: ignore[attr-defined]  # it may be there, not whole
                with _as_numba_does():
                    return self._compiled(sig)

    def _compiled(self, sig: Any) -> Any:
        entry = super().compile(sig)
        if OuterCompiler.own_ways:
            types, _ = normalize_signature(sig)  # type: ignore[no-untyped-call]
            set_environments(self.overloads[tuple(types)])
        return entry

    @cached_property
    def inner(self) -> Any:
        """What kernels call."""
        return _Inner.of(self.py_func, self.how_inner)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return self.inner.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        return self.inner.get_overload(sig)


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
    """A compiled function without an entry from Python, nor machine code of its own.

    Called from there (tests do), it would end the process: a twin that has one answers. Neither is
    kept on disk: what is kept of a kernel has all in it that it calls.
    """

    _all: ClassVar[WeakSet[Any]] = WeakSet()

    @classmethod
    def of(cls, function: Any, how: dict[str, Any]) -> _Inner:
        """The dispatcher of a function."""
        own = cls(function, targetoptions=how, pipeline_class=InnerCompiler)
        cls._all.add(own)
        return own

    @classmethod
    def forget_all(cls) -> None:
        """Compile all of them anew."""
        for inner in cls._all:
            inner._reset_overloads()

    def __call__(self, *arguments: Any) -> Any:
        if "twin" not in vars(self):
            how = {**_HOW, **self.targetoptions, "cache": False, "no_cpython_wrapper": False}
            del how["nopython"], how["_nrt"]  # which njit says itself
            self.twin = njit(**how)(self.py_func)
        return self.twin(*arguments)


@contextmanager
def _as_numba_does() -> Iterator[None]:
    """Compile without the ways of this folder: this Numba may do something in another way.

    Ever after, unless that fails, too: then it is the kernel that is wrong.
    """
    OuterCompiler.own_ways = False
    _Inner.forget_all()
    try:
        yield
    except Exception:
        OuterCompiler.own_ways = True
        _Inner.forget_all()
        raise


def kernel(*, allocates: bool = True, **options: Any) -> Callable[[Any], Any]:
    """A compiled function that is called from Python, and perhaps from other kernels, too.

    One that makes no array, nor calls one that does, need not count references where kernels call
    it: what they pass outlives the call.
    """

    def kept(function: Any, how: dict[str, Any]) -> _Outer:
        own = _Outer(function, targetoptions=how, pipeline_class=OuterCompiler)
        own.how_inner = {**how, "no_cpython_wrapper": True, "_nrt": allocates}
        own.enable_caching()
        return own

    return _made_as(kept, {**_HOW, **options})


def inner_kernel(*, allocates: bool = True, **options: Any) -> Callable[[Any], Any]:
    """A compiled function that other kernels call; see `kernel`."""
    how = {**_HOW, "no_cpython_wrapper": True, "_nrt": allocates, **options}
    return _made_as(_Inner.of, how)


def _made_as(
    make: Callable[[Any, dict[str, Any]], CPUDispatcher], how: dict[str, Any]
) -> Callable[[Any], Any]:
    """A decorator that compiles as a dispatcher of our own."""

    def compiled(function: Any) -> Any:
        made = njit(**{**how, "cache": False})(function)
        if not isinstance(made, CPUDispatcher):  # as it is written: NUMBA_DISABLE_JIT
            return made
        return make(function, made.targetoptions)

    return compiled
