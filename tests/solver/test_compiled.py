"""Who waits for a compiler is told so, once, and nobody else is."""

from __future__ import annotations

import os
import subprocess
import sys

CODE = """
import numpy as np
from prefpath.solver.compiled import when_compiling
from prefpath.model.penalties import block_norms
when_compiling(lambda: print("compiling"))
block_norms(0, np.ones(2), np.array([0, 2]))
block_norms(0, np.ones(2, dtype=np.float32), np.array([0, 2]))
print("done")
"""


def said(folder) -> list[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_compiling_is_said_once_and_not_again_where_it_was_kept(tmp_path):
    assert said(tmp_path) == ["compiling", "done"]
    assert said(tmp_path) == ["done"]
