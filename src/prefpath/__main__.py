"""The program `prefpath`, also as `python -m prefpath`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; Ctrl-C is obeyed without a traceback from the first moment."""
    try:
        from prefpath import cli  # half a second in which people press Ctrl-C, too
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
        sys.exit(130)
    cli.main()


if __name__ == "__main__":
    main()
