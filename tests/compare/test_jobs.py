"""Jobs in processes: results, and an end without leftovers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from prefpath.compare.jobs import run_jobs

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

SCRIPT = """
import os, signal, time
from prefpath.compare.jobs import run_jobs

def work(seconds):
    time.sleep(seconds)
    return os.getpid()

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the tests' shell may ignore it
    for _, pid in run_jobs(work, [0.0, 0.01, 3600.0, 3600.0, 3600.0], 2):
        print(pid, flush=True)
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_job_has_its_result(n_jobs: int) -> None:
    assert dict(run_jobs(abs, [-3, 2, -1], n_jobs)) == {-3: 3, 2: 2, -1: 1}


def test_an_error_in_a_job_is_the_callers() -> None:
    with pytest.raises(ValueError, match="math domain error"):
        import math

        list(run_jobs(math.sqrt, [1.0, -1.0, 4.0], 2))


def test_thread_variables_and_signals_are_as_before() -> None:
    before = os.environ.get("OMP_NUM_THREADS"), signal.getsignal(signal.SIGTERM)
    for _ in run_jobs(abs, [1, 2], 2):
        break
    assert (os.environ.get("OMP_NUM_THREADS"), signal.getsignal(signal.SIGTERM)) == before


@pytest.mark.parametrize(
    ("number", "to_all", "code"),
    [(signal.SIGINT, True, -signal.SIGINT), (signal.SIGTERM, False, 128 + signal.SIGTERM)],
    ids=["Ctrl-C", "terminated"],
)
def test_stopped_jobs_leave_nothing_behind(
    tmp_path: Path, number: signal.Signals, to_all: bool, code: int
) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    run = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert run.stdout is not None
    workers = {int(run.stdout.readline()) for _ in range(2)}
    # A terminal sends Ctrl-C to the whole process group, `kill` to one process.
    (os.killpg if to_all else os.kill)(run.pid, number)
    _, said = run.communicate(timeout=300)  # not the hour that work under way would take
    assert run.returncode == code
    assert "leaked" not in said
    assert said.count("Traceback") == (1 if number == signal.SIGINT else 0)  # workers are silent
    assert not any(_is_running(pid) for pid in workers)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
