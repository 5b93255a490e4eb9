"""Lines and branches the tests reach: per folder and over all, and whether that is enough.

    coverage json && python tools/covered.py coverage.json

Lines and branches are two figures, each with its own least share: `coverage report` knows only
their mix, in which many lines hide missed branches.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = "prefpath"


class Reached(NamedTuple):
    """How many lines and branches there are, and how many the tests reached."""

    lines: int = 0
    lines_reached: int = 0
    branches: int = 0
    branches_reached: int = 0

    def and_also(self, other: Reached) -> Reached:
        return Reached(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    @property
    def line_share(self) -> float:
        return self.lines_reached / max(self.lines, 1)

    @property
    def branch_share(self) -> float:
        return self.branches_reached / self.branches if self.branches else 1.0


def per_folder(report: dict[str, Any]) -> dict[str, Reached]:
    """What was reached in each folder of the package; files at its top are one folder."""
    folders: dict[str, Reached] = defaultdict(Reached)
    for file, found in report["files"].items():
        parts = Path(file).parts
        below = parts[parts.index(PACKAGE) + 1 :]
        folder = below[0] if len(below) > 1 else "(top)"
        folders[folder] = folders[folder].and_also(_reached(found["summary"]))
    return dict(folders)


def _reached(summary: dict[str, Any]) -> Reached:
    if "num_branches" not in summary:
        raise SystemExit("error: no branches were measured: run the tests with branch = true")
    return Reached(
        summary["num_statements"],
        summary["covered_lines"],
        summary["num_branches"],
        summary["covered_branches"],
    )


def missed(all_of_it: Reached, lines: float, branches: float) -> list[str]:
    """What is below its least share, in words; nothing if all is well."""
    asked = (("lines", all_of_it.line_share, lines), ("branches", all_of_it.branch_share, branches))
    return [
        f"error: the tests reach {share:.2%} of all {what}, at least {least:.0%} is asked for"
        for what, share, least in asked
        if share < least
    ]


def _row(name: str, one: Reached) -> str:
    line_part = f"{one.lines_reached:>6} of {one.lines:>6} {one.line_share:>8.2%}"
    branch_part = f"{one.branches_reached:>6} of {one.branches:>5} {one.branch_share:>8.2%}"
    return f"{name:<14}{line_part}   {branch_part}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path, help="what `coverage json` wrote")
    parser.add_argument("--lines", type=float, default=0.95, help="least share of lines")
    parser.add_argument("--branches", type=float, default=0.90, help="least share of branches")
    options = parser.parse_args(arguments)
    folders = per_folder(json.loads(options.report.read_text("utf-8")))
    if not folders:
        raise SystemExit(f"error: {options.report} has no files: nothing was measured")
    all_of_it = Reached()
    print(f"{'folder':<14}{'lines':>16} {'':>8}   {'branches':>15}")
    for name, one in sorted(folders.items()):
        print(_row(name, one))
        all_of_it = all_of_it.and_also(one)
    print(_row("all", all_of_it))
    errors = missed(all_of_it, options.lines, options.branches)
    for error in errors:
        print(error, file=sys.stderr)
    return int(bool(errors))


if __name__ == "__main__":
    sys.exit(main())
