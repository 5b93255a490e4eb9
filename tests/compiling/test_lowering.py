"""Kernels lowered the short way give what Numba's own rules give, to the last bit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit
from numba.core import event
from numba.core.caching import NullCache

from prefpath.compiling import by_reference, kernel

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


class Heard(event.Listener):
    """Which functions are compiled, by which passes."""

    def __init__(self) -> None:
        self.functions: list[str] = []
        self.passes: set[str] = set()

    def on_start(self, event: Any) -> None:
        if event.kind == "numba:compile":
            self.functions.append(event.data["dispatcher"].py_func.__qualname__)
        else:
            self.passes.add(event.data["name"].split()[0])

    def on_end(self, event: Any) -> None:
        pass


def test_a_kernel_takes_the_short_way():
    @kernel()
    def clipped(x):
        return min(max(x, 0.0), 1.0)

    vars(clipped)["_cache"] = NullCache()
    heard = Heard()
    with (
        event.install_listener("numba:compile", heard),
        event.install_listener("numba:run_pass", heard),
    ):
        assert [clipped(x) for x in (-1.0, 0.5, 2.0)] == [0.0, 0.5, 1.0]
    assert len(heard.functions) == 1, "Numba's own `min` and `max` are functions, too"
    assert "kernel_lowering" in heard.passes and "native_lowering" not in heard.passes
    assert not {"inline_closure_likes", "inline_overloads", "nopython_rewrites"} & heard.passes
    assert {"nopython_type_inference", "reconstruct_ssa", "ir_legalization"} <= heard.passes
