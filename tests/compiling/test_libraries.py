"""Kernels that only kernels call: linked into these, without machine code of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from prefpath.compiling import libraries

CODE = """
from prefpath.compiling import inner_kernel, kernel, kernels, libraries, typing
CHANGE

@inner_kernel()
def doubled(x):
    return 2.0 * x

@inner_kernel()
def quadrupled(x):
    return doubled(doubled(x))

@kernel()
def eight_times(x):
    return doubled(quadrupled(x))

@kernel()
def both(x):
    return eight_times(x) + doubled(x)

assert both(1.5) == 15.0 and eight_times(1.5) == 12.0 and doubled(1.5) == 3.0
inner = doubled, quadrupled, eight_times.inner
kinds = {type(made.library).__name__ for each in inner for made in each.overloads.values()}
print(libraries.OuterCompiler.own_ways, *kinds)
"""


# No other thread may compile meanwhile.
FORGETTING = """
from numba.core.compiler_lock import global_compiler_lock
forget_all = kernels._Inner.forget_all
def forget_when_locked():
    assert global_compiler_lock.is_locked()
    forget_all()
kernels._Inner.forget_all = forget_when_locked
"""


def run(tmp_path, change: str) -> str:
    file = tmp_path / "kernels_here.py"
    file.write_text(CODE.replace("CHANGE", change))
    done = subprocess.run([sys.executable, file], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_inner_kernels_have_no_machine_code(tmp_path):
    assert run(tmp_path, "") == "True InnerLibrary"


@pytest.mark.parametrize(
    "change",
    [
        "libraries.OuterCompiler.own_ways = False",
        "libraries.InnerLibrary._optimize_final_module = lambda self, level: None",
        "libraries.InnerLibrary._finalize_final_module = None",
        "libraries.KernelLibrary._optimize_functions = None",
        "typing.RememberingContext.resolve_function_type = None",
        "typing.KernelFlags.copy = lambda self: None",
        "kernels.set_environments = None",
    ],
)
def test_another_numba_builds_whole_libraries(tmp_path, change):
    assert run(tmp_path, FORGETTING + change) == "False JITCodeLibrary"


def test_what_is_used_of_numba_is_looked_for(monkeypatch):
    assert libraries.can_leave_unfinished()
    monkeypatch.setattr(libraries, "_USED", ("_optimize_final_module", "gone"))
    assert not libraries.can_leave_unfinished()
