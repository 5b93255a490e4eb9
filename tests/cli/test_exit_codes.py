"""Every way in which a program can end has its exit code and its words: in this process."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator

import pytest

from prefpath.cli.demo import _outcome
from prefpath.cli.failures import run
from prefpath.errors import MachineError, VoteError, VoteWarning


@pytest.fixture(autouse=True)
def restored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`run` is for the whole process: what it sets is set back."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    monkeypatch.setenv("PYTHONWARNINGS", "")
    monkeypatch.delenv("PREFPATH_DEBUG", raising=False)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def end_of(program: Callable[[], object], capsys: pytest.CaptureFixture[str]) -> tuple[object, str]:
    with pytest.raises(SystemExit) as stop:
        run(program)
    return stop.value.code, " ".join(capsys.readouterr().err.split())


def raising(error: BaseException) -> Callable[[], object]:
    def program() -> None:
        raise error

    return program


def signalled(number: int) -> Callable[[], object]:
    return lambda: os.kill(os.getpid(), number)


def signalled_within(number: int) -> Callable[[], object]:
    """As libraries do it: whatever comes becomes an error of theirs."""

    def program() -> None:
        try:
            os.kill(os.getpid(), number)
        except BaseException as error:
            raise RuntimeError("could not be loaded") from error

    return program


ENDS = {
    "done": (lambda: None, 0, ""),
    "a code": (raising(SystemExit(3)), 3, ""),
    "no code": (raising(SystemExit(None)), 0, ""),
    "a text": (raising(SystemExit("no")), 1, ""),
    "typer's interrupt": (raising(SystemExit(130)), 130, "stopped"),
    "Ctrl-C": (signalled(signal.SIGINT), 130, "stopped"),
    "terminated": (signalled(signal.SIGTERM), 143, "stopped: asked to terminate"),
    "Ctrl-C in a library": (signalled_within(signal.SIGINT), 130, "stopped"),
    "terminated in a library": (
        signalled_within(signal.SIGTERM),
        143,
        "stopped: asked to terminate",
    ),
    "votes": (
        raising(VoteError("no votes", remedy="cast some")),
        2,
        "error: no votes remedy: cast some",
    ),
    "memory": (raising(MemoryError()), 71, "error: there is not enough memory"),
    "machine": (
        raising(MachineError("too hot", "wait", exit_code=74)),
        74,
        "error: too hot remedy: wait",
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_how_it_ended(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    program, code, words = ENDS[name]
    found, said = end_of(program, capsys)
    assert found == code
    assert said.startswith(words) and bool(said) == bool(words)
    if code in (130, 143):
        assert said == words


def test_an_error_of_ours_asks_to_be_reported(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = end_of(raising(KeyError("lost")), capsys)
    assert code == 70
    assert "KeyError: 'lost'" in said and "PREFPATH_DEBUG=1" in said


def test_it_is_shown_where_to_who_debugs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFPATH_DEBUG", "1")
    with pytest.raises(KeyError, match="lost"):
        run(raising(KeyError("lost")))


@pytest.mark.parametrize(("limit", "code"), [(1_499_000_000, 71), (1_500_000_000, 0), (None, 0)])
def test_a_limit_below_what_libraries_take(
    limit: int | None,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("prefpath.machine.address_limit", lambda: limit)
    found, said = end_of(lambda: None, capsys)
    assert found == code
    assert ("may take 1499 MB of addresses (ulimit -v)" in said) == (code == 71)


def test_notes_are_ours_only(capsys: pytest.CaptureFixture[str]) -> None:
    def program() -> None:
        warnings.simplefilter("always")
        warnings.warn("two items [x] never met", VoteWarning, stacklevel=1)
        warnings.warn("for developers", DeprecationWarning, stacklevel=1)

    with warnings.catch_warnings():
        # catch_warnings puts back the function that shows them: `run` sets it again within.
        code, said = end_of(program, capsys)
    assert code == 0
    assert said == "note: two items [x] never met"


def test_the_demo_says_who_was_missed_and_who_is_wrongly_named() -> None:
    verdict = {
        "planted_deviants": ["Ada", "Bo"], "found_deviants": ["Ada", "Cy"],
        "planted_clickers": ["Di"], "found_clickers": ["Di"],
    }  # fmt: skip
    assert _outcome(verdict) == [
        "A taste of their own: Ada, Bo. 1 of 2 planted found (missed Bo), 1 named wrongly.",
        "Lean to one side: Di. 1 of 1 planted found.",
    ]
