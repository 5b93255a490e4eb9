"""What it costs to begin: nobody waits for libraries that are not used."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"numba", "scipy", "sklearn", "pandas", "pyarrow", "matplotlib", "bokeh", "duckdb"}


def loaded_by(code: str) -> set[str]:
    words = "import sys; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{words}"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("code", "not_yet"),
    [
        ("import prefpath", {"numpy"}),
        ("from prefpath import PreferenceModel, read_votes; PreferenceModel()", set()),
        ("import prefpath.cli", set()),
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_needed(code: str, not_yet: set[str]) -> None:
    assert not loaded_by(code) & (HEAVY | not_yet)
