"""Exponentials of many numbers in a compiled loop that does several at once.

A call of the C library does one after another, four times as long. The error is one unit in the
last place, as that of a library is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prefpath.compiling import inner_kernel
from prefpath.model.design import Floats, Ints

_LOWEST, _HIGHEST = -708.0, 709.0  # beyond, the result is too small or large for its exponent
_PER_TWO = 1.4426950408889634  # 1 / log 2
# log 2 in two parts: so many of the first are a number without error.
_LOG_2, _LOG_2_REST = 0.6931471803691238, 1.9082149292705877e-10
_EXPONENT_OF_ONE, _FRACTION_BITS = 1023, 52


class Room(NamedTuple):
    """Numbers whose exponentials are wanted; `power` are the bits of `whole` as numbers."""

    value: Floats
    whole: Ints
    power: Floats


@inner_kernel()
def make_room(n: int) -> Room:
    """Room for n numbers."""
    whole = np.zeros(n, dtype=np.int64)
    return Room(np.zeros(n), whole, whole.view(np.float64))


@inner_kernel(allocates=False, fastmath={"contract"})
def exponentials(room: Room, n: int) -> None:
    """Put the exponentials of the first n numbers in their place.

    Of what is left of a number beside whole powers of 2, by the series.
    """
    value, whole, power = room.value[:n], room.whole[:n], room.power[:n]
    for k in range(n):
        x = min(max(value[k], _LOWEST), _HIGHEST)
        twos = np.rint(x * _PER_TWO)
        rest = (x - twos * _LOG_2) - twos * _LOG_2_REST
        whole[k] = (np.int64(twos) + _EXPONENT_OF_ONE) << _FRACTION_BITS
        total = 1.0 / 6227020800.0
        total = total * rest + 1.0 / 479001600.0
        total = total * rest + 1.0 / 39916800.0
        total = total * rest + 1.0 / 3628800.0
        total = total * rest + 1.0 / 362880.0
        total = total * rest + 1.0 / 40320.0
        total = total * rest + 1.0 / 5040.0
        total = total * rest + 1.0 / 720.0
        total = total * rest + 1.0 / 120.0
        total = total * rest + 1.0 / 24.0
        total = total * rest + 1.0 / 6.0
        total = total * rest + 0.5
        total = total * rest + 1.0
        value[k] = total * rest + 1.0
    for k in range(n):
        value[k] *= power[k]
