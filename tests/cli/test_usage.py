"""A command line that no command knows gets an error in the words of all others."""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from prefpath.cli import main


@pytest.fixture(autouse=True)
def restored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`main` is for the whole process: what it sets is set back."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setenv("PYTHONWARNINGS", "")
    monkeypatch.delenv("PREFPATH_DEBUG", raising=False)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def said(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    monkeypatch.setattr(sys, "argv", ["prefpath", *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    shown = capsys.readouterr()
    # Typer names the program as it was started, here by pytest.
    return " ".join((shown.out + shown.err).split()).replace("python -m pytest.", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["fit", "votes.csv", "--annnotator", "x"],
            "error: there is no option --annnotator remedy: check the spelling: is "
            "'--annotator' meant? (prefpath fit --help lists what can be given)",
        ),
        (["--vrsion"], "is '--version' meant? (prefpath --help lists what can be given)"),
        (["rank", "votes.csv", "--zzz"], "remedy: check the spelling (prefpath rank --help lists"),
        (["check"], "error: missing argument"),
        (["fit", "votes.csv", "--left"], "requires an argument remedy: prefpath"),
        (["ftt"], "error: no such command 'ftt'"),
        (["demo", "--seed", "-1"], "error: --seed is -1 expected: a whole number between 0 and"),
        (["simulate", "x.csv", "--seed", str(2**64)], f"error: --seed is {2**64} expected"),
        (["fit", "votes.csv", "--threads", "0"], "error: --threads is 0 expected"),
        (["fit", "votes.csv", "--kappa", "inf"], "error: --kappa is inf expected"),
        (["fit", "votes.csv", "--t", "inf"], "error: --t is inf expected"),
        (["fit", "votes.csv", "--about", "all"], "--about is 'all' expected: one of these, ann"),
        ([], "Usage: prefpath [OPTIONS] COMMAND"),
    ],
)
def test_what_is_said_of_a_command_line(
    arguments: list[str],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = said(arguments, monkeypatch, capsys)
    assert words in told
    assert told.count("Usage") == (not arguments)


@pytest.mark.parametrize("option", ["features", "names", "annotators"])
def test_a_table_that_is_not_there_is_refused_before_votes_are_read(
    option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = said(["fit", "votes.csv", f"--{option}", "missing.csv"], monkeypatch, capsys)
    assert told.startswith(f"error: --{option}: there is no file missing.csv expected: a")
    assert f"remedy: correct the path; it is looked for in {Path.cwd()}" in told
