"""Helpers: who compiles what, who waits for whom, and that none is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Timer

import pytest

from prefpath import machine
from prefpath.ahead import compile_all, compiling_ahead, crew, expect_verdicts, n_helping
from prefpath.ahead.crew import Crew, n_helpers
from prefpath.ahead.steps import PATHS, VERDICTS
from prefpath.errors import MachineError, SettingError
from prefpath.machine import idle_processors

SECONDS = 20.0


def helpers_that(monkeypatch: pytest.MonkeyPatch, do: str) -> None:
    """Helpers that only pretend to compile: `do` is run for each name."""
    code = f"import sys, time\nfor line in sys.stdin:\n    {do}\n    print('done', flush=True)"
    monkeypatch.setattr(crew, "_COMMAND", (sys.executable, "-S", "-c", code))


def wait_until(holds, seconds: float = SECONDS) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


@pytest.fixture
def made():
    crews: list[Crew] = []

    def make(most: int) -> Crew:
        crews.append(Crew(lambda: most))
        return crews[-1]

    yield make
    for one in crews:
        one.close()
        assert all(process.returncode is not None for process in one._processes)


def at_work(monkeypatch: pytest.MonkeyPatch, one: Crew, names, do: str) -> None:
    """A crew of one, whose helper is at the first of these names."""
    helpers_that(monkeypatch, do)
    monkeypatch.setattr(crew, "is_compiled", lambda group: True)
    one.add(names)
    wait_until(lambda: names[0] in one._doing)


def test_all_is_compiled_and_told(monkeypatch, made) -> None:
    helpers_that(monkeypatch, "pass")
    told: list[int] = []
    one = made(2)
    one.add(PATHS)
    assert one.finish(told.append) == 0
    assert told[0] <= len(PATHS) and told[-1] == 0 and told == sorted(told, reverse=True)


def test_what_the_fit_comes_to_is_off_the_list(monkeypatch, made) -> None:
    one = made(1)
    at_work(monkeypatch, one, VERDICTS, "time.sleep(60)")
    one.before(VERDICTS[1])
    assert VERDICTS[1] not in one._waiting and VERDICTS[2] in one._waiting


def test_the_fit_waits_for_who_is_at_it(monkeypatch, made) -> None:
    one = made(1)
    at_work(monkeypatch, one, VERDICTS[:1], "time.sleep(0.5)")
    one.before(VERDICTS[0])
    assert not one._doing


def test_nobody_waits_for_a_helper_that_died(monkeypatch, made) -> None:
    one = made(1)
    at_work(monkeypatch, one, VERDICTS, "time.sleep(0.2); sys.exit(1)")
    one.before(VERDICTS[0])
    one.before(VERDICTS[1])
    assert one.finish(lambda left: None) == len(VERDICTS) - 1  # the fit has taken one


def test_ctrl_c_does_not_wait_for_a_helper(monkeypatch, made) -> None:
    one = made(1)
    at_work(monkeypatch, one, VERDICTS[:1], "time.sleep(60)")
    Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        one.before(VERDICTS[0])
    assert time.monotonic() - began < 5.0


def test_a_kernel_that_is_missing_has_its_group_compiled(monkeypatch) -> None:
    helpers_that(monkeypatch, "time.sleep(3)")
    monkeypatch.setattr(crew, "n_helpers", lambda n_threads=None: 1)
    monkeypatch.setattr(crew, "is_compiled", lambda group: group is VERDICTS)
    crews: list[Crew] = []
    monkeypatch.setattr(crew, "Crew", lambda most: crews.append(Crew(most)) or crews[0])
    with compiling_ahead():
        (one,) = crews
        assert not one._waiting and not one._processes
        one.before("prefpath.votes.graph.not_among_them")
        one.before(PATHS[0])
        assert n_helping() == 1
        wait_until(lambda: len(one._processes) == 1)
        assert PATHS[-1] in one._waiting and PATHS[0] not in {*one._waiting, *one._doing}
    assert one._processes[0].returncode is not None and n_helping() == 0


def test_verdicts_on_many_votes_are_compiled_ahead(monkeypatch) -> None:
    helpers_that(monkeypatch, "time.sleep(60)")
    monkeypatch.setattr(crew, "n_helpers", lambda n_threads=None: 1)
    monkeypatch.setattr(crew, "is_compiled", lambda group: False)
    with compiling_ahead():
        expect_verdicts(machine.FEW_ROWS)
        assert n_helping() == 0
        expect_verdicts(machine.FEW_ROWS + 1)
        assert n_helping() == 1


def test_how_many_depends_on_the_machine(monkeypatch) -> None:
    monkeypatch.delenv("PREFPATH_COMPILE_AHEAD", raising=False)
    monkeypatch.setattr(crew, "free_memory", lambda: 64_000_000_000)
    monkeypatch.setattr(crew, "idle_processors", lambda: 2)
    assert (n_helpers(), n_helpers(2), n_helpers(1)) == (2, 1, 0)
    monkeypatch.setattr(crew, "idle_processors", lambda: 63)
    assert n_helpers() == 4
    monkeypatch.setattr(crew, "free_memory", lambda: 700_000_000)
    assert n_helpers() == 1
    monkeypatch.setattr(crew, "idle_processors", lambda: 0)
    assert n_helpers() == 0
    monkeypatch.setattr(crew, "idle_processors", lambda: 63)
    for said in (0, 1):
        monkeypatch.setenv("PREFPATH_COMPILE_AHEAD", str(said))
        assert n_helpers() == said


def test_compiling_everything_tells_how_far_it_is(monkeypatch) -> None:
    helpers_that(monkeypatch, "pass")
    told: list[tuple[int, int]] = []
    compile_all(lambda done, of: told.append((done, of)))
    assert told[-1] == (len(PATHS) + len(VERDICTS) + 3,) * 2


def test_compiling_everything_says_what_failed(monkeypatch) -> None:
    helpers_that(monkeypatch, "print('failed', flush=True); continue")
    n = len(PATHS) + len(VERDICTS)
    with pytest.raises(MachineError, match=rf"{n} of {n} could not be compiled: prefpath\."):
        compile_all()
    monkeypatch.setattr(crew, "compiles", lambda: False)
    with pytest.raises(SettingError, match="NUMBA_DISABLE_JIT"):
        compile_all()


PARENT = """
import os, signal, sys, time
from prefpath.ahead.crew import Crew
crew = Crew(lambda: 1)
crew.add(["prefpath.solver.relaxation.note_left_of_forces"])
assert crew.finish(lambda left: None) == 0
print(crew._processes[0].pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="looks for processes in /proc")
def test_a_helper_compiles_and_ends_with_who_started_it() -> None:
    done = subprocess.run([sys.executable, "-c", PARENT], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    helper = Path(f"/proc/{int(done.stdout)}/stat")

    def has_ended() -> bool:
        try:
            return helper.read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True

    wait_until(has_ended)


def test_a_processor_is_idle_if_nobody_else_keeps_it_busy(monkeypatch) -> None:
    files = {"/proc/loadavg": "0.5 0.5 0.5 3/100 999", "/sys/fs/cgroup/cpu.max": "max 100000"}
    monkeypatch.setattr(machine, "_text", lambda file: files.get(file, ""))
    monkeypatch.setattr(machine.os, "cpu_count", lambda: 8)
    monkeypatch.setattr(machine.os, "sched_getaffinity", lambda _: range(8), raising=False)
    assert idle_processors() == 5  # one is ours, two are others'
    files["/sys/fs/cgroup/cpu.max"] = "200000 100000"
    assert idle_processors() == 1
    files["/proc/loadavg"] = "9.5 0.5 0.5 12/100 999"
    assert idle_processors() == 0
    files.clear()
    assert idle_processors() == 7
