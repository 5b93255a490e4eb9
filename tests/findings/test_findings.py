"""One object behind terminal, JSON, files and report."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from prefpath import PreferenceModel, Votes, simulate_crowd
from prefpath.cli import app
from prefpath.findings import cautions, find
from prefpath.findings.boards import boards_of

pytestmark = pytest.mark.filterwarnings("ignore::prefpath.VoteWarning")


@pytest.fixture(scope="module")
def model() -> PreferenceModel:
    crowd = simulate_crowd(3000, 30, 6, deviants=2, clickers=2, ties=0.1, seed=1)
    return PreferenceModel(cv=3).fit(crowd.votes)


def two_groups() -> Votes:
    """Two groups of items that never met; each has one clear winner."""
    left, right = ["a", "b", "a"] * 20, ["b", "c", "c"] * 20
    other_left, other_right = ["x", "y", "x"] * 10, ["y", "z", "z"] * 10
    who = [f"u{k % 12}" for k in range(90)]
    rng = np.random.default_rng(0)
    choice = np.where(rng.random(90) < 0.8, 1, -1)
    return Votes.from_arrays(who, left + other_left, right + other_right, choice)


def test_a_board_for_each_group() -> None:
    findings = find(PreferenceModel(cv=2, n_times=5, t_ratio=5.0).fit(two_groups()))
    assert [board.number for board in findings.boards] == [1, 2]
    assert [set(findings.ranking["item"][board.rows]) for board in findings.boards] == [
        {"a", "b", "c"},
        {"x", "y", "z"},
    ]
    assert [group["items"] for group in findings.as_json()["groups"]] == [3, 3]


def test_a_board_without_intervals_says_nothing_of_certainty() -> None:
    board = boards_of({"item": ["a", "b"]})[0]
    assert (board.leader, board.rivals, board.certain) == ("a", None, False)


def test_counts_are_those_of_the_table(model: PreferenceModel) -> None:
    findings = find(model)
    verdicts = list(findings.annotators["verdict"])
    assert all(verdicts.count(word) == n for word, n in findings.headline.counts.items())
    assert findings.headline.n_annotators == len(verdicts) == 30


def test_ties_are_explained_where_there_are_any(model: PreferenceModel) -> None:
    assert "shares of points" in (find(model).meaning_of_scores or "")
    plain = PreferenceModel(cv=0, n_times=4, t_ratio=4.0).fit(simulate_crowd(400, 8, 4).votes)
    assert find(plain).meaning_of_scores is None


def test_worse_than_a_coin_is_said(model: PreferenceModel) -> None:
    fitted = model.fitted_
    assert list(cautions(fitted)) == []
    found = fitted.cross_validation
    assert found is not None
    bad = replace(fitted, cross_validation=replace(found, errors=np.full(found.errors.shape, 0.8)))
    assert any("A coin would predict" in sentence for sentence in cautions(bad))


def test_the_end_of_the_path_is_said() -> None:
    votes = simulate_crowd(400, 8, 4).votes
    by_hand = PreferenceModel(cv=0, n_times=4, t_ratio=4.0).fit(votes)
    assert any("Nothing was held out" in sentence for sentence in cautions(by_hand.fitted_))
    assert list(cautions(by_hand.fitted_.at(by_hand.path_.times[1]))) == []


def test_terminal_json_files_and_report_say_the_same(tmp_path: Path) -> None:
    """Every number that appears twice is one field: read all four of one fit and compare."""
    crowd = simulate_crowd(3000, 30, 6, deviants=2, clickers=2, labels="readable", seed=1)
    votes = crowd.votes
    row = np.repeat(np.arange(votes.n_rows), votes.count)
    file = tmp_path / "votes.csv"
    with file.open("w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["annotator", "left", "right", "choice"])
        for k in row:
            writer.writerow(
                [
                    votes.annotators[votes.annotator[k]],
                    votes.items[votes.left[k]],
                    votes.items[votes.right[k]],
                    int(votes.choice[k]),
                ]
            )
    out, page = tmp_path / "out", tmp_path / "page.html"
    arguments = ["fit", str(file), "--cv", "3", "--out", str(out), "--report", str(page)]
    runner = CliRunner()
    shown = runner.invoke(app, arguments, env={"COLUMNS": "200"})
    machine = runner.invoke(app, ["fit", str(file), "--cv", "3", "--json"])
    assert shown.exit_code == machine.exit_code == 0, shown.output
    found = json.loads(machine.stdout)
    html = page.read_text("utf-8")
    words = re.sub(r"<[^>]+>", " ", html)
    board = list(csv.DictReader(io.StringIO((out / "ranking.csv").read_text())))
    people = list(csv.DictReader(io.StringIO((out / "annotators.csv").read_text())))
    for k, record in enumerate(found["ranking"]):
        assert board[k]["item"] == record["item"]
        assert float(board[k]["score"]) == pytest.approx(record["score"])
        line = next(one for one in shown.stdout.splitlines() if f" {record['item']} " in one)
        interval = f"{record['score_low']:.2f} to {record['score_high']:.2f}"
        assert f"{record['score']:.2f}" in line
        assert interval in line
        assert interval.replace("-", "−") in words
    assert [person["annotator"] for person in people] == [
        p["annotator"] for p in found["annotators"]
    ]
    assert [person["verdict"] for person in people] == [p["verdict"] for p in found["annotators"]]
    for word, n in found["headline"]["by_verdict"].items():
        assert n == sum(person["verdict"] == word for person in people)
        if n:
            assert f"{word} {n:,}" in shown.stdout.replace("\n", " ")
    assert f"{found['headline']['n_standing_out']} of 30 annotators" in words
    assert f"{found['held_out_wrong']:.1%} of held-out votes" in shown.stdout.replace("\n", " ")
    assert f"{100 * found['held_out_wrong']:.1f}\u202f% of held-out votes" in words
    assert str(tmp_path) not in html  # no folder of this machine
