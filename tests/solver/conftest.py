"""Kernels are tested on small crowds, which the solver would follow in NumPy (test_small.py)."""

from __future__ import annotations

import pytest

from prefpath.solver import small


@pytest.fixture(autouse=True)
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.path.name != "test_small.py":
        monkeypatch.setattr(small, "MOST_CELLS", 0)
