"""`prefpath fit --followers`: those who follow, ranked by themselves."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from prefpath import simulate_crowd
from prefpath.cli import app

runner = CliRunner()


def write_votes(file: Path, **planted: float) -> Path:
    votes = simulate_crowd(6_000, 30, 5, activity="even", seed=4, **planted).votes
    frame = {
        "annotator": votes.annotators[votes.annotator],
        "left": votes.items[votes.left],
        "right": votes.items[votes.right],
        "choice": np.where(votes.choice > 0, "left", "right"),
    }
    pd.DataFrame(frame).loc[np.repeat(np.arange(votes.n_rows), votes.weight.astype(int))].to_csv(
        file, index=False
    )
    return file


def test_the_contrary_are_left_out_and_the_rest_is_ranked(tmp_path: Path) -> None:
    file = write_votes(tmp_path / "votes.csv", contrary=0.3)
    out = tmp_path / "out"
    result = runner.invoke(app, ["fit", str(file), "--followers", "--json", "--out", str(out)])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    mine, people = found["followers"], found["annotators"]
    named = {row["annotator"] for row in people if row["verdict"] == "contrary"}
    assert len(named) >= 7 and mine["of"] == 30 and mine["annotators"] <= 30 - len(named)
    assert "shown to rank otherwise" in mine["meaning"] and mine["intervals"]
    left = pd.read_csv(file)
    left = left[~left["annotator"].isin(named)]
    wins = np.where(left["choice"] == "left", left["left"], left["right"])
    assert mine["ranking"][0]["item"] == pd.Series(wins).value_counts().index[0]
    assert mine["ranking"][0]["score_low"] < mine["ranking"][0]["score"]
    assert list(pd.read_csv(out / "followers.csv")["item"]) == [
        row["item"] for row in mine["ranking"]
    ]


def test_where_nobody_ranks_otherwise_it_is_the_same_board(tmp_path: Path) -> None:
    file = write_votes(tmp_path / "votes.csv", deviants=0, clickers=0)
    shown = runner.invoke(app, ["fit", str(file), "--followers"])
    assert shown.exit_code == 0, shown.output
    assert "Nobody is shown to rank otherwise" in " ".join(shown.output.split())
    assert shown.output.count("Leaderboard") == 1
