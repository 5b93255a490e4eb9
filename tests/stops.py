"""Stopping a fit as a kill -9 would, and comparing what comes out in the end, bit by bit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path as FilePath
from typing import TypeVar
from unittest.mock import patch

import numpy as np

from prefpath.checkpoint import Checkpoint
from prefpath.path import Path

Result = TypeVar("Result")


class Killed(BaseException):
    """What is on the disk is what a kill -9 at this moment would leave."""


def stop_after(n_saves: int) -> Callable[[int], None]:
    def after_save(n_saved: int) -> None:
        if n_saved == n_saves:
            raise Killed

    return after_save


def run_with_stops(
    run: Callable[[Checkpoint], Result], folder: FilePath, *, saves: int
) -> tuple[Result, int]:
    """Run again and again, each time for so many saves, until there is a result; how many stops."""
    with patch("prefpath.writing.os.fsync"):  # no power is cut here, and it takes most of the time
        for n_stops in range(10_000):
            checkpoint = Checkpoint(folder, every=0.0, after_save=stop_after(saves))
            try:
                return run(checkpoint), n_stops
            except Killed:
                continue
            finally:
                checkpoint.close()
    raise AssertionError("it never ends")


def assert_same_path(one: Path, other: Path) -> None:
    for name in ("times", "common", "entered", "entered_bias", "entered_attention"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.n_evaluations == other.n_evaluations
    for a, b in zip(one.knots, other.knots, strict=True):
        for part, its in zip(vars(a).values(), vars(b).values(), strict=True):
            np.testing.assert_array_equal(part, its)
