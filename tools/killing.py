"""Attacks on fits that can be resumed; `tools/stress.py` counts what they cost."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from prefpath.checkpoint.folder import read_record
from prefpath.export import verify_results

WARM = Path(__file__).with_name("warm.py")
# Ways to fit that keep different things: folds beside the path, after it, none; and LBI.
WAYS = (
    ("--cv", "2"),
    ("--cv", "3", "--threads", "2"),
    ("--cv", "2", "--t-ratio", "8"),
    ("--cv", "0", "--loss", "linear"),
    ("--cv", "2", "--solver", "lbi", "--t-ratio", "3"),
)
MOST_KILLS = 4


@cache
def warm_process() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(WARM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def prefpath(*arguments: str, output: Path, **how: Any) -> dict[str, float]:
    """A command in a process of its own that need not load anything."""
    process = warm_process()
    assert process.stdin is not None and process.stdout is not None
    asked = {"arguments": list(arguments), "output": str(output), **how}
    process.stdin.write(json.dumps(asked) + "\n")
    process.stdin.flush()
    answer: dict[str, float] = json.loads(process.stdout.readline())
    return answer


def killed_and_resumed(rng: random.Random, folder: Path, file: Path) -> str:
    """kill -9 at random moments of a fit, again of its resumes, and all files compared."""
    fit = ["fit", str(file), "--json", *rng.choice(WAYS)]
    whole, broken = folder / "whole", folder / "broken"
    for place in (whole, broken):
        place.mkdir()
    done = prefpath(*fit, "--out", str(whole / "out"), output=whole / "json")
    if done["code"]:
        return f"{fit}: exit {done['code']} without a kill"
    asked = ["--checkpoint", str(broken / "kept")] if rng.random() < 0.5 else []
    kept = broken / ("kept" if asked else "out.checkpoint")
    arguments = [*fit, "--out", str(broken / "out"), *asked]
    how = {"output": broken / "json", "every": rng.choice((0.0, 0.05, 0.3))}
    for _ in range(rng.randrange(1, MOST_KILLS)):
        when = rng.uniform(0.0, done["seconds"])
        ended = prefpath(*arguments, kill_after=when, **how)
        if ended["code"] not in (0, -9):
            return f"exit {ended['code']}: {(broken / 'errors').read_text()[-300:]}"
        arguments = _next(arguments, kept, broken / "out")
        if not arguments:
            break
    if arguments:
        ended = prefpath(*arguments, **how)
        if ended["code"]:
            return f"exit {ended['code']}: {(broken / 'errors').read_text()[-300:]}"
    return _difference(whole, broken, kept)


def _next(arguments: list[str], kept: Path, out: Path) -> list[str]:
    """What a person does after a kill: resume, begin anew if there is nothing, or be content."""
    record = read_record(kept)
    if record and not record["finished"]:
        return ["resume", str(kept)]
    return [] if (out / "manifest.json").exists() else arguments


def _difference(whole: Path, broken: Path, kept: Path) -> str:
    """What differs from an undisturbed run; the time of writing does."""
    expected, found = (_files(place / "out") for place in (whole, broken))
    for name in sorted({*expected, *found}):
        if expected.get(name) != found.get(name):
            return f"{name} differs"
    if (whole / "json").read_bytes() != (broken / "json").read_bytes():
        return "the JSON differs"
    left = sorted(file.name for file in kept.iterdir()) if kept.exists() else []
    if left not in ([], ["fit.json", "lock"]):
        return f"left behind: {left}"
    return ""


def _files(out: Path) -> dict[str, bytes]:
    verify_results(out)
    files = {file.name: file.read_bytes() for file in out.iterdir()}
    manifest = json.loads(files["manifest.json"])
    return files | {"manifest.json": json.dumps(manifest | {"written": ""}).encode()}


def checkpoint_without_room(rng: random.Random, folder: Path, file: Path) -> str:
    """Files may not grow beyond some size: the fit goes on without saving, or says what lacks."""
    done = prefpath(
        "fit", str(file), "--cv", "2", "--json", "--checkpoint", str(folder / "kept"),
        output=folder / "json", every=0.0, largest_file=rng.choice((700, 5_000, 20_000, 60_000)),
    )  # fmt: skip
    said = (folder / "errors").read_text()
    if done["code"] not in (0, 74) or "Traceback" in said:
        return f"exit {done['code']}: {said[-300:]}"
    try:
        complete = done["code"] == 74 or "ranking" in json.loads((folder / "json").read_text())
    except ValueError:
        complete = False
    return "" if complete else "exit 0 with half an output"
