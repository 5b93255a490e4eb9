"""What Numba found out about a call is remembered: the types of `a + b` are those of the next one.

For every operator of every kernel Numba asks some ten rules, most of which have to do with strings,
lists or dates, words an error for each that does not fit, and compares all flags of the compiler.
"""

# Numba has no types of its own.
# mypy: disable-error-code="no-untyped-call,misc,attr-defined"

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from numba import types
from numba.core.compiler import Flags

# What kernels do with numbers and with elements of arrays: no answer depends on flags.
_OPERATORS = frozenset(
    {operator.add, operator.sub, operator.mul, operator.truediv, operator.getitem}
    | {operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne}
)
_signatures: dict[Any, Any] = {}
_flags: dict[str, Any] = {}


class _KnownFlags(Flags):
    """Flags that are one object wherever they are equal, as is found at a glance."""

    def __hash__(self) -> int:
        return _HASH

    def __eq__(self, other: object) -> Any:
        if isinstance(other, _KnownFlags):
            return self is other
        return super().__eq__(other)

    def copy(self) -> Any:
        """Whoever copies these may change the copy."""
        return Flags(self)


_HASH = hash(Flags())  # of their names alone: the same for all


class KernelFlags(Flags):
    """Flags of a kernel; a compiler works under a copy, and looks things up by it."""

    def copy(self) -> Any:
        return _flags.setdefault(repr(self), _KnownFlags(self))


def _is_plain(kind: Any) -> bool:
    """Whether operators on it come with no function that is compiled."""
    if isinstance(kind, types.Array):
        return isinstance(kind.dtype, types.Number)
    if isinstance(kind, types.BaseTuple):
        return all(isinstance(each, types.Integer) for each in kind)
    return isinstance(kind, (types.Number, types.Boolean))


class RememberingContext:
    """A typing context that asks each question about Numba's own functions once.

    Answers depend on flags: some come with functions that are compiled.
    """

    def __init__(self, context: Any, flags: Any) -> None:
        self._context, self._of_flags = context, repr(flags)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """The signature of a call."""
        ask = self._context.resolve_function_type
        if not isinstance(func, types.Function) or kws:
            return ask(func, args, kws)
        plain = func.typing_key in _OPERATORS and all(_is_plain(each) for each in args)
        flags = "" if plain else self._of_flags
        return self._remembered("call", lambda: ask(func, args, kws), flags, func, *args)

    def resolve_getattr(self, typ: Any, attr: str) -> Any:
        """The type of an attribute."""
        return self._remembered(
            "get", lambda: self._context.resolve_getattr(typ, attr), self._of_flags, typ, attr
        )

    def resolve_setitem(self, *of: Any) -> Any:
        """The signature of setting an element."""
        return self._remembered(
            "set", lambda: self._context.resolve_setitem(*of), self._of_flags, *of
        )

    def _remembered(self, what: str, ask: Callable[[], Any], *of: Any) -> Any:
        key = what, of
        found = _signatures.get(key)
        if found is None:
            found = ask()
            if found is not None:
                _signatures[key] = found
        return found
