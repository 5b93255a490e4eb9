"""The program `prefpath`, also as `python -m prefpath`."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn


def main() -> None:
    """Run the command line; Ctrl-C is obeyed without a traceback from the first moment."""
    # Half a second of loading, in which people press Ctrl-C, too: nothing is yet to be tidied up,
    # and an exception might be swallowed by whatever is just being loaded. A shell that starts
    # programs in the background has them ignore Ctrl-C, and so it stays.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop)
    from prefpath import cli

    try:
        cli.main()
    except SystemExit as end:
        _exit(end.code)


def _exit(code: object) -> NoReturn:
    """End at once: taking every module apart would keep the prompt for a second or two."""
    atexit._run_exitfuncs()
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def _stop(*_: object) -> NoReturn:
    with suppress(OSError):
        os.write(2, b"stopped\n")
    os._exit(130)


if __name__ == "__main__":
    main()
