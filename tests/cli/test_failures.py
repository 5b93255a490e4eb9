"""How the program ends: in its own process, as a user meets it."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import prefpath as prefpath_package
from prefpath.cli.outcome import is_result
from prefpath.export import verify_results
from prefpath.tables import write_table

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and limits are of POSIX")


def prefpath(*arguments: str, **how: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "prefpath", *arguments]
    return subprocess.run(command, text=True, capture_output=True, **how)  # type: ignore[call-overload]


@pytest.fixture(scope="module")
def votes_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small crowd whose labels a terminal or an old encoding could stumble over."""
    rng = np.random.default_rng(0)
    items = np.array(["\x1b[31mred", "naïve", "=1+1", "日本"])
    first = rng.integers(0, 4, 600)
    second = (first + rng.integers(1, 4, 600)) % 4
    file = tmp_path_factory.mktemp("votes") / "votes.csv"
    columns = {
        "annotator": np.array(["a/b", "a.b", "a b"])[rng.integers(0, 3, 600)],
        "left": items[first],
        "right": items[second],
        "choice": np.where(rng.random(600) < 0.5 + 0.1 * (second - first), "left", "right"),
    }
    return write_table(columns, file)


def test_labels_do_not_command_the_terminal_nor_spreadsheets(
    votes_file: Path, tmp_path: Path
) -> None:
    asked = [word for name in ("a/b", "a.b", "a b") for word in ("--personal", name)]
    done = prefpath("fit", str(votes_file), "--out", str(tmp_path / "out"), *asked, "--cv", "2")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "\\x1b[31mred" in done.stdout
    verify_results(tmp_path / "out")
    assert "'=1+1" in (tmp_path / "out" / "ranking.csv").read_text(encoding="utf-8")
    assert len(list((tmp_path / "out").glob("personal-*.csv"))) == 3
    assert all(is_result(file.name, "csv") for file in (tmp_path / "out").iterdir())


def test_a_terminal_without_these_characters_loses_nothing(
    votes_file: Path, tmp_path: Path
) -> None:
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    out = tmp_path / "out"
    done = prefpath("fit", str(votes_file), "--cv", "2", "--out", str(out), env=ascii_only)
    assert done.returncode == 0, done.stderr
    assert "na\\xefve" in done.stdout
    verify_results(out)
    machine = prefpath("fit", str(votes_file), "--cv", "2", "--json", env=ascii_only)
    assert "日本" in str(__import__("json").loads(machine.stdout))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_under_the_terminal_keeps_the_results(votes_file: Path, tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "prefpath", "fit", str(votes_file), "--cv", "2"]
        done = subprocess.run(
            [*command, "--out", str(tmp_path / "out")], stdout=full, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
    assert done.returncode == 74
    assert "the disk is full" in done.stderr
    assert "report it" not in done.stderr and "Traceback" not in done.stderr
    verify_results(tmp_path / "out")


@pytest.mark.parametrize("place", ["/dev/full", "missing/report.html", "."])
def test_a_report_that_cannot_be_written(votes_file: Path, tmp_path: Path, place: str) -> None:
    done = prefpath("fit", str(votes_file), "--cv", "2", "--report", place, cwd=tmp_path)
    assert done.returncode == (74 if place == "/dev/full" else 2)
    assert "remedy" in done.stderr or "expected" in done.stderr
    if place != "/dev/full":
        assert "votes" not in done.stderr  # refused before they were read


def test_too_little_memory_is_said_at_once(votes_file: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (600_000_000, 600_000_000))

    done = prefpath("fit", str(votes_file), preexec_fn=limit)
    assert done.returncode == 71
    assert "600 MB of addresses" in done.stderr.replace("\n", " ")
    assert "remedy" in done.stderr


# Tests started in the background of a script are to ignore Ctrl-C; a user's terminal is not.
_AT_A_TERMINAL = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
# The program as people start it, except that it is sent a signal once its path is under way, and
# in a text that is executed: there Python's own exception would decide how the process ends.
_SIGNALLED = f"""{_AT_A_TERMINAL}
import sys, time
from prefpath.__main__ import main
from prefpath.solver.flow import FlowSolver

number, follow = int(sys.argv.pop()), FlowSolver.follow

class HalfMade:
    def __del__(self):
        raise AttributeError("of a library whose work was interrupted")

def signalled(*arguments):
    half_made = HalfMade()
    exec("signal.raise_signal(number)")
    # Of a path in a thread, the main thread obeys; on a busy machine the path could end before.
    for _ in range(1000):
        if sys.unraisablehook is not sys.__unraisablehook__:
            break
        time.sleep(0.01)
    follow(*arguments)

FlowSolver.follow = signalled
main()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signals_stop_without_leaving_anything(
    votes_file: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    temporary, out = tmp_path / "tmp", tmp_path / "out"
    temporary.mkdir()
    command = ["fit", str(votes_file), "--out", str(out), str(number.value)]
    done = subprocess.run(
        [sys.executable, "-c", _SIGNALLED, *command], text=True, capture_output=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    )  # fmt: skip
    assert done.returncode == code
    assert "stopped" in done.stderr and "Traceback" not in done.stderr
    assert not out.exists()
    assert not list(temporary.iterdir())


def test_interrupts_are_obeyed_while_the_program_is_still_loading() -> None:
    started = (
        f"{_AT_A_TERMINAL}import sys\n"
        "class Impatient:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'prefpath.cli':\n"
        "            exec('signal.raise_signal(signal.SIGINT)')\n"
        "sys.meta_path.insert(0, Impatient())\n"
        "from prefpath.__main__ import main\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", started], text=True, capture_output=True)
    assert (done.returncode, done.stderr) == (130, "stopped\n")


# Python turns what is raised while a class is made into a RuntimeError, as when Numba is loaded.
_WHILE_A_CLASS_IS_MADE = f"""{_AT_A_TERMINAL}
from prefpath.cli.failures import run

class Field:
    def __set_name__(self, owner, name):
        signal.raise_signal(signal.SIGNAL)

run(lambda: type("Owner", (), {{"field": Field()}}))
"""


@pytest.mark.parametrize(
    ("number", "ends"),
    [("SIGINT", (130, "stopped\n")), ("SIGTERM", (143, "stopped: asked to terminate\n"))],
)
def test_signals_in_the_making_of_a_class_are_no_errors_of_ours(
    number: str, ends: tuple[int, str]
) -> None:
    started = _WHILE_A_CLASS_IS_MADE.replace("SIGNAL", number)
    done = subprocess.run([sys.executable, "-c", started], text=True, capture_output=True)
    assert (done.returncode, done.stderr) == ends


def test_who_reads_only_the_beginning(votes_file: Path) -> None:
    command = f"{sys.executable} -m prefpath fit {votes_file} --cv 2 --json | head -n 1"
    done = subprocess.run(command, shell=True, text=True, capture_output=True)
    assert done.stdout == "{\n"
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_half_an_output_is_no_output(votes_file: Path, tmp_path: Path, unbuffered: str) -> None:
    """A disk that fills up under standard output takes a part of the text, and no more."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))

    with (tmp_path / "ranking.json").open("w") as output:
        done = subprocess.run(
            [sys.executable, "-m", "prefpath", "rank", str(votes_file), "--json"],
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            stdout=output, stderr=subprocess.PIPE, text=True, preexec_fn=limit, timeout=300,
        )  # fmt: skip
    assert done.returncode == 74, done.stderr
    assert "the file is larger than files may be here" in done.stderr.replace("\n", " ")


def test_nothing_is_imported_from_the_current_folder(tmp_path: Path) -> None:
    """Who works in a folder with an experiments.py of their own does not want it run."""
    for name in ("experiments", "numpy", "prefpath"):
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('ran {name}.py')")
    started = "from prefpath.__main__ import main; main()"
    source = str(Path(prefpath_package.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-P", "-c", started, "reproduce", "nothing"], cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": source}, text=True, capture_output=True,
    )  # fmt: skip
    assert "there is no experiment 'nothing'" in done.stderr
    assert "ran " not in done.stderr
    assert done.returncode == 2


def test_the_version() -> None:
    done = prefpath("--version")
    assert done.stdout.startswith("prefpath ")
    assert done.returncode == 0


@pytest.mark.parametrize("closed", [(1,), (2,), (0, 1, 2)])
def test_closed_streams_go_nowhere(closed: tuple[int, ...]) -> None:
    """As with `>&-`; Python has no stream there, and the next file opened would take its place."""
    done = prefpath("--version", preexec_fn=lambda: [os.close(number) for number in closed])
    assert (done.returncode, done.stderr) == (0, "")


def test_names_that_no_csv_reader_takes_are_said(votes_file: Path, tmp_path: Path) -> None:
    names = tmp_path / "names.csv"
    names.write_text("item,name\nred," + "x" * 200_000 + "\n")
    done = prefpath("rank", str(votes_file), "--names", str(names))
    assert done.returncode == 2
    assert "field larger than" in done.stderr


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--report", "ranking.csv"], "ranking.csv is read"),
        (["--out", "."], "ranking.csv is read"),
        (
            ["--out", "new", "--features", "old/../features.csv", "--report", "features.csv"],
            "is read",
        ),
        (["--out", "link", "--names", "features.csv"], "is read"),
        (["--out", "new", "--report", "new"], "--out writes"),
        (["--out", "old", "--report", "old/manifest.json"], "--out writes"),
    ],
)
def test_nothing_that_is_read_is_written_over(
    votes_file: Path, tmp_path: Path, options: list[str], says: str
) -> None:
    for name in ("ranking.csv", "features.csv"):
        (tmp_path / name).write_bytes(votes_file.read_bytes())
    (tmp_path / "old").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    done = prefpath("fit", "ranking.csv", "--cv", "0", *options, cwd=tmp_path)
    assert done.returncode == 2
    said = "".join(done.stderr.split())  # long paths are broken at any place
    assert says.replace(" ", "") in said
    assert (tmp_path / "ranking.csv").read_bytes() == votes_file.read_bytes()


def test_simulated_votes_are_not_written_over_by_their_truth(tmp_path: Path) -> None:
    done = prefpath("simulate", "a.csv", "--truth", "./a.csv", cwd=tmp_path)
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
