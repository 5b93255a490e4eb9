"""Kernels lowered the short way give what Numba's own rules give, to the last bit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit

from prefpath.compiling import by_reference, kernel
from prefpath.compiling.libraries import OuterCompiler
from prefpath.compiling.lowering import _WITHOUT, KernelLowering, shortened

NAN, INF = float("nan"), float("inf")


@by_reference
class Pair(NamedTuple):
    """What kernels get by reference."""

    values: Any
    count: int


@kernel()
def arithmetic(a, b):
    c = a
    c += b
    c *= 2.0
    c -= 1
    return a + b, a - b, a * b, a / b, c, a * 3, -a, a**2, 7.0 - b


@kernel()
def comparisons(a, b):
    return a < b, a <= b, a > b, a >= b, a == b, a != b, min(a, b), max(a, b), max(b, 0.5)


@kernel()
def of_integers(a, b):
    least = min(a, b)
    return a + b, a - b, a * b, a // b, a % b, a / b, least, max(a, 3), a < b, a != b, a + 0.5


@kernel()
def elements(values, k):
    return values[k], values[-1], values[k - 3] + values[0], len(values)


@kernel()
def of_matrices(values, i, j):
    return values[i, j], values[-1, j], values[i, -2], values.shape[1], values[i][j], len(values)


@kernel()
def filled(out, values, n):
    for k in range(n):
        out[k] = values[k]
        out[-1] += k
    return out[0]


@kernel()
def marked(out):
    for i in range(len(out)):
        for j in range(i, out.shape[1]):
            out[i, j] = 10 * i + j
            out[-1, 0] -= 1
    return len(out)


@kernel()
def loops(n, start):
    seen, last = 0, -1
    for k in range(n):
        if k == 3:
            continue
        if k > 7:
            break
        for j in range(start, k):
            seen, last = 10 * seen + j, k
    for k in range(n, start, -2):
        seen += 100 * k
    several = range(start, n)
    for k in several:
        for _ in several:
            last += k
    return seen, last


@kernel()
def counted(n):
    """Arrays whose references are counted, made anew in a loop."""
    kept = np.zeros(3)
    for k in range(n):
        made = np.full(3, float(k))
        made[0] += kept[2]
        kept = made
    return kept


@kernel()
def of_pairs(pair):
    total = 0.0
    for k in range(pair.count):
        total += pair.values[k]
    return total, len(pair.values)


NUMBERS = (0.0, -0.0, 1.5, -2.25, 1e300, INF, -INF, NAN)
CASES = [
    *((arithmetic, (a, b)) for a in NUMBERS for b in NUMBERS),
    *((comparisons, (a, b)) for a in NUMBERS for b in NUMBERS),
    *((of_integers, (a, b)) for a in (-7, 0, 2, 5) for b in (-3, 2, 2**40)),
    *((loops, (n, start)) for n in (-2, 0, 1, 5, 12) for start in (-1, 0, 4)),
    *((counted, (n,)) for n in (0, 1, 4)),
]


def same(found: Any, expected: Any) -> None:
    assert np.asarray(found).tobytes() == np.asarray(expected).tobytes(), (found, expected)
    assert type(found) is type(expected)


@pytest.mark.parametrize("function", [arithmetic, comparisons, of_integers, loops, counted])
def test_numbers_and_loops(function):
    as_numba_does = njit(error_model="numpy")(function.py_func)
    for made, arguments in CASES:
        if made is function:
            found, expected = function(*arguments), as_numba_does(*arguments)
            pairs = zip(found, expected, strict=True)
            for one, other in pairs if isinstance(found, tuple) else [(found, expected)]:
                same(one, other)


@pytest.mark.parametrize("kind", [np.float64, np.int64, np.int32, np.int8, np.uint32, np.bool_])
@pytest.mark.parametrize("step", [1, 2, -1])
def test_elements_of_arrays(kind, step):
    values = np.arange(12).astype(kind)[::step]
    as_numba_does = njit(elements.py_func)
    for k in (0, 2, -2):
        for place in (np.int64(k), np.int32(k)):
            assert elements(values, place) == as_numba_does(values, place)
            assert elements(values, place)[:2] == (values[k], values[-1])
    outs = [np.zeros(13)[::step].astype(kind) for _ in range(2)]
    assert filled(outs[0], values, 5) == njit(filled.py_func)(outs[1], values, 5)
    np.testing.assert_array_equal(*outs)
    read_only = values.copy()
    read_only.setflags(write=False)
    assert elements(read_only, 1) == as_numba_does(values, 1)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("step", [1, 2])
def test_elements_of_matrices(order, step):
    values = np.array(np.arange(24.0).reshape(4, 6), order=order)[:, ::step]
    for i, j in ((0, 0), (3, 1), (-1, -1), (-4, 2)):
        assert of_matrices(values, i, j) == of_matrices.py_func(values, i, j)
    found, expected = values.copy(order), values.copy(order)
    assert marked(found) == marked.py_func(expected)
    np.testing.assert_array_equal(found, expected)


def test_fields_of_tuples():
    assert of_pairs(Pair(np.arange(4.0), 3)) == (3.0, 4)


def test_kernels_take_the_short_way():
    assert OuterCompiler.own_ways
    names = [each.__name__ for each, _ in passes_of_a_kernel()]
    assert KernelLowering.__name__ in names and not _WITHOUT & set(names)
    assert "NopythonTypeInference" in names and "IRLegalization" in names


def passes_of_a_kernel() -> list[Any]:
    from numba.core.compiler import DefaultPassBuilder

    class State:
        func_ir = None

        class flags:
            no_rewrites, enable_ssa = False, True

            class auto_parallel:
                enabled = False

    made = DefaultPassBuilder.define_nopython_pipeline(State())
    assert {each.__name__ for each, _ in made.passes} > _WITHOUT
    return list(shortened(made).passes)


def test_what_numba_calls_min_and_max_is_not_compiled():
    from numba.core import event

    class Compiled(event.Listener):
        def __init__(self) -> None:
            self.names: list[str] = []

        def on_start(self, event: Any) -> None:
            self.names.append(event.data["dispatcher"].py_func.__qualname__)

        def on_end(self, event: Any) -> None:
            pass

    @kernel()
    def clipped(x):
        return min(max(x, 0.0), 1.0)

    clipped.disable_caching = True
    with event.install_listener("numba:compile", Compiled()) as listener:
        assert [clipped(x) for x in (-1.0, 0.5, 2.0)] == [0.0, 0.5, 1.0]
    assert not [name for name in listener.names if name.startswith("ol_")]
