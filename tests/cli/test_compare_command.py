"""`prefpath compare` and `prefpath reproduce` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prefpath import simulate_crowd
from prefpath.cli.app import app
from prefpath.cli.reproduce import _expand
from prefpath.errors import SettingError

RUN = CliRunner()
FAST = ["--methods", "borda,hodgerank", "--splits", "2", "--jobs", "1"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    votes = simulate_crowd(600, 5, 6, ties=0.1, seed=0).votes
    path = tmp_path_factory.mktemp("votes") / "votes.csv"
    rows = ["annotator,left,right,choice"]
    for k in range(votes.n_rows):
        who, left, right = votes.annotators[votes.annotator[k]], votes.left[k], votes.right[k]
        row = f"{who},{votes.items[left]},{votes.items[right]},{votes.choice[k]:g}"
        rows.extend([row] * int(votes.count[k]))
    path.write_text("\n".join(rows) + "\n")
    return path


def test_the_table_and_what_ties_cost(file: Path) -> None:
    result = RUN.invoke(app, ["compare", str(file), *FAST])
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    for words in ("HodgeRank", "Borda", "2 random splits", "30% of the votes held out"):
        assert words in said
    assert "of 600 votes are ties" in said


def test_json(file: Path) -> None:
    found = json.loads(RUN.invoke(app, ["compare", str(file), *FAST, "--json"]).stdout)
    assert {method["method"] for method in found["methods"]} == {"Borda", "HodgeRank"}
    assert len(found["outcomes"]) == 4
    assert 0 < found["least_mismatch"] < 0.1
    for method in found["methods"]:
        assert method["min"] <= method["mean"] <= method["max"]
        assert method["log_loss"] is None


def test_features_hold_items_out(file: Path, tmp_path: Path) -> None:
    table = tmp_path / "items.csv"
    items = sorted({line.split(",")[1] for line in file.read_text().splitlines()[1:]})
    lines = [f"{item},{k}" for k, item in enumerate(items)]
    table.write_text("item,size\n" + "\n".join(lines) + "\n")
    options = ["--features", str(table), *FAST, "--json"]
    found = json.loads(RUN.invoke(app, ["compare", str(file), *options]).stdout)
    assert found["held_out"] == "items"


def test_figure(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    figure = tmp_path / "figure.png"
    result = RUN.invoke(app, ["compare", str(file), *FAST, "--figure", str(figure)])
    assert result.exit_code == 0, result.output
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_groups_of_experiments_are_taken_apart_once() -> None:
    assert _expand(["table4", "tables"])[0] == "table4"
    assert sorted(_expand(["tables", "table4"])) == [f"table{k}" for k in (1, 2, 4, 5, 6, 7)]
    assert _expand(["all", "figure3"])[-2:] == ["figures", "figure3"]


def test_an_unknown_experiment_is_named() -> None:
    with pytest.raises(SettingError, match="there is no experiment 'table3'"):
        _expand(["table3"])
