"""Named tuples that kernels get by reference are to them what they are to Python."""

from __future__ import annotations

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import typeof, types

from prefpath.compiling import by_reference, inner_kernel, kernel
from prefpath.compiling.references import Reference


@by_reference
class Small(NamedTuple):
    """A tuple of a tuple."""

    values: Any
    matrix: Any
    factor: float
    negative: bool


@by_reference
class Other(NamedTuple):
    """The same fields under other names."""

    values: Any
    matrix: Any
    share: float
    negative: bool


@by_reference
class Large(NamedTuple):
    """Holds one."""

    n: int
    small: Small
    out: Any


@by_reference
class Named(NamedTuple):
    """Has a field that is no number."""

    name: str
    values: Any


@inner_kernel()
def _product(small, k):
    product = small.factor * small.values[k]
    return -product if small.negative else product


@kernel()
def _fill(large):
    n, small, out = large
    total = 0.0
    for k in range(n):
        total += _product(small, k) + large.small.matrix[1, k] + small.matrix.shape[0]
        out[k, 1] = total
    return total


@kernel()
def _factor(small):
    return small.factor


@kernel()
def _share(other):
    return other.share


@kernel()
def _length(named):
    return len(named.name) + len(named.values)


def small(*, negative=False, order="C"):
    matrix = np.array(np.arange(10.0).reshape(2, 5), order=order)
    return Small(np.arange(1.0, 6.0), matrix, 2.5, negative)


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("step", [1, 2])
def test_a_kernel_reads_what_python_reads(negative, order, step):
    outs = [np.zeros((5, 4))[:, ::step] for _ in range(2)]
    of_kernel, as_written = (Large(5, small(negative=negative, order=order), out) for out in outs)
    assert _fill(of_kernel) == _fill.py_func(as_written)
    np.testing.assert_array_equal(*outs)
    assert outs[0][4, 1] != 0.0


def test_it_is_a_tuple_of_its_class():
    made = small()
    assert isinstance(made, tuple) and made._fields == ("values", "matrix", "factor", "negative")
    assert made == made._replace(factor=2.5) and made._replace(factor=1.0).factor == 1.0
    assert (type(made).__name__, type(made).__doc__) == ("Small", "A tuple of a tuple.")
    with pytest.raises(AttributeError, match="Small has no colour"):
        _ = made.colour


def test_an_address_is_not_sent_to_other_processes():
    made = small()
    assert _factor(made) == 2.5
    again = pickle.loads(pickle.dumps(made))
    assert vars(made) and not vars(again)
    assert type(again) is Small and _factor(again) == 2.5


def test_types_are_those_of_class_and_fields():
    assert typeof(small()) == typeof(small(negative=True))
    assert typeof(small()) != typeof(small(order="F"))
    other = Other(*small())
    assert typeof(other) != typeof(small())
    assert (_factor(small()), _share(other)) == (2.5, 2.5)
    read_only = small()
    read_only.values.setflags(write=False)
    assert typeof(read_only) != typeof(small())
    assert pickle.loads(pickle.dumps(typeof(other))) == typeof(other)


def test_another_field_is_passed_as_numba_does():
    named = Named("abc", np.zeros(4))
    assert isinstance(typeof(named), types.NamedTuple)
    assert isinstance(typeof(small()), Reference)
    assert _length(named) == 7


def test_threads_take_the_first_address():
    made = [small() for _ in range(200)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda one: [one._address for _ in range(4)], made * 4))
    assert all(address is made[k % 200]._address for k, row in enumerate(found) for address in row)


def test_what_is_kept_on_disk_reads_another_processes_tuples(tmp_path):
    code = """
from typing import Any, NamedTuple
import numpy as np
from prefpath.compiling import by_reference, kernel

@by_reference
class Pair(NamedTuple):
    values: Any
    factor: float

@kernel()
def scaled(pair):
    return pair.factor * pair.values[1]

print(scaled(Pair(np.arange(3.0), 4.0)), sum(scaled.stats.cache_hits.values()))
"""
    (tmp_path / "pairs_of_a_test.py").write_text(code)
    command = [sys.executable, "-c", "import pairs_of_a_test"]
    seen = [subprocess.run(command, cwd=tmp_path, capture_output=True, text=True) for _ in range(2)]
    assert [done.stdout.split() for done in seen] == [["4.0", "0"], ["4.0", "1"]], seen[0].stderr
