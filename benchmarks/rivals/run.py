"""One run of one rival in a process of its own, with limits; failures in the rival's own words."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, NamedTuple

from environments import program_of

ADAPTERS = Path(__file__).parent / "adapters"
SCRIPTS = {
    "prefpath": "with_prefpath.py",
    "choix": "with_choix.py",
    "evalica": "with_evalica.py",
    "crowd-kit": "with_crowdkit.py",
    "arena-rank": "with_arena_rank.py",
    "scikit-learn": "with_sklearn.py",
    "skglm": "with_skglm.py",
    "adelie": "with_adelie.py",
    "glmnet": "with_glmnet.R",
    "lme4": "with_lme4.R",
    "BradleyTerry2": "with_bradleyterry2.R",
}
_ONE_THREAD = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
_PLACE = re.compile(r"(/[\w.+-]+){2,}/")


class Limits(NamedTuple):
    """Where a run is ended: CPU seconds (ten times that on the clock), GiB in memory."""

    seconds: float
    gigabytes: float


def run(rival: str, task: str, folder: Path, limits: Limits) -> dict[str, Any]:
    """What a run cost and found, or how it failed."""
    program = program_of(rival)
    if program is None:
        return {"failure": "not installed: python benchmarks/rivals/environments.py says why"}
    command = [program, str(ADAPTERS / SCRIPTS[rival]), task, str(folder)]
    ended, out, err = _watched(command, limits)
    if ended is None:
        lines = [line for line in out.splitlines() if line.startswith("{")]
        if lines:
            found: dict[str, Any] = json.loads(lines[-1])
            return found
    return {"failure": ended or own_words(err)}


def own_words(err: str) -> str:
    """The last line of an error that says something, without places on this machine."""
    lines = [line.strip() for line in err.splitlines() if line.strip()]
    said = [line for line in lines if re.match(r"(\w+\.)*\w*(Error|Exception|Warning)\b", line)]
    halted = [line for line in lines if "Execution halted" not in line]
    word = (said or halted or ["ended without a word"])[-1]
    return _PLACE.sub("", word)[:200]


def _watched(command: list[str], limits: Limits) -> tuple[str | None, str, str]:
    """Run a command; why it was ended by us (or None), and what it wrote."""
    environment = {**os.environ, **dict.fromkeys(_ONE_THREAD, "1"), "PYTHONWARNINGS": "ignore"}
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    ) as process:
        ended, start = None, time.monotonic()
        while ended is None:
            try:
                out, err = process.communicate(timeout=0.1)
                return None, out, err
            except subprocess.TimeoutExpired:
                ended = _beyond(process.pid, time.monotonic() - start, limits)
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return ended, out, err


def _beyond(pid: int, clock: float, limits: Limits) -> str | None:
    if _processor_seconds(pid) > limits.seconds or clock > 10 * limits.seconds:
        return f"ended by us after {limits.seconds:.0f} s"
    if _gigabytes(pid) > limits.gigabytes:
        return f"ended by us beyond {limits.gigabytes:g} GiB of memory"
    return None


def _processor_seconds(pid: int) -> float:
    """Of all its threads; the clock means little on a busy machine."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _gigabytes(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    sizes = [int(line.split()[1]) / 2**20 for line in lines if line.startswith("VmRSS")]
    return sizes[0] if sizes else 0.0
