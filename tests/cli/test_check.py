"""`prefpath check`: the panel, JSON, exit codes; never a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from prefpath import cli
from prefpath.cli.app import app
from prefpath.errors import VoteError

GOOD = "annotator,left,right,choice\na,x,y,1\na,y,x,1\nb,y,x,-1\n"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from prefpath.cli import main; main()", "check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text(GOOD)
    return path


def test_the_panel_and_how_it_was_read(votes: Path) -> None:
    result = run(str(votes))
    assert result.returncode == 0
    assert "3 votes, 2 annotators, 2 items, 1 pair" in result.stdout
    for name in ("one scale", "never won", "sides chosen", "circles"):
        assert name in result.stdout
    assert "read as canonical votes" in " ".join(result.stderr.split())
    assert "nothing left out" in " ".join(result.stderr.split())


def test_errors_have_no_traceback_and_exit_code_two(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("annotator,left,right,choice\na,x,y,huh\n")
    result = run(str(tmp_path / "bad.csv"))
    assert result.returncode == 2
    assert "unknown choice: 'huh'" in result.stderr
    assert "where:    row 1" in result.stderr
    assert "Traceback" not in result.stderr + result.stdout


def test_a_failed_check_is_exit_code_one(votes: Path) -> None:
    votes.write_text(GOOD + "a,p,q,1\n")
    result = CliRunner().invoke(app, ["check", str(votes)])
    assert result.exit_code == 1
    assert "2 groups" in result.output


def test_json(votes: Path) -> None:
    result = CliRunner().invoke(app, ["check", str(votes), "--json"])
    found = json.loads(result.stdout)
    assert found["status"] == "warn"
    assert found["origin"]["dialect"] == "canonical"
    assert found["n_votes"] == 3
    assert {check["status"] for check in found["checks"]} <= {"passed", "warn", "fail", "unchecked"}


def test_reading_options(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("who,one,two,result\na,x,y,model_a\na,y,x,tie\nb,x,y,huh\n")
    options = ["--annotator", "who", "--left", "one", "--right", "two", "--choice", "result"]
    options += ["--unknown", "drop", "--ties", "drop", "--json"]
    found = json.loads(CliRunner().invoke(app, ["check", str(path), *options]).stdout)
    assert found["origin"]["unknown_labels"] == found["origin"]["ties_dropped"] == 1
    assert found["n_votes"] == 1


@pytest.mark.parametrize(
    ("column", "says"), [("weight", "weight weighs the votes"), ("count", "count is not used")]
)
def test_what_a_column_of_weights_or_counts_is_for_is_said(
    tmp_path: Path, column: str, says: str
) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(f"annotator,left,right,choice,{column}\na,x,y,1,2\nb,y,x,1,1\n")
    assert says in " ".join(CliRunner().invoke(app, ["check", str(path)]).output.split())


def test_labels_cannot_write_markup(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("annotator,left,right,choice\na,[red]x[/red],[/]y,1\n")
    result = CliRunner().invoke(app, ["check", str(path)])
    assert "[red]x[/red]" in result.output
    assert "[/]y" in result.output


@hypothesis_settings(max_examples=30)
@given(data=st.binary(max_size=200), header=st.booleans())
def test_any_bytes_give_a_panel_or_an_error_made_on_purpose(data: bytes, header: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        path.write_bytes((GOOD.encode() if header else b"") + data)
        result = CliRunner().invoke(app, ["check", str(path)])
    allowed = result.exception is None or isinstance(result.exception, VoteError | SystemExit)
    assert allowed, repr(result.exception)


def test_an_unforeseen_error_is_no_traceback_either(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise RuntimeError("surprise")

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 70
