"""What users planted in their votes is what they are told."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from judges import votes_of_judges
from prefpath import PreferenceModel, read_votes
from prefpath.cli import app
from prefpath.diagnose import diagnose, discover

runner = CliRunner()


def test_a_judge_that_leans_and_favours_itself_is_in_both_tables(tmp_path) -> None:
    votes_of_judges(favour=1.5, lean=1.5).to_csv(tmp_path / "votes.csv", index=False)
    told = runner.invoke(
        app, ["fit", str(tmp_path / "votes.csv"), "--report", str(tmp_path / "report.html")]
    ).stdout
    leaning, otherwise = told.split("otherwise unlike the crowd")
    assert "gpt-4      leans left" in leaning
    assert "own taste" in otherwise and "(itself)" in otherwise
    assert "Nobody is otherwise" not in told
    assert "Beside another verdict: own taste 1." in " ".join(told.split())
    assert "Own taste as well: 1 annotator" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize("share", [0.45, 0.6, 0.75])
def test_who_casts_most_votes_is_one_voice(share: float) -> None:
    """However many votes the one with another taste casts, the others are the crowd."""
    rng, n, each = np.random.default_rng(2), 20, 60
    common, own = np.linspace(1.5, -1.5, 8), np.array([0.5, 0, 1, -2, 0, 1, -1, 1.5])
    counts = np.full(n, each)
    counts[0] = int(share / (1 - share) * each * (n - 1))
    who = np.repeat(np.arange(n), counts)
    left = rng.integers(8, size=len(who))
    right = (left + rng.integers(1, 8, size=len(who))) % 8
    scores = np.where((who == 0)[:, None], own, common)
    at = np.arange(len(who))
    chance = 1 / (1 + np.exp(scores[at, right] - scores[at, left]))
    choice = np.where(rng.random(len(who)) < chance, "left", "right")
    frame = pd.DataFrame({"annotator": who, "left": left, "right": right, "choice": choice})
    found = discover(read_votes(frame))
    assert found.who_deviates[0] == 0
    assert len(found.who_deviates) <= 2  # one by chance, at a rate of 10 %


def _votes_of_a_varied_crowd() -> pd.DataFrame:
    """Seven of 25 lean, by different amounts, and everybody has a little taste of their own."""
    rng, scores = np.random.default_rng(5), np.linspace(1, -1, 7)
    leans = dict(enumerate([3.5, 1.0, -1.0, 0.6, -0.6, 0.6, 0.6]))
    parts = []
    for who in range(25):
        own = scores + 0.5 * rng.normal(size=7)
        left = rng.integers(7, size=80)
        right = (left + rng.integers(1, 7, size=80)) % 7
        chance = 1 / (1 + np.exp(own[right] - own[left] - leans.get(who, 0.0)))
        choice = np.where(rng.random(80) < chance, "left", "right")
        columns = {"annotator": who, "left": left, "right": right, "choice": choice}
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts)


def test_no_lean_stands_beside_an_interval_that_denies_it() -> None:
    votes = read_votes(_votes_of_a_varied_crowd())
    model = PreferenceModel(cv=0, n_times=20, t_ratio=20.0, common_position=False).fit(votes)
    people = pd.DataFrame(diagnose(model).columns())
    words = people["verdict"] + "; " + people["also"].fillna("")
    leaning = people[words.str.contains("leans|one-sided")]
    assert len(leaning) >= 4
    denied = (leaning["first_if_equal_low"] < 0.5) & (leaning["first_if_equal_high"] > 0.5)
    assert not denied.any()


def test_where_everybody_agrees_no_longer_path_is_suggested(tmp_path) -> None:
    left, right = (np.tile(side, 12) for side in np.triu_indices(6, 1))
    columns = {"annotator": np.repeat(np.arange(12), 15), "left": left, "right": right}
    frame = pd.DataFrame({**columns, "choice": "left"})
    swapped = np.random.default_rng(1).random(len(frame)) < 0.5
    frame.loc[swapped, ["left", "right"]] = frame.loc[swapped, ["right", "left"]].to_numpy()
    frame.loc[swapped, "choice"] = "right"
    frame.to_csv(tmp_path / "votes.csv", index=False)
    told = runner.invoke(app, ["fit", str(tmp_path / "votes.csv")]).stdout
    assert "0.0% of held-out votes are predicted wrong" in told
    assert "t_ratio" not in told
