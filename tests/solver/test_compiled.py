"""A new machine is one whose folder of compiled kernels is empty."""

from __future__ import annotations

import os
import subprocess
import sys

CODE = "from prefpath.solver.compiled import is_compiled; print(is_compiled())"


def test_an_empty_folder_means_that_kernels_are_yet_to_be_compiled(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    said = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "False"


def test_once_a_kernel_has_run_it_is_compiled():
    from prefpath import fit_path, simulate_crowd
    from prefpath.solver.compiled import is_compiled

    fit_path(simulate_crowd(300, 5, 3, seed=0).votes, n_times=2, t_ratio=2.0)
    assert is_compiled()
