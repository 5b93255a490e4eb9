"""A fit that was killed is gone on with, and ends as if nothing had happened."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prefpath.checkpoint import Checkpoint
from prefpath.cli import app, keeping, main
from prefpath.cli.app import error_console
from prefpath.cli.simulate import vote_columns
from prefpath.export import verify_results
from prefpath.simulate import simulate_crowd
from prefpath.tables import write_table
from stops import Killed, stop_after

runner = CliRunner()
FIT = ("--cv", "2", "--json", "--threads", "1")

# The program as people start it, except that it saves after every step.
KEEN = """
from prefpath.checkpoint import Checkpoint
from prefpath.cli import keeping
Checkpoint.__init__.__kwdefaults__["every"] = 0.0
keeping._SECONDS_BEFORE_KEEPING = 0.0
from prefpath.__main__ import main
main()
"""


@pytest.fixture(scope="module")
def votes_file(tmp_path_factory) -> Path:
    crowd = simulate_crowd(1_500, 15, 6, deviants=2, clickers=1, seed=1)
    return write_table(vote_columns(crowd.votes), tmp_path_factory.mktemp("votes") / "votes.csv")


@pytest.fixture(scope="module")
def undisturbed(votes_file, tmp_path_factory) -> tuple[dict, str]:
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    done = runner.invoke(app, ["fit", str(votes_file), *FIT, "--out", str(out)])
    assert done.exit_code == 0, done.output
    return contents(out), done.stdout


def contents(out: Path) -> dict[str, bytes]:
    """All files of a folder of results; when they were written is left out."""
    verify_results(out)
    files = {file.name: file.read_bytes() for file in out.iterdir()}
    manifest = json.loads(files.pop("manifest.json"))
    return files | {"manifest": json.dumps(manifest | {"written": None}).encode()}


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines break nowhere, however long the name of the folder for tests is."""
    monkeypatch.setattr(error_console, "_width", 10_000)


def stopped_fit(monkeypatch, *arguments: str, saves: int = 12) -> None:
    """A fit that is killed after some saves."""
    defaults = {"every": 0.0, "lazy": None, "after_save": stop_after(saves)}
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint.__init__, "__kwdefaults__", defaults)
        patch.setattr(keeping, "_SECONDS_BEFORE_KEEPING", 0.0)
        with pytest.raises(Killed):
            runner.invoke(app, ["fit", *arguments, *FIT], catch_exceptions=False)


def said_by(capfd, monkeypatch, *arguments: str) -> tuple[int, str]:
    monkeypatch.setattr("sys.argv", ["prefpath", *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    said = capfd.readouterr().err
    assert "Traceback" not in said
    return int(stop.value.code or 0), " ".join(said.split())


def test_kill_9_and_resume(votes_file, undisturbed, tmp_path):
    """Names in the command are meant where it was given, wherever it is resumed from."""
    folder, out = tmp_path / "kept", tmp_path / "out"
    command = [sys.executable, "-c", KEEN, "fit", str(votes_file), *FIT, "--out", "out"]
    process = subprocess.Popen(
        [*command, "--checkpoint", "kept"], cwd=tmp_path,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while not (folder / "fold-2.state.npz").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not out.exists()
    done = subprocess.run(
        [sys.executable, "-m", "prefpath", "resume", str(folder)],
        capture_output=True, text=True, cwd=votes_file.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "going on from what is kept" in done.stderr
    assert done.stdout == undisturbed[1]
    assert contents(out) == undisturbed[0]
    assert sorted(file.name for file in folder.iterdir()) == ["fit.json", "lock"]


@pytest.mark.parametrize("named", ["out", "out.checkpoint"])
def test_without_being_asked_beside_out(votes_file, undisturbed, tmp_path, monkeypatch, named):
    out, cwd = tmp_path / "out", Path.cwd()
    stopped_fit(monkeypatch, str(votes_file), "--out", str(out))
    assert (tmp_path / "out.checkpoint" / "fit.json").exists()
    try:
        done = runner.invoke(app, ["resume", str(tmp_path / named)])
    finally:
        os.chdir(cwd)
    assert done.exit_code == 0, done.output
    assert done.stdout == undisturbed[1]
    assert contents(out) == undisturbed[0]
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_the_same_command_again_goes_on_too(votes_file, undisturbed, tmp_path, monkeypatch):
    out = tmp_path / "out"
    stopped_fit(monkeypatch, str(votes_file), "--out", str(out), saves=30)
    done = runner.invoke(app, ["fit", str(votes_file), "--out", str(out), *FIT])
    assert "going on from what is kept" in done.stderr
    assert contents(out) == undisturbed[0]
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_a_short_fit_leaves_no_folder_behind(votes_file, tmp_path):
    runner.invoke(app, ["fit", str(votes_file), "--out", str(tmp_path / "out"), *FIT])
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_an_interrupt_says_how_to_go_on(votes_file, tmp_path):
    program = KEEN.replace(
        "from prefpath.__main__",
        "import os\n"
        'Checkpoint.__init__.__kwdefaults__["after_save"] = '
        f"lambda n: n == 20 and os.kill(os.getpid(), {int(signal.SIGINT)})\n"
        "from prefpath.__main__",
    )
    command = [sys.executable, "-c", program, "fit", str(votes_file), *FIT]
    done = subprocess.run(
        [*command, "--checkpoint", str(tmp_path / "kept")], capture_output=True, text=True
    )
    assert done.returncode == 130, done.stderr
    assert f"prefpath resume {tmp_path / 'kept'}" in done.stderr.replace("\n", "")
    assert list((tmp_path / "kept").glob("*.state.npz"))


class TestRefusals:
    @pytest.fixture
    def kept(self, votes_file, tmp_path, monkeypatch) -> Path:
        votes = tmp_path / "votes.csv"
        votes.write_bytes(votes_file.read_bytes())
        stopped_fit(monkeypatch, str(votes), "--checkpoint", str(tmp_path / "kept"))
        return tmp_path / "kept"

    def test_there_is_nothing(self, tmp_path, capfd, monkeypatch):
        for name, words in (("none", "there is no folder"), ("", "no fit was kept in")):
            code, said = said_by(capfd, monkeypatch, "resume", str(tmp_path / name))
            assert code == 2
            assert words in said and "begin anew" in said

    def test_it_has_finished(self, votes_file, tmp_path, capfd, monkeypatch):
        out, folder = tmp_path / "out", tmp_path / "kept"
        how = ["--out", str(out), "--checkpoint", str(folder)]
        assert runner.invoke(app, ["fit", str(votes_file), *how, *FIT]).exit_code == 0
        for place, words in ((folder, "has finished"), (out, "are complete")):
            code, said = said_by(capfd, monkeypatch, "resume", str(place))
            assert code == 2 and words in said

    def test_votes_have_changed(self, kept, capfd, monkeypatch):
        with (kept.parent / "votes.csv").open("a") as votes:
            votes.write((kept.parent / "votes.csv").read_text().splitlines()[-1] + "\n")
        code, said = said_by(capfd, monkeypatch, "resume", str(kept))
        assert code == 2
        assert "holds a fit of other votes" in said and "go on with" not in said

    def test_votes_are_gone(self, kept, capfd, monkeypatch):
        (kept.parent / "votes.csv").unlink()
        code, said = said_by(capfd, monkeypatch, "resume", str(kept))
        assert code == 2 and "votes.csv" in said

    def test_another_version_began_it(self, kept, capfd, monkeypatch):
        record = json.loads((kept / "fit.json").read_text())
        (kept / "fit.json").write_text(json.dumps(record | {"prefpath": "0.0.9"}))
        code, said = said_by(capfd, monkeypatch, "resume", str(kept))
        assert code == 2 and "of prefpath 0.0.9, and this is" in said

    def test_the_folder_is_in_use(self, kept, capfd, monkeypatch):
        other = Checkpoint(kept)
        code, said = said_by(capfd, monkeypatch, "resume", str(kept))
        other.close()
        assert code == 2 and "another fit is using" in said

    @pytest.mark.parametrize(
        ("command", "words"),
        [
            (None, "was begun from Python"),
            ({"arguments": "rm -r", "folder": "."}, "does not say which command"),
            ({"arguments": ["--loss"], "folder": "/nowhere"}, "begun in /nowhere"),
            ({"arguments": ["votes.csv", "--magic"], "folder": "/"}, "--magic"),
        ],
    )
    def test_a_record_that_is_not_ours(self, kept, capfd, monkeypatch, command, words):
        record = json.loads((kept / "fit.json").read_text())
        (kept / "fit.json").write_text(json.dumps(record | {"command": command}))
        cwd = Path.cwd()
        code, said = said_by(capfd, monkeypatch, "resume", str(kept))
        os.chdir(cwd)
        assert code == 2 and words in said

    def test_other_options_are_refused_before_the_fit(self, kept, capfd, monkeypatch):
        votes = str(kept.parent / "votes.csv")
        code, said = said_by(capfd, monkeypatch, "fit", votes, "--checkpoint", str(kept))
        assert code == 2
        assert "begun with other options" in said and f"prefpath resume {kept}" in said

    def test_damaged_files_cost_time_only(self, kept, votes_file, undisturbed, capfd, monkeypatch):
        (kept / "path.state.npz").write_bytes(b"PK\x03\x04")
        cwd = Path.cwd()
        monkeypatch.setattr("sys.argv", ["prefpath", "resume", str(kept)])
        with pytest.raises(SystemExit) as stop:
            main()
        os.chdir(cwd)
        shown = capfd.readouterr()
        assert stop.value.code in (0, None)
        assert "damaged" in shown.err and "going on from before it" in shown.err
        found, whole = json.loads(shown.out), json.loads(undisturbed[1])
        assert {**found, "votes": None} == {**whole, "votes": None}

    def test_a_place_that_cannot_be_written(self, votes_file, tmp_path, capfd, monkeypatch):
        (tmp_path / "file").write_text("")
        how = ("--checkpoint", str(tmp_path / "file"))
        code, said = said_by(capfd, monkeypatch, "fit", str(votes_file), *how)
        assert code == 2
        assert "is a file" in said and "votes" not in said.replace("votes.csv", "")
