"""How kernels are compiled, and what is known of it from outside."""

from prefpath.compiling.kernels import (
    compiles,
    inner_kernel,
    is_kept,
    kernel,
    name_of,
    told_before_compiling,
)
from prefpath.compiling.references import by_reference

__all__ = [
    "by_reference",
    "compiles",
    "inner_kernel",
    "is_kept",
    "kernel",
    "name_of",
    "told_before_compiling",
]
