"""Helpers: processes that compile what a fit in this process will need.

One list of kernels, from which helpers take one after another. The fit itself compiles on its way:
what it comes to first is off the list, and what a helper is at, it waits for.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Condition, Thread

from prefpath.ahead.steps import DONE, FITS, PATHS, VERDICTS, group_of, in_order, is_compiled
from prefpath.compiling import compiles, told_before_compiling
from prefpath.errors import MachineError, SettingError
from prefpath.machine import FEW_ROWS, free_memory, idle_processors, processors
from prefpath.solver.executors import stop_if_cancelled

_SWITCH = "PREFPATH_COMPILE_AHEAD"  # how many, whoever else is busy; 0: the fit compiles alone
# A helper takes 300 MB; as much is left to the fit.
_MEMORY_A_HELPER = 600_000_000
# More would wait: one kernel alone takes a third of the time.
_MOST_HELPERS = 4
# The longest kernel takes a quarter of this; on a machine so busy nobody is waited for.
_PATIENCE, _LOOKS_EVERY = 60.0, 0.1

# Without -P, Python would look for modules in the folder it is started in.
_COMMAND = (sys.executable, "-P", "-m", "prefpath.ahead")

_Tell = Callable[[int, int], None]


_at_work: list[Crew] = []


def n_helpers(n_threads: int | None = None) -> int:
    """How many processes may compile beside this one: idle processors and memory decide.

    On a busy machine they would only slow down the fit they are to help.
    """
    if not sys.executable:
        return 0
    said = os.environ.get(_SWITCH, "")
    if said.isdigit():
        return min(_MOST_HELPERS, int(said), _room())
    asked = _MOST_HELPERS if n_threads is None else n_threads - 1
    return max(0, min(_MOST_HELPERS, asked, _room(), idle_processors()))


def _room() -> int:
    free = free_memory()
    return _MOST_HELPERS if free is None else free // _MEMORY_A_HELPER


def n_helping() -> int:
    """How many processes compile for this one just now."""
    return sum(crew.n_helping for crew in _at_work)


@contextmanager
def compiling_ahead(n_threads: int | None = None) -> Iterator[None]:
    """Within it, helpers compile what a fit and its verdicts need and is missing.

    They have ended when the block has. Results do not depend on it.

    Parameters
    ----------
    n_threads : int, optional
        The processors to use, this process's included; by default all that are idle.
    """
    crew = Crew(lambda: n_helpers(n_threads))
    _at_work.append(crew)
    try:
        with told_before_compiling(crew.before):
            yield
    finally:
        _at_work.remove(crew)
        crew.close()


def expect_verdicts(n_votes: int) -> None:
    """Have helpers compile what verdicts on so many votes need: few are tested in NumPy."""
    for crew in _at_work:
        if n_votes > FEW_ROWS:
            crew.ask(VERDICTS)


def compile_all(tell: _Tell | None = None, *, n_threads: int | None = None) -> None:
    """Compile what fits, verdicts and reports need, and keep it on disk.

    For images of containers, and wherever the first fit shall not wait.

    Parameters
    ----------
    tell : callable, optional
        Called as `tell(done, of)` whenever something is compiled.
    n_threads : int, optional
        Processes that compile; by default one for each processor, at most five.
    """
    if not compiles():
        raise SettingError("NUMBA_DISABLE_JIT is set: nothing is compiled", remedy="unset it")
    kernels = (*PATHS, *VERDICTS)
    most = max(1, min(_MOST_HELPERS + 1, n_threads or processors(), _room()))
    of = len(kernels) + len(FITS)
    _compile(kernels, most, lambda left: tell and tell(len(kernels) - left, of))
    _compile(FITS, most, lambda left: tell and tell(of - left, of))  # finds kernels compiled


def _compile(steps: Sequence[str], most: int, tell: Callable[[int], object]) -> None:
    """Have all of these steps done by helpers alone."""
    crew = Crew(lambda: most)
    try:
        crew.add(steps)
        failed = crew.finish(tell)
    finally:
        crew.close()
    if failed:
        first = crew.failed or "no process could be started"
        raise MachineError(
            f"{failed} of {len(steps)} could not be compiled: {first}",
            f"see what is wrong where this process compiles alone: {_SWITCH}=0 prefpath demo",
        )


class Crew:
    """Some helpers, and what is to be compiled.

    `most` says how many there may be; it is asked when there is something to do.
    """

    def __init__(self, most: Callable[[], int]) -> None:
        self._changed = Condition()
        self._ask_most, self._most = most, -1
        self._asked: set[str] = set()
        self._waiting: list[str] = []
        self._doing: set[str] = set()
        self._threads: list[Thread] = []  # one for each helper: it speaks with it, and ends it
        self._processes: list[subprocess.Popen[str]] = []
        self._n_started, self._n_ended = 0, 0
        self._n_failed, self.failed = 0, ""
        self._closed = False

    def ask(self, group: Sequence[str]) -> None:
        """Have kernels that belong together compiled, if any is missing; asked once."""
        with self._changed:
            known = group[0] in self._asked
            self._asked.add(group[0])
        if not known and not is_compiled(group):
            self.add(group)

    def add(self, names: Sequence[str]) -> None:
        """Have these compiled; helpers are started when there is something to do."""
        with self._changed:
            if self._most < 0:
                self._most = self._ask_most()
            self._waiting = in_order([*self._waiting, *names])
            for _ in range(min(self._most, len(self._waiting)) - self._n_started):
                self._n_started += 1
                thread = Thread(target=self._help, daemon=True)
                self._threads.append(thread)
                thread.start()
            self._changed.notify_all()

    @property
    def n_helping(self) -> int:
        """How many there are just now."""
        return self._n_started - self._n_ended

    def before(self, name: str) -> None:
        """This process comes to a kernel: take it off the list, or wait for who is at it."""
        group = group_of(name)
        if not group:
            return
        self.ask(group)
        deadline = time.monotonic() + _PATIENCE
        with self._changed:
            if name in self._waiting:
                self._waiting.remove(name)
            while name in self._doing and time.monotonic() < deadline:
                self._changed.wait(_LOOKS_EVERY)
                stop_if_cancelled()

    def finish(self, tell: Callable[[int], object]) -> int:
        """Wait until all is compiled, or every helper has gone; how many steps failed.

        `tell` is called with how many are left.
        """
        with self._changed:
            while (left := self._n_left) and self.n_helping:
                tell(left)
                self._changed.wait(_LOOKS_EVERY)
            tell(self._n_left)
            return self._n_failed + self._n_left

    @property
    def _n_left(self) -> int:
        return len(self._waiting) + len(self._doing)

    def close(self) -> None:
        """End all helpers, whatever they do."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._doing.clear()
            self._changed.notify_all()
            for process in self._processes:
                process.kill()
        for thread in self._threads:
            thread.join()

    def _help(self) -> None:
        """Give a helper one name after another, until it is not needed or does not answer."""
        with suppress(OSError):  # none can be started
            process = self._start()
            while process is not None and (name := self._next()) is not None:
                answer = _answer(process, name)
                self._done(name, failed=answer.strip() != DONE)
                if not answer:
                    break
            if process is not None:
                _end(process)
        with self._changed:
            self._n_ended += 1
            self._changed.notify_all()

    def _start(self) -> subprocess.Popen[str] | None:
        with self._changed:
            if self._closed:
                return None
            process = subprocess.Popen(  # noqa: S603
                _COMMAND,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            self._processes.append(process)
            return process

    def _next(self) -> str | None:
        """What to compile next; None when there will be nothing."""
        with self._changed:
            while not self._waiting and not self._closed:
                self._changed.wait()
            if self._closed:
                return None
            name = self._waiting.pop(0)
            self._doing.add(name)
            return name

    def _done(self, name: str, *, failed: bool) -> None:
        with self._changed:
            self._doing.discard(name)
            if failed:
                self._n_failed, self.failed = self._n_failed + 1, self.failed or name
            self._changed.notify_all()


def _answer(process: subprocess.Popen[str], name: str) -> str:
    """What a helper says when it is done; nothing if it has gone."""
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(f"{name}\n")
        process.stdin.flush()
        return process.stdout.readline()
    except OSError:
        return ""


def _end(process: subprocess.Popen[str]) -> None:
    """Let nothing of a helper remain: no process, no open pipe."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # what it did not read
            if pipe is not None:
                pipe.close()
