"""Wheel and sdist, tried as users get them: `make package`, or

    python tools/package.py                     # build, empty environment, oldest versions
    python tools/package.py --keep FOLDER       # leave the environments there

1. `python -m build` in an environment of its own.
2. The wheel in an empty environment: `--version`, `demo`, `reproduce --help`, and a table of the
   paper on simulated votes; `import prefpath` and `--help` within their limits of CPU seconds.
3. The oldest versions `pyproject.toml` allows (uv, lowest-direct) with a selection of tests.
4. Every other Python of 3.11 to 3.13 on the path or in pyenv, with the wheel and the demo.

Needs PyPI. The exit code is 1 if something fails.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.11", "3.12", "3.13")
SMOKE = (
    "tests/votes/test_votes.py",
    "tests/votes/test_dialects.py",
    "tests/plain/test_rank.py",
    "tests/compiling",
    "tests/solver/test_small_golden.py",
    "tests/fitted/test_fitted.py",
    "tests/selection/test_selection.py",
    "tests/inference/test_ranks.py",
    "tests/cli/test_fit.py",
    "tests/cli/test_usage.py",
)


class Trial:
    """Steps, each said with its outcome; failures are counted."""

    def __init__(self) -> None:
        self.failed = 0

    def step(self, what: str, command: list[object], **how: object) -> str | None:
        """Run a command; what it printed, or None if it failed (said in its own words)."""
        done = subprocess.run(
            [str(part) for part in command], capture_output=True, text=True, **_clean(how)
        )
        if done.returncode:
            self.fail(what, (done.stderr.strip() or done.stdout.strip())[-1_500:])
            return None
        print(f"pass  {what}", flush=True)
        return done.stdout

    def fail(self, what: str, why: str) -> None:
        self.failed += 1
        print(f"FAIL  {what}\n{why}", flush=True)


def _clean(how: dict[str, object]) -> dict[str, object]:
    """Nothing of the tree this runs in may leak into what is tried."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return {"env": environment, **how}


def build(trial: Trial, folder: Path) -> Path | None:
    """The wheel; the sdist lies beside it."""
    python = _environment(folder / "build")
    trial.step("build and uv are there", [python, "-m", "pip", "install", "-q", "build", "uv"])
    out = folder / "dist"
    trial.step("wheel and sdist", [python, "-m", "build", "--outdir", out, ROOT])
    wheels = sorted(out.glob("*.whl"))
    if not wheels or not sorted(out.glob("*.tar.gz")):
        return None
    return wheels[0]


def as_a_user(trial: Trial, python: Path, wheel: Path, folder: Path) -> None:
    """The wheel alone, in an empty environment and an empty folder."""
    label = f"Python {python.parent.parent.name.removeprefix('user-')}"
    pip = [python, "-m", "pip", "install", "-q", wheel]
    if trial.step(f"{label}: pip install", pip) is None:
        return
    command, empty = python.parent / "prefpath", folder / f"empty-{label.split()[-1]}"
    empty.mkdir(exist_ok=True)
    trial.step(f"{label}: --version", [command, "--version"], cwd=empty)
    trial.step(f"{label}: demo", [command, "demo"], cwd=empty)
    trial.step(f"{label}: reproduce --help", [command, "reproduce", "--help"], cwd=empty)
    without = subprocess.run([str(command), "reproduce", "figure1"], cwd=empty, text=True,
                             capture_output=True, **_clean({}))  # fmt: skip
    if "pip install 'prefpath[plots]'" not in " ".join(without.stderr.split()):
        trial.fail(f"{label}: a figure without the extra plots says so", without.stderr[-500:])
    plots = f"{wheel}[plots]"  # for the pictures
    trial.step(f"{label}: the extra plots", [python, "-m", "pip", "install", "-q", plots])
    table = ["reproduce", "table1", "--quick", "--repeats", "1", "--methods", "hodgerank"]
    trial.step(f"{label}: a table of the paper", [command, *table], cwd=empty)
    _starts_quickly(trial, label, python, command)


def _starts_quickly(trial: Trial, label: str, python: Path, command: Path) -> None:
    """CPU seconds beyond the interpreter's own start; the least of five."""
    nothing = _cpu([python, "-c", "pass"])
    for what, spent, limit in (
        ("import prefpath", _cpu([python, "-c", "import prefpath"]) - nothing, 0.2),
        ("--help", _cpu([command, "--help"]), 0.7),
    ):
        words = f"{label}: {what} takes {spent:.2f} s of at most {limit} CPU seconds"
        if spent > limit:
            trial.fail(words, "")
        else:
            print(f"pass  {words}", flush=True)


def _cpu(command: list[object]) -> float:
    """User and system seconds of a child, the least of five runs."""
    spent = []
    for _ in range(5):
        before = os.times()
        subprocess.run([str(part) for part in command], capture_output=True, **_clean({}))
        after = os.times()
        spent.append(after.children_user + after.children_system
                     - before.children_user - before.children_system)  # fmt: skip
    return min(spent)


def oldest(trial: Trial, folder: Path) -> None:
    """The lower bounds of pyproject.toml, and a selection of the tests."""
    python, uv = _environment(folder / "oldest"), folder / "build" / "bin" / "uv"
    install = [uv, "pip", "install", "-q", "--python", python, "--resolution", "lowest-direct"]
    tests = ["pytest>=8", "pytest-timeout>=2.3", "hypothesis>=6.100", "choix>=0.3.5",
             "polars>=1.0", "pyarrow>=15"]  # fmt: skip
    if trial.step("oldest versions: install", [*install, f"{ROOT}[all]", *tests], cwd=ROOT) is None:
        return
    shown = trial.step("oldest versions: named", [uv, "pip", "freeze", "--python", python])
    print("      " + ", ".join((shown or "").split()), flush=True)
    trial.step(
        "oldest versions: a selection of tests",
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "default", *SMOKE],
        cwd=ROOT,
    )


def interpreter(version: str) -> str | None:
    """A Python of this version that runs: on the path (a shim of pyenv's may not), or pyenv's."""
    kept = Path.home() / ".pyenv" / "versions"
    found = [shutil.which(f"python{version}"),
             *map(str, sorted(kept.glob(f"{version}.*/bin/python{version}")))]  # fmt: skip
    for program in filter(None, found):
        if subprocess.run([program, "-c", ""], capture_output=True).returncode == 0:
            return program
    return None


def _environment(folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    return folder / "bin" / "python"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", type=Path, help="a folder for the environments")
    given, trial = parser.parse_args(), Trial()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        wheel = build(trial, folder)
        if wheel is None:
            return 1
        for version in PYTHONS:
            program = interpreter(version)
            if program is None:
                print(f"not tried: there is no python{version} here", flush=True)
                continue
            home = folder / f"user-{version}"
            if trial.step(f"Python {version}: venv", [program, "-m", "venv", home]) is not None:
                as_a_user(trial, home / "bin" / "python", wheel, folder)
        oldest(trial, folder)
    print(f"{trial.failed} failed")
    return int(trial.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
