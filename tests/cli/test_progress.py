"""The progress bar is drawn on terminals only, on standard error."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from prefpath.cli import progress


def test_no_bar_off_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "error_console", Console(file=io.StringIO()))
    with progress.progress_bar() as report:
        assert report is None


def test_a_bar_for_each_step_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=80)
    monkeypatch.setattr(progress, "error_console", terminal)
    with progress.progress_bar() as report:
        assert report is not None
        report("collecting labels", 0.5)
        report("collecting labels", 1.0)
        report("reading votes", 0.25)
        report("reading votes", 0.5, ", 7 of 9")
    assert "collecting labels" in screen.getvalue()
    last = screen.getvalue().rpartition("collecting labels")[2]
    assert last.count("reading votes") == 1  # a note changes the bar, and is no bar of its own
    assert "reading votes, 7 of 9" in last
