"""A helper: compiles the kernels whose names it reads, and says when each is done.

It ends when nobody can name one any more: its standard input closes when the process that started
it ends, in whatever way.
"""

from __future__ import annotations

import os
import sys
from queue import SimpleQueue
from threading import Thread


def main() -> None:
    """Compile until the input ends."""
    names: SimpleQueue[str] = SimpleQueue()
    Thread(target=_listen, args=(names,), daemon=True).start()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whatever else is printed is no answer
    from prefpath.ahead.fits import compile_step
    from prefpath.ahead.steps import DONE

    while True:
        name = names.get()
        try:
            compile_step(name)
            answer = DONE
        except Exception:  # a fit will meet it, too, and say what is wrong
            answer = "failed"
        print(answer, file=answers, flush=True)


def _listen(names: SimpleQueue[str]) -> None:
    for line in iter(sys.stdin.readline, ""):
        names.put(line.strip())
    os._exit(0)


if __name__ == "__main__":
    main()
