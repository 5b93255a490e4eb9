"""Where the real data are, hypothesis profiles, and a compiler that coverage does not watch."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from numba.core import event

# A shell has what it starts in the background ignore Ctrl-C, and children inherit that: the tests
# that send it would wait in vain.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The machine is shared: a slow example is not a failed one, nor is one that is slow to make. The
# examples are the same in every run, so that nobody's change fails by somebody else's luck; to
# look for new ones: pytest --hypothesis-profile=explore
_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("default", _PATIENT, max_examples=40, derandomize=True)
settings.register_profile("explore", _PATIENT, max_examples=400)
settings.load_profile("default")


class _Unwatched(event.Listener):
    """Lets coverage not watch the compiler: that doubles its time, and no line is ours."""

    def __init__(self) -> None:
        self._depth, self._tracer = 0, None

    def on_start(self, event: Any) -> None:
        if self._depth == 0:
            self._tracer = sys.gettrace()
            sys.settrace(None)
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            sys.settrace(self._tracer)


if sys.gettrace() is not None:
    event.register("numba:compile", _Unwatched())

# Whole programs: lines they pass by have tests of their own, and to count them takes half as long
# again.
_UNCOUNTED = ("docs/test_guides.py", "experiments/", "examples/", "test_golden.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = f"{Path(__file__).parent.as_posix()}/"
    for item in items:
        if item.path.as_posix().removeprefix(here).startswith(_UNCOUNTED):
            item.add_marker("no_cover")


def _data_folder() -> Path:
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("PREFPATH_DATA", beside))


def _folder_or_skip(folder: Path) -> Path:
    if not folder.is_dir():
        pytest.skip(f"no folder {folder}: set PREFPATH_DATA to run this test")
    return folder


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of real votes, or a skip that says how to provide it."""
    return _folder_or_skip(_data_folder())


@pytest.fixture(scope="session")
def golden_dir() -> Path:
    """Folder of paths computed by the paper's published code."""
    return _folder_or_skip(_data_folder().parent / "golden")
