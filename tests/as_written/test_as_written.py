"""What kernels give as they are written is what they give compiled.

The compiler reads them otherwise than Python does: its integers wrap around, its types are fixed
by the first value, a loop may be reordered. `make unit` runs this without the compiler, where
coverage sees the kernels' lines; the compiled answers come from a process of their own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from answers import PATHS, VERDICTS, Answers, by_kernels, path_of, verdicts

from prefpath.compiling import compiles

pytestmark = pytest.mark.skipif(compiles(), reason="compares with NUMBA_DISABLE_JIT=1 (make unit)")


def compiled(folder: Path, kind: str) -> Answers:
    """Answers of a process that compiles."""
    file, script = folder / "answers.npz", Path(__file__).with_name("answers.py")
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0"}
    subprocess.run([sys.executable, str(script), str(file), kind], env=environment, check=True)
    with np.load(file) as kept:
        return dict(kept)


@pytest.fixture(scope="module")
def compiled_paths(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    return compiled(tmp_path_factory.mktemp("compiled"), "paths")


@pytest.fixture(scope="module")
def compiled_verdicts(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    return compiled(tmp_path_factory.mktemp("compiled"), "verdicts")


@pytest.fixture(autouse=True)
def kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    by_kernels(monkeypatch.setattr)


def _assert_same(found: Answers, compiled: Answers, case: str) -> None:
    expected = {name: value for name, value in compiled.items() if name.startswith(f"{case}/")}
    assert {f"{case}/{name}" for name in found} == set(expected)
    for name, value in found.items():
        # Rounding alone differs, and what the lengths of steps make of it.
        np.testing.assert_allclose(value, expected[f"{case}/{name}"], rtol=1e-6, atol=1e-9)


# Each group runs in one process, which makes the compiled answers once.
@pytest.mark.xdist_group("paths as written")
@pytest.mark.parametrize("case", PATHS)
def test_a_path_is_the_same(case: str, compiled_paths: Answers) -> None:
    found = path_of(PATHS[case])
    assert np.isfinite(found["common"]).all() and np.ptp(found["common"][-1]) > 0.01
    _assert_same(found, compiled_paths, case)


@pytest.mark.xdist_group("verdicts as written")
@pytest.mark.parametrize("case", VERDICTS)
def test_all_that_is_said_of_a_crowd_is_the_same(case: str, compiled_verdicts: Answers) -> None:
    found = verdicts(VERDICTS[case])
    assert len(set(found["word"].tolist())) >= 4  # the odd ones are told apart
    _assert_same(found, compiled_verdicts, case)
