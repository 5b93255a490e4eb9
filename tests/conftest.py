"""Where the real data are, hypothesis profiles, and a compiler that coverage does not watch."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from numba import config
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

# Lines they pass by have tests of their own, and to count them takes half as long again: whole
# programs, paths beside those of fine LBI or begun again and again, statistics over many crowds.
_UNCOUNTED = (
    "docs/test_guides.py",
    "examples/",
    "experiments/",
    "test_golden.py",
    "compare/test_compare.py::test_nothing_of_what_is_held_out_leaks",
    "diagnose/test_discovery.py",
    "diagnose/test_verdicts.py::test_followers_are_a_tenth",
    "findings/test_one_story.py",
    "inference/test_everybody_deviates.py::test_nine_judges",
    "inference/test_own_attention.py",
    "inference/test_sandwich_by_hand.py::test_scores_flattened",
    "inference/test_sandwich_by_hand.py::test_thin_crowds",
    "inference/test_shared_lean.py",
    "inference/test_shared_taste.py",
    "plain/test_rank.py::test_coverage",
    "selection/test_resume.py",
    "selection/test_sampling.py",
    "solver/test_attention.py::test_flow_is",
    "solver/test_attention.py::test_large_mode",
    "solver/test_flow.py::test_flow_",
    "solver/test_flow.py::test_large_mode",
    "solver/test_state.py::test_a_path_stopped",
    "test_planted.py",
    "trust/test_trust.py::test_circles_of_pure_chance",
    "trust/test_trust.py::test_few_circles",
    "weak/test_fit.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = f"{Path(__file__).parent.as_posix()}/"
    for item in items:
        place = f"{item.path.as_posix().removeprefix(here)}::{item.name}"
        # Forty examples of one property; without the compiler they are what shows kernels' lines.
        examples = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        if place.startswith(_UNCOUNTED) or (examples and not config.DISABLE_JIT):
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
