"""What helpers compile is what a fit would: the same kernels, for the same types."""

from __future__ import annotations

import subprocess
import sys

from prefpath.ahead import samples
from prefpath.ahead.steps import PATHS, VERDICTS, in_order, is_compiled, kernel_named

# In a process of its own: other tests compile kernels for other types.
FIT_THEN_SAMPLES = """
from prefpath import PreferenceModel, simulate_crowd
from prefpath.ahead.samples import compile_kernel
from prefpath.ahead.steps import PATHS, VERDICTS, is_compiled, kernel_named
from prefpath.findings import find

votes = simulate_crowd(26_000, 40, 60, deviants=3, clickers=3, seed=7).votes
# Fewer votes are tested in NumPy.
find(PreferenceModel(attention=True, cv=2).fit(votes))
for name in (*PATHS, *VERDICTS):
    kernel = kernel_named(name)
    fitted = set(kernel.signatures)
    assert fitted, f"{name} is not needed"
    compile_kernel(name)
    assert set(kernel.signatures) == fitted, f"{name}: {set(kernel.signatures) - fitted}"
assert is_compiled(PATHS) and is_compiled(VERDICTS)
print("the same")
"""


def test_a_fit_needs_just_what_the_samples_give() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FIT_THEN_SAMPLES], capture_output=True, text=True
    )
    assert done.stdout == "the same\n", done.stderr


def test_every_kernel_has_a_sample() -> None:
    known = {*samples._CALLED, *samples._ARGUMENTS}
    named = [name.rpartition(".")[2] for name in (*PATHS, *VERDICTS)]
    assert set(named) == known and len(named) == len(known)
    assert all(callable(kernel_named(name)) for name in (*PATHS, *VERDICTS))


def test_the_longest_come_first_and_fits_last() -> None:
    names = ["fit of many votes", PATHS[-1], VERDICTS[0], PATHS[0]]
    assert in_order(names) == [PATHS[0], VERDICTS[0], PATHS[-1], "fit of many votes"]


def test_nothing_is_missing_where_nothing_is_compiled() -> None:
    """As with NUMBA_DISABLE_JIT, where kernels are plain functions."""
    assert is_compiled(["prefpath.solver.rkc.chebyshev"])
