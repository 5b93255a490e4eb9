"""`prefpath compile`, and which commands have helpers."""

from __future__ import annotations

from contextlib import contextmanager

from typer.testing import CliRunner

import prefpath.ahead
from prefpath.cli import app

runner = CliRunner()


def test_compile_says_when_it_is_done(monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(
        prefpath.ahead, "compile_all", lambda tell, n_threads: asked.append(n_threads)
    )
    shown = runner.invoke(app, ["compile", "--threads", "3"])
    assert shown.exit_code == 0 and asked == [3]
    assert "compiled, in 0 seconds" in shown.output


def test_fit_has_helpers_before_it_reads_and_check_has_none(monkeypatch, tmp_path) -> None:
    asked = []

    @contextmanager
    def noted(n_threads=None):
        asked.append(n_threads)
        yield

    monkeypatch.setattr(prefpath.ahead, "compiling_ahead", noted)
    missing = str(tmp_path / "missing.csv")
    assert runner.invoke(app, ["check", missing]).exit_code != 0
    assert asked == []
    assert runner.invoke(app, ["fit", missing, "--threads", "2"]).exit_code != 0
    assert asked == [2]
