"""How kernels are compiled, and what is known of it from outside."""

from prefpath.compiling.kernels import (
    compiles,
    inner_kernel,
    is_kept,
    kernel,
    name_of,
    told_before_compiling,
)

__all__ = [
    "compiles",
    "inner_kernel",
    "is_kept",
    "kernel",
    "name_of",
    "told_before_compiling",
]
