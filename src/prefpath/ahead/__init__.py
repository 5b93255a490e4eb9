"""Kernels compiled ahead, by other processes: the first fit on a machine need not do it alone.

Numba compiles one function at a time in a process, whatever the threads. Other processes compile
into the same folder on disk, where Numba looks before it compiles. `compiling_ahead` starts some
where kernels are missing there; the command line does, the library never by itself.
"""

from prefpath.ahead.crew import compile_all, compiling_ahead, expect_verdicts, n_helping

__all__ = ["compile_all", "compiling_ahead", "expect_verdicts", "n_helping"]
