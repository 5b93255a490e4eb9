"""Loops that kernels call instead of NumPy's functions.

Numba compiles these anew in every process that compiles a kernel, with all they need: `np.sort`
takes seven functions, and to set a slice to an array the words of an error message, thirty.
"""

from __future__ import annotations

from prefpath.compiling import inner_kernel
from prefpath.model.design import Floats, Ints


@inner_kernel(allocates=False)
def clear(values: Floats, start: int, stop: int) -> None:
    """Fill a stretch with 0."""
    for k in range(start, stop):
        values[k] = 0.0


@inner_kernel(allocates=False)
def negate(values: Floats, out: Floats) -> None:
    """Fill in `-values`."""
    for k in range(len(values)):
        out[k] = -values[k]


@inner_kernel(allocates=False)
def mean(values: Floats) -> float:
    """The mean of some values."""
    total = 0.0
    for value in values:
        total += value
    return total / len(values)


@inner_kernel(allocates=False)
def sum_of_squares(values: Floats) -> float:
    """The sum of squares of some values."""
    total = 0.0
    for value in values:
        total += value * value
    return total


@inner_kernel(allocates=False)
def longest_run(starts: Ints) -> int:
    """The largest difference of two starts that follow each other; 0 without."""
    longest = 0
    for k in range(len(starts) - 1):
        longest = max(longest, starts[k + 1] - starts[k])
    return longest


@inner_kernel(allocates=False)
def sort(values: Floats) -> None:
    """Shell's sort, in place."""
    gap = 1
    while 3 * gap < len(values):
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(gap, len(values)):
            value, at = values[k], k
            while at >= gap and values[at - gap] > value:
                values[at] = values[at - gap]
                at -= gap
            values[at] = value
        gap //= 3
