"""Where the real data are, and hypothesis profiles."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

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
