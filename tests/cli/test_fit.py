"""`prefpath fit`, `simulate` and `demo`, as a user meets them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from prefpath import Path as PreferencePath
from prefpath import SettingError
from prefpath.cli import app, main
from prefpath.writing import only_writer

runner = CliRunner()


@pytest.fixture(scope="module")
def votes_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated crowd, written by `prefpath simulate`."""
    folder = tmp_path_factory.mktemp("votes")
    file = folder / "votes.csv"
    result = runner.invoke(
        app, ["simulate", str(file), "--votes", "3000", "--annotators", "20", "--items", "6",
              "--truth", str(folder / "truth.csv"), "--seed", "3"]
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    return file


def test_simulate_writes_votes_and_truth(votes_file: Path) -> None:
    lines = votes_file.read_text().splitlines()
    assert lines[0] == "annotator,left,right,choice"
    assert len(lines) == 3001
    truth = (votes_file.parent / "truth.csv").read_text().splitlines()
    assert truth[0] == "annotator,deviates,position_bias" and len(truth) == 21


def test_fit_shows_tables_with_the_users_labels(votes_file: Path) -> None:
    result = runner.invoke(app, ["fit", str(votes_file)])
    assert result.exit_code == 0, result.output
    for words in (
        "Leaderboard",
        "Annotators who lean to one side",
        "held-out votes are predicted wrong",
        "apple",
    ):
        assert words in result.output


def test_fit_json_is_json_with_nulls(votes_file: Path) -> None:
    result = runner.invoke(app, ["fit", str(votes_file), "--json"])
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert [row["rank"] for row in data["ranking"]] == [1, 2, 3, 4, 5, 6]
    scores = [row["score"] for row in data["ranking"]]
    assert scores == sorted(scores, reverse=True)
    assert all(row["score_low"] < row["score"] < row["score_high"] for row in data["ranking"])
    assert len(data["annotators"]) == 20
    assert any(row["deviation_entered"] is None for row in data["annotators"])
    assert 0 < data["held_out_error"] <= data["held_out_error_of_one_ranking"] < np.log(2.0)
    assert 0 < data["held_out_wrong"] < data["held_out_wrong_of_one_ranking"] < 0.5
    assert data["criterion"] == "log-loss"


@pytest.mark.parametrize("place", ["report.html", "out/report.html"])
def test_fit_writes_tables_path_and_report(votes_file: Path, tmp_path: Path, place: str) -> None:
    report = tmp_path / place
    result = runner.invoke(
        app,
        ["fit", str(votes_file), "--cv", "2", "--out", str(tmp_path / "out"),
         "--report", str(report)],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert {file.name for file in (tmp_path / "out").iterdir() if file != report} == {
        "ranking.csv", "annotators.csv", "path.npz", "path.csv", "cross_validation.csv",
        "manifest.json",
    }  # fmt: skip
    path = PreferencePath.load(tmp_path / "out" / "path.npz")
    assert "apple" in path.items.tolist()
    assert "<html" in report.read_text(encoding="utf-8")


@pytest.mark.parametrize("suffix", ["parquet", "json"])
def test_tables_in_other_formats_hold_the_path(
    votes_file: Path, tmp_path: Path, suffix: str
) -> None:
    out = tmp_path / "out"
    fit = ["fit", str(votes_file), "--cv", "2", "--out", str(out), "--format", suffix]
    result = runner.invoke(app, fit)
    assert result.exit_code == 0, result.output
    read = pd.read_parquet if suffix == "parquet" else pd.read_json
    table, path = read(out / f"path.{suffix}"), PreferencePath.load(out / "path.npz")
    last = table[(table["t"] > path.times[-2]) & (table["kind"] == "score")]
    np.testing.assert_allclose(last["value"], path.scores(path.times[-1]), rtol=1e-6)
    leaning = table[(table["t"] > path.times[-2]) & (table["kind"] == "position bias")]
    assert len(leaning) == np.count_nonzero(path.position_bias(path.times[-1]))
    assert len(read(out / f"ranking.{suffix}")) == 6


def test_personal_ranking_and_elo(votes_file: Path) -> None:
    name = votes_file.read_text().splitlines()[1].split(",")[0]
    result = runner.invoke(app, ["fit", str(votes_file), "--cv", "2", "--personal", name,
                                 "--scale", "elo", "--anchor", "apple", "--json"])  # fmt: skip
    data = json.loads(result.stdout)
    assert len(data["personal"][name]) == 6
    apple = next(row for row in data["ranking"] if row["item"] == "apple")
    assert apple["score"] == pytest.approx(1000.0)


def test_stopping_at_a_time_of_ones_own(votes_file: Path) -> None:
    fit = ["fit", str(votes_file), "--cv", "2", "--t", "1e-3", "--json"]
    early = json.loads(runner.invoke(app, fit).stdout)
    assert early["t"] == 1e-3
    assert all(row["deviation"] == 0 for row in early["annotators"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--loss", "logit"], ["no loss 'logit'", "bradley-terry"]),
        (["--solver", "magic"], ["solver is 'magic'"]),
        (["--criterion", "luck"], ["criterion is 'luck'"]),
        (["--scale", "kelvin"], ["kelvin"]),
        (["--anchor", "durian"], ["durian"]),
        (["--personal", "Nobody"], ["no annotator 'Nobody'"]),
        (["--q", "2"], ["2"]),
        (["--cv", "1"], ["1 fold", "at least 2"]),
        (["--cv", "-1"], ["-1 folds"]),
        (["--format", "xlsx"], ["no format 'xlsx'"]),
        (["--about", "everybody"], ["about is 'everybody'", "these, annotators"]),
        (["--t-ratio", "1"], ["--t-ratio is 1"]),
    ],
)
def test_bad_settings_say_what_and_exit_with_2(
    votes_file: Path,
    arguments: list[str],
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["prefpath", "fit", str(votes_file), *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    said = capfd.readouterr().err.replace("\n", " ")
    assert all(word in said for word in words), said
    assert "Traceback" not in said


def test_demo_finds_who_was_planted() -> None:
    result = runner.invoke(app, ["demo", "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert set(found["planted_deviants"]) <= set(found["found_deviants"])
    assert set(found["planted_clickers"]) <= set(found["found_clickers"])
    assert len(found["found_deviants"]) + len(found["found_clickers"]) <= 8


@pytest.mark.skipif(os.name == "nt", reason="no locks there")
def test_two_fits_at_once_into_one_folder(votes_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with only_writer(out):
        refused = runner.invoke(app, ["fit", str(votes_file), "--cv", "0", "--out", str(out)])
    assert isinstance(refused.exception, SettingError)
    assert "another fit is writing to" in str(refused.exception)
    assert not out.exists()


def test_features_from_a_table(votes_file: Path, tmp_path: Path) -> None:
    items = sorted({line.split(",")[1] for line in votes_file.read_text().splitlines()[1:]})
    values = np.arange(len(items)) % 3
    table = tmp_path / "items.csv"
    rows = [
        f"{item},{value},{k}" for k, (item, value) in enumerate(zip(items, values, strict=True))
    ]
    table.write_text("item,sweet,size\n" + "\n".join(rows) + "\n")
    result = runner.invoke(
        app, ["fit", str(votes_file), "--cv", "2", "--features", str(table), "--json"]
    )
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert len(found["ranking"]) == len(items)
    assert [row["feature"] for row in found["features"]] == ["sweet", "size"]
    assert all(row["low"] < row["coefficient"] < row["high"] for row in found["features"])
    fit = ["fit", str(votes_file), "--cv", "0", "--features", str(table)]
    shown = runner.invoke(app, [*fit, "--out", str(tmp_path / "out")])
    assert "What the features are worth" in shown.output
    assert "what one unit of the feature adds" in " ".join(shown.output.split())
    assert (tmp_path / "out" / "features.csv").read_text().startswith("feature,coefficient,low")


def test_names_are_shown_on_every_face(votes_file: Path, tmp_path: Path) -> None:
    items = sorted({line.split(",")[1] for line in votes_file.read_text().splitlines()[1:]})
    table = tmp_path / "names.csv"
    table.write_text("item,name\n" + "".join(f"{item},Called {item}\n" for item in items[1:]))
    who = votes_file.read_text().splitlines()[1].split(",")[0]
    fit = ["fit", str(votes_file), "--cv", "0", "--names", str(table), "--personal", who]
    shown = runner.invoke(app, [*fit, "--out", str(tmp_path / "out")])
    assert shown.exit_code == 0, shown.output
    assert shown.output.count(f"Called {items[1]}") >= 2  # leaderboard and personal ranking
    header, first = (tmp_path / "out" / "ranking.csv").read_text().splitlines()[:2]
    assert header.startswith("rank,item,name,score") and first
    found = json.loads(runner.invoke(app, [*fit, "--json"]).stdout)
    for rows in (found["ranking"], found["personal"][who]):
        called = {row["item"]: row["name"] for row in rows}
        assert called[items[0]] == items[0] and called[items[1]] == f"Called {items[1]}"
    plain = runner.invoke(app, ["rank", str(votes_file), "--names", str(table), "--json"])
    assert {row["name"] for row in json.loads(plain.stdout)["ranking"]} == set(called.values())
    assert (
        f"Called {items[1]}"
        in runner.invoke(app, ["rank", str(votes_file), "--names", str(table)]).output
    )
