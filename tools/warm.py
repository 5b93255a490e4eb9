"""A process in which everything is loaded and compiled: it forks for every command it is given.

    python tools/warm.py       # reads one JSON object a line, answers one a line

Starting Python and its libraries takes longer than fitting a small crowd; so hundreds of fits,
kills and resumes become affordable. Keys: `arguments` of prefpath; `output`, a file for standard
output; `every`, seconds between saves of a checkpoint; `kill_after`, seconds to kill -9;
`largest_file`, in bytes. The answer has the exit `code` (-9: killed) and the `seconds` it took.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from prefpath import PreferenceModel, simulate_crowd
from prefpath.__main__ import main
from prefpath.checkpoint import Checkpoint
from prefpath.cli import keeping
from prefpath.findings import find


def warm_up() -> None:
    votes = simulate_crowd(600, 8, 5, deviants=2, clickers=1, seed=0).votes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for how in ({"cv": 2}, {"cv": 2, "solver": "lbi", "t_ratio": 3.0}):
            find(PreferenceModel(**how, n_threads=1).fit(votes))  # type: ignore[arg-type]


def child(asked: dict[str, Any]) -> None:
    """Become the program `prefpath`."""
    Checkpoint.__init__.__kwdefaults__["every"] = asked.get("every", 20.0)
    keeping._SECONDS_BEFORE_KEEPING = 0.0
    for name, number in (("output", 1), ("errors", 2)):
        file = os.open(asked[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, number)
    if "largest_file" in asked:
        resource.setrlimit(resource.RLIMIT_FSIZE, (asked["largest_file"], asked["largest_file"]))
    sys.argv = ["prefpath", *asked["arguments"]]
    main()


def run(asked: dict[str, Any]) -> dict[str, float]:
    """One command from its start to its end."""
    began = time.monotonic()
    number = os.fork()
    if number == 0:
        try:
            child(asked)
        except SystemExit as stop:
            os._exit(stop.code if isinstance(stop.code, int) else int(stop.code is not None))
        except BaseException:
            os._exit(70)
        os._exit(0)
    if "kill_after" in asked:
        time.sleep(asked["kill_after"])
        os.kill(number, signal.SIGKILL)
    _, status = os.waitpid(number, 0)
    return {"code": os.waitstatus_to_exitcode(status), "seconds": time.monotonic() - began}


if __name__ == "__main__":
    warm_up()
    for line in sys.stdin:
        asked = json.loads(line)
        folder = Path(asked["output"]).parent
        answer = run({"errors": str(folder / "errors"), **asked})
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
