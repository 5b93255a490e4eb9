"""How the program ends: errors in plain words, an exit code for each kind, nothing lost.

| code | meaning |
|---|---|
| 0 | done |
| 1 | `check` found that the votes cannot carry a ranking |
| 2 | the votes or the settings cannot be used; the message says why and what to do |
| 70 | an error of this program; please report it |
| 71 | the machine lacks memory |
| 74 | the disk is full, or output cannot be written |
| 130, 143 | stopped by Ctrl-C, by SIGTERM |
"""

from __future__ import annotations

import io
import os
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any, NoReturn, TextIO

from prefpath.cli.app import error_console
from prefpath.cli.usage import is_request_for_help, plain_usage
from prefpath.errors import MachineError, PrefpathError, VoteWarning
from prefpath.machine import lacking

_INTERRUPTED, _TERMINATED = 130, 143
_DEBUG = "PREFPATH_DEBUG"
# NumPy, SciPy, Numba and DuckDB alone map 0.9 GB, and where LLVM finds no room to compile, it ends
# the process without a word we could catch.
_LEAST_ADDRESSES = 1_500_000_000


class _Interrupted(KeyboardInterrupt):
    """Ctrl-C. If Python's own exception passes through a text that is executed (a dataclass being
    made), Python ends the process by the signal, whatever exit code is asked for; not for this."""


class _Terminated(BaseException):
    """SIGTERM, as an exception: temporary files are removed on the way out."""


def run(program: Callable[[], object]) -> NoReturn:
    """Run the program, and exit with the code that says how it ended."""
    _prepare()
    code = _ended(program)
    _on_interrupt(_leave)
    try:
        sys.stdout.flush()
    except OSError as error:
        code = _failed(error)
        _discard(sys.stdout)
    sys.exit(code)


def _prepare() -> None:
    """No warning shows a line of our source, no character of a label stops the output."""
    _stand_in_for_closed()
    sys.stdout, sys.stderr = (_written_whole(stream) for stream in (sys.stdout, sys.stderr))
    if not os.environ.get(_DEBUG):
        warnings.showwarning = say_warning
        os.environ.setdefault("PYTHONWARNINGS", "ignore")  # of the processes we start
    signal.signal(signal.SIGTERM, _terminate)
    _on_interrupt(_interrupt)


def _stand_in_for_closed() -> None:
    """What goes to a closed stream (`>&-`) goes nowhere, not into the next file that is opened."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115


def _on_interrupt(handler: Callable[..., NoReturn]) -> None:
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as in the background of a script
        signal.signal(signal.SIGINT, handler)


def _interrupt(*_: object) -> NoReturn:
    sys.unraisablehook = _say_nothing  # half-made objects of libraries complain when they go
    raise _Interrupted


def _say_nothing(_: object) -> None: ...


def _leave(*_: object) -> NoReturn:
    """Pressed again, or when all is done: what threads still do is not waited for."""
    os._exit(_INTERRUPTED)


def _written_whole(stream: TextIO) -> TextIO:
    """A stream that says when not all could be written.

    Unbuffered (PYTHONUNBUFFERED, usual in containers), Python takes half of a text on a full
    disk for the whole.
    """
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.reconfigure(errors="backslashreplace")
    raw: object = stream.buffer
    own = stream in (sys.__stdout__, sys.__stderr__)  # another's must not be taken apart
    if not own or not isinstance(raw, io.RawIOBase):
        return stream
    encoding = stream.encoding
    stream.detach()
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding, errors="backslashreplace", line_buffering=True
    )


def _terminate(*_: object) -> NoReturn:
    sys.unraisablehook = _say_nothing
    raise _Terminated


def say_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """A warning in plain words; those of libraries are for who develops, and are left out."""
    if issubclass(category, VoteWarning):
        error_console.print(f"note: {message}", style="yellow", markup=False, highlight=False)


def _ended(program: Callable[[], object]) -> int:
    try:
        _require_addresses()
        asked = program()
        return _as_asked(asked if isinstance(asked, int) else 0)
    except SystemExit as stop:
        return _as_asked(stop.code if isinstance(stop.code, int) else int(stop.code is not None))
    except KeyboardInterrupt:
        return _interrupted()
    except _Terminated:
        return _terminated()
    except Exception as error:
        if _is_behind(KeyboardInterrupt, error):
            return _interrupted()
        return _terminated() if _is_behind(_Terminated, error) else _failed(error)


def _as_asked(code: int) -> int:
    return _interrupted() if code == _INTERRUPTED else code  # Typer ends Ctrl-C so, silently


def _is_behind(signalled: type[BaseException], error: BaseException | None) -> bool:
    """Whether a signal made this error: Python's own classes and libraries written in C turn one
    that comes while they are loaded into an error of theirs."""
    while error is not None:
        if isinstance(error, signalled):
            return True
        error = error.__cause__ or error.__context__
    return False


def _interrupted() -> int:
    _say("stopped")
    return _INTERRUPTED


def _terminated() -> int:
    _say("stopped: asked to terminate")
    return _TERMINATED


def _require_addresses() -> None:
    """Say before the start that a limit is too low even for the libraries."""
    from prefpath.machine import address_limit

    limit = address_limit()
    if limit is not None and limit < _LEAST_ADDRESSES:
        raise MachineError(
            f"this process may take {limit / 1e6:.0f} MB of addresses (ulimit -v), and its "
            f"libraries alone take {_LEAST_ADDRESSES / 1e6:.0f} MB",
            "raise the limit, for example: ulimit -v 2000000",
        )


def _failed(error: Exception) -> int:
    if is_request_for_help(error):
        error_console.print(str(error), markup=False, highlight=False)
        return 2
    error = plain_usage(error) or error
    lacks = error if isinstance(error, MachineError) else lacking(error)
    if lacks is not None:
        _say(f"error: {lacks}")
        return lacks.exit_code
    if isinstance(error, PrefpathError):
        _say(f"error: {error}")
        return 2
    if isinstance(error, BrokenPipeError):  # who reads has read enough: `| head`
        _discard(sys.stdout)
        return 0
    if os.environ.get(_DEBUG):
        raise error
    _say(
        f"error: {type(error).__name__}: {error}\n  this should not happen; run again with "
        f"{_DEBUG}=1 to see where, and report it"
    )
    return 70


def _say(words: str) -> None:
    try:
        error_console.print(words, style="red", markup=False, highlight=False)
    except OSError:  # nobody can be told: the exit code says it
        _discard(sys.stderr)


def _discard(stream: TextIO) -> None:
    """What is still to be written goes nowhere, so that the end of the process is quiet."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
