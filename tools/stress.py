"""Bad files, kills at random moments, full disks, little memory, four fits at once, hard numbers.

    python tools/stress.py                 # some minutes
    python tools/stress.py --quick         # a minute
    python tools/stress.py --hours 2       # again and again with new seeds

Prints one table: what was tried, how often it was survived, how often something was lost. Lost
means: a traceback or an exit code that says "our error"; a half-written file under its final
name; a folder of results that is neither complete nor absent; a temporary file or process left;
a file that differs after kill -9 and resume; an answer that changes although the votes say the
same. Exit code 1 if anything was lost.

An attack is a function `attack(rng, folder) -> str`: empty if it was survived, else what was
lost. To add one, add it to `ATTACKS` with the number of times it is tried.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from killing import checkpoint_without_room, killed_and_resumed

from prefpath import PreferenceModel, PrefpathError, VoteWarning, read_votes, simulate_crowd
from prefpath.cli.simulate import vote_columns
from prefpath.export import MANIFEST, verify_results
from prefpath.tables import write_table
from prefpath.votes import Votes

Attack = Callable[[random.Random, Path], str]
PIECES = (
    b'"', b",", b"\n", b"\r", b"\0", b"\xff", b"NaN", b"inf", b"1e999", b"\x1b[2J", b";", b"{",
    b"]", b"\xf0\x9f\x98\x80", b"'; DROP TABLE votes; --", b"\xef\xbb\xbf",
)  # fmt: skip
COMMAND = (sys.executable, "-m", "prefpath")


def run(*arguments: str, **how: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, timeout=300, **how
    )  # type: ignore[call-overload]


def crowd_file(rng: random.Random, folder: Path, n_votes: int = 4_000) -> Path:
    crowd = simulate_crowd(n_votes, 30, 8, deviants=2, clickers=2, seed=rng.randrange(2**31))
    return write_table(vote_columns(crowd.votes), folder / "votes.csv")


# ---------------------------------------------------------------- files


def damaged_file(rng: random.Random, folder: Path) -> str:
    """Votes with bytes changed, cut, doubled or mixed with what does not belong there."""
    rows = [f"a{rng.randrange(5)},x{rng.randrange(4)},y{rng.randrange(4)},{rng.choice((1, -1, 0))}"
            for _ in range(rng.randrange(40))]  # fmt: skip
    text = bytearray("\n".join(["annotator,left,right,choice", *rows]).encode())
    for _ in range(rng.randrange(1, 12)):
        damage(rng, text)
    file = folder / f"votes.{rng.choice(('csv', 'tsv', 'jsonl', 'json', 'parquet'))}"
    file.write_bytes(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            votes = read_votes(file)
        assert np.isfinite(votes.weight).all() and np.isfinite(votes.choice).all()
    except PrefpathError:
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def damage(rng: random.Random, text: bytearray) -> None:
    where = rng.randrange(len(text) + 1)
    kind = rng.randrange(4)
    if kind == 0:
        text[where:where] = rng.choice(PIECES)
    elif kind == 1:
        del text[where : where + rng.randrange(1, 30)]
    elif kind == 2:
        text[where:where] = text[where : where + rng.randrange(1, 60)]
    elif where < len(text):
        text[where] = rng.randrange(256)


# ---------------------------------------------------------------- signals


def killed(number: signal.Signals) -> Attack:
    """A signal at a random moment of a fit with --out and --report: all of it or nothing."""

    def attack(rng: random.Random, folder: Path) -> str:
        file, out, report = crowd_file(rng, folder), folder / "out", folder / "report.html"
        temporary = folder / "tmp"
        temporary.mkdir()
        process = subprocess.Popen(
            [*COMMAND, "fit", str(file), "--cv", "2", "--out", str(out), "--report", str(report)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "TMPDIR": str(temporary)},
        )  # fmt: skip
        time.sleep(rng.uniform(0.2, 9.0))
        process.send_signal(number)
        _, said = process.communicate(timeout=300)
        lost = incomplete(out) or half_report(report)
        if number != signal.SIGKILL:
            lost = lost or traceback_of(said) or leftovers(folder, temporary)
        return lost

    return attack


def incomplete(out: Path) -> str:
    """What is lost if a folder of results is neither complete nor absent."""
    if not out.exists():
        return ""
    try:
        verify_results(out)
    except PrefpathError as error:
        return f"{MANIFEST}: {error}"
    return ""


def half_report(report: Path) -> str:
    if report.exists() and not report.read_text("utf-8").rstrip().endswith("</html>"):
        return "half a report under its final name"
    return ""


def traceback_of(said: str) -> str:
    return "a traceback" if "Traceback" in said and "KeyboardInterrupt" not in said else ""


def leftovers(folder: Path, temporary: Path) -> str:
    left = [*folder.glob(".*.part"), *temporary.glob("prefpath-*")]
    return f"left behind: {left[0].name}" if left else ""


# ---------------------------------------------------------------- the machine


def little_memory(rng: random.Random, folder: Path) -> str:
    """An address space between 300 MB and 2.5 GB: done, or said what is lacking."""
    import resource

    limit = rng.randrange(300, 2_500) * 1_000_000

    def preexec() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    file, out = crowd_file(rng, folder), folder / "out"
    done = run("fit", str(file), "--cv", "2", "--out", str(out), preexec_fn=preexec)
    if done.returncode in (0, 71):
        return incomplete(out)
    return f"{limit / 1e6:.0f} MB: exit {done.returncode}: {done.stderr[-200:]}"


def full_disk(rng: random.Random, folder: Path) -> str:
    """A disk of random size, too small for some or all of the results."""
    file = crowd_file(rng, folder)
    disk = folder / "disk"
    disk.mkdir()
    size = rng.choice((0, 8, 40, 100, 400, 4_000))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={max(size, 4)}k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode:
        return full_device(file)
    try:
        if size == 0:
            (disk / "fill").write_bytes(b"x" * 4096)
        out, report = disk / "out", disk / "report.html"
        done = run("fit", str(file), "--cv", "2", "--out", str(out), "--report", str(report))
        if done.returncode not in (0, 74):
            return f"{size} kB: exit {done.returncode}: {done.stderr[-200:]}"
        return incomplete(out) or half_report(report)
    finally:
        subprocess.run(["umount", str(disk)], check=False)


def full_device(file: Path) -> str:
    """Without the right to mount: a report onto /dev/full."""
    done = run("fit", str(file), "--cv", "2", "--report", "/dev/full")
    return "" if done.returncode == 74 else f"/dev/full: exit {done.returncode}"


def four_at_once(rng: random.Random, folder: Path) -> str:
    """Four fits into one folder at the same time: one's results, whole; the others are told."""
    file, out = crowd_file(rng, folder, 2_000), folder / "out"
    command = [*COMMAND, "fit", str(file), "--cv", "2", "--out", str(out), "--threads", "1"]
    processes = [
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    said = [process.communicate(timeout=300)[1] for process in processes]
    codes = [process.returncode for process in processes]
    told = all(code == 0 or "another fit is writing" in words
               for code, words in zip(codes, said, strict=True))  # fmt: skip
    if 0 not in codes or set(codes) - {0, 2} or not told:
        return f"exit codes {codes}: {max(said, key=len)[-200:]}"
    return incomplete(out) or ("" if out.exists() else "no results")


# ---------------------------------------------------------------- numbers


def hard_numbers(rng: random.Random, folder: Path) -> str:
    """Weights and settings at the edge of what a float holds: finite scores or a clear error."""
    votes = simulate_crowd(300, 6, 4, seed=rng.randrange(2**31)).votes
    scale = 10.0 ** rng.uniform(-320, 300)
    settings = {
        "kappa": 10.0 ** rng.uniform(-3, 4),
        "loss": rng.choice(("bradley-terry", "thurstone-mosteller", "linear")),
        "cv": rng.choice((0, 2)),
        "n_times": 6,
        "t_ratio": rng.choice((2.0, 20.0)),
    }
    columns = vote_columns(votes) | {"weight": np.full(votes.n_votes, scale)}
    file = write_table(columns, folder / "votes.parquet")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = PreferenceModel(**settings, n_threads=1).fit(read_votes(file, weight="weight"))  # type: ignore[arg-type]
            scores = model.path_.scores(model.t_)
    except PrefpathError:
        return ""
    except Exception as error:
        return f"weights {scale:.1e}, {settings}: {type(error).__name__}: {error}"
    return "" if np.isfinite(scores).all() else f"weights {scale:.1e}, {settings}: not finite"


def same_answer(rng: random.Random, folder: Path) -> str:  # noqa: ARG001
    """Items renamed, rows permuted, all sides swapped, weights split: the same folds and scores."""
    seed = rng.randrange(2**31)
    votes = simulate_crowd(800, 10, 5, deviants=2, seed=seed, labels="numbered").votes
    columns = _arrays(vote_columns(votes)) | {"weight": np.full(votes.n_votes, 2.0)}
    names = np.array([f"n{k}" for k in np.random.default_rng(seed).permutation(5)])
    renamed = dict(zip(votes.items.tolist(), names.tolist(), strict=True))
    order = np.random.default_rng(seed + 1).permutation(votes.n_votes)
    other = {name: column[order] for name, column in columns.items()}
    for side in ("left", "right"):
        other[side] = np.array([renamed[label] for label in other[side]])
    if rng.random() < 0.5:
        swapped = {"left": other["right"], "right": other["left"], "choice": -other["choice"]}
        other |= swapped
    if rng.random() < 0.5:
        other = {name: np.concatenate((column, column)) for name, column in other.items()}
        other["weight"] = np.ones(2 * votes.n_votes)
    one, two = (fitted(Votes.from_arrays(**each)) for each in (columns, other))
    # Knots lie a factor of 1.2 apart; where the first lies is known to the solver's tolerance.
    if abs(one.t_ / two.t_ - 1.0) > 4e-3:
        return f"seed {seed}: t {one.t_:.6g} and {two.t_:.6g}"
    first = dict(zip(one.votes_.items.tolist(), one.fitted_.scores.tolist(), strict=True))
    second = dict(zip(two.votes_.items.tolist(), two.fitted_.scores.tolist(), strict=True))
    gap = max(abs(score - second[renamed[item]]) for item, score in first.items())
    return "" if gap < 4e-3 else f"seed {seed}: scores differ by {gap:.1e}"


def _arrays(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    words = {"left": 1.0, "tie": 0.0, "right": -1.0}
    return columns | {"choice": np.array([words[word] for word in columns["choice"]])}


def fitted(votes: Votes) -> PreferenceModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VoteWarning)
        return PreferenceModel(cv=3, n_times=12, t_ratio=10.0, n_threads=1).fit(votes)


def resumed(rng: random.Random, folder: Path) -> str:
    return killed_and_resumed(rng, folder, crowd_file(rng, folder, 1_500))


def no_room_to_save(rng: random.Random, folder: Path) -> str:
    return checkpoint_without_room(rng, folder, crowd_file(rng, folder, 1_500))


ATTACKS: tuple[tuple[str, Attack, int], ...] = (
    ("damaged files read", damaged_file, 3_000),
    ("kill -9, resume, compare every file", resumed, 50),
    ("no room for checkpoints", no_room_to_save, 8),
    ("kill -9 while it starts, fits or writes", killed(signal.SIGKILL), 8),
    ("SIGTERM", killed(signal.SIGTERM), 8),
    ("Ctrl-C", killed(signal.SIGINT), 8),
    ("little memory", little_memory, 8),
    ("full disk", full_disk, 8),
    ("four fits into one folder at once", four_at_once, 2),
    ("hard numbers", hard_numbers, 150),
    ("the same votes in other words", same_answer, 20),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a fifteenth of everything")
    parser.add_argument("--hours", type=float, default=0.0, help="go on so long, with new seeds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="attacks whose name has this in it")
    options = parser.parse_args()
    until = time.monotonic() + 3600.0 * options.hours
    tally = {name: [0, 0] for name, _, _ in ATTACKS if options.only in name}
    seed = options.seed
    while True:
        for name, attack, times in ATTACKS:
            if name in tally:
                repeat(name, attack, max(1, times // 15) if options.quick else times, seed, tally)
        seed += 1
        if time.monotonic() >= until:
            break
    print(f"\n{'attack':<40} {'tried':>6} {'survived':>9} {'lost':>5}")
    for name, (tried, lost) in tally.items():
        print(f"{name:<40} {tried:>6} {tried - lost:>9} {lost:>5}")
    return int(any(lost for _, lost in tally.values()))


def repeat(name: str, attack: Attack, times: int, seed: int, tally: dict[str, list[int]]) -> None:
    """Try one attack some times, each in a folder of its own."""
    for k in range(times):
        folder = Path(tempfile.mkdtemp(prefix="stress-"))
        try:
            lost = attack(random.Random(f"{seed} {name} {k}"), folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        tally[name][0] += 1
        if lost:
            tally[name][1] += 1
            print(f"LOST {name}, try {k}: {lost}", flush=True)
    print(f"{name}: {times} tried", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
