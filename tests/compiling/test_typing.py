"""What is remembered of Numba's typing changes no answer, and no kernel's flags."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit, types
from numba.core.compiler import Flags
from numba.core.errors import NumbaError

from prefpath.compiling import inner_kernel, kernel, typing
from prefpath.compiling.typing import KernelFlags, RememberingContext


class Asked:
    """A typing context that counts questions; it knows no attribute `unknown`."""

    name = "asked"

    def __init__(self) -> None:
        self.questions: list[tuple] = []

    def resolve_function_type(self, func, args, kws):
        self.questions.append((func, args, kws))
        return f"of {args}"

    def resolve_getattr(self, typ, attr):
        self.questions.append((typ, attr))
        return None if attr == "unknown" else types.float64

    def resolve_setitem(self, *of):
        self.questions.append(of)
        return "set"


@pytest.fixture
def asked(monkeypatch):
    monkeypatch.setattr(typing, "_signatures", {})
    return Asked()


def test_a_question_about_numbas_functions_is_asked_once(asked):
    context = RememberingContext(asked, Flags())
    plus = types.Function(type("Plus", (), {"key": "plus"}))
    for _ in range(2):
        assert context.resolve_function_type(plus, (1, 2), {}) == "of (1, 2)"
        assert context.resolve_function_type(plus, (1, 3), {}) == "of (1, 3)"
        assert context.resolve_getattr(types.int64, "real") == types.float64
        assert context.resolve_setitem(1, 2, 3) == "set"
    assert len(asked.questions) == 4 and context.name == "asked"


def test_other_flags_keywords_and_kernels_are_asked_again(asked):
    fast = Flags()
    fast.nrt = True
    plus = types.Function(type("Plus", (), {"key": "plus"}))
    for flags in (Flags(), fast, Flags()):
        RememberingContext(asked, flags).resolve_function_type(plus, (1, 2), {})
    assert len(asked.questions) == 2
    context = RememberingContext(asked, fast)
    for _ in range(2):
        context.resolve_function_type(plus, (1,), {"axis": 0})
        context.resolve_function_type("a kernel", (1,), {})
        assert context.resolve_getattr(types.int64, "unknown") is None
    assert len(asked.questions) == 8


def test_flags_are_one_object_where_they_are_equal():
    one, same, other = KernelFlags(), KernelFlags(), KernelFlags()
    other.nrt = True
    assert one.copy() is same.copy() and one.copy() is not other.copy()
    assert one.copy() == Flags() != other.copy() and hash(one.copy()) == hash(Flags())
    changed = other.copy().copy()  # of what a compiler works under
    changed.nrt = False
    assert other.copy().nrt


@inner_kernel(allocates=False)
def _next_of(values, k):
    return values[k:][1]


@inner_kernel(allocates=False)
def _copied(values):
    return values.copy()[0]


@kernel()
def _of_copies(values):
    return _next_of(values.copy(), 1) + _next_of(values, 0)


@kernel()
def _wrong(values):
    return _copied(values)


def test_who_makes_no_array_counts_no_references():
    values = np.arange(3.0)
    assert _of_copies(values) == njit(_of_copies.py_func)(values) == 3.0
    with pytest.raises(NumbaError, match="NRT"):
        _wrong(values)
