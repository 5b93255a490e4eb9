"""One fit, four readers: every number that terminal, JSON, files and page show twice is one."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from prefpath import Votes, simulate_crowd
from prefpath.cli import app

pytestmark = pytest.mark.filterwarnings("ignore::prefpath.VoteWarning")


def crowd_with_ties() -> Votes:
    return simulate_crowd(1500, 24, 6, deviants=2, clickers=2, ties=0.15, labels="readable",
                          seed=1).votes  # fmt: skip


def two_groups() -> Votes:
    rng = np.random.default_rng(3)
    who, left, right, choice = [], [], [], []
    for names in (["ant", "bee", "cat", "dog"], ["oak", "pine", "elm"]):
        for _ in range(260):
            i, j = rng.choice(len(names), 2, replace=False)
            who.append(f"voter {rng.integers(14)}")
            left.append(names[i])
            right.append(names[j])
            choice.append(1 if rng.random() < 1.0 / (1.0 + np.exp(0.8 * (i - j))) else -1)
    return Votes.from_arrays(who, left, right, choice)


def shared_lean() -> Votes:
    """Everybody prefers the left item a little, and three judges are all there are."""
    rng = np.random.default_rng(5)
    i, j = np.array([rng.choice(5, 2, replace=False) for _ in range(900)]).T
    won = rng.random(900) < 1.0 / (1.0 + np.exp(0.7 * (i - j) - 0.8))
    names = np.array(["alpha", "bravo", "charlie", "delta", "echo"])
    judges = np.array(["judge A", "judge B", "judge C"])[rng.integers(3, size=900)]
    return Votes.from_arrays(judges, names[i], names[j], np.where(won, 1, -1))


SHAPES: dict[str, tuple[Callable[[], Votes], list[str]]] = {
    "ties, attention on": (crowd_with_ties, ["--attention"]),
    "two groups": (two_groups, []),
    "three judges who share a lean": (shared_lean, ["--common-position"]),
}


@dataclass(frozen=True)
class Told:
    """What each of the four says; text with its line breaks and markup taken out."""

    terminal: str
    streams: str
    lines: list[str]
    machine: dict[str, Any]
    page: str
    board: list[dict[str, str]]
    people: list[dict[str, str]]
    html: str


def _write(votes: Votes, file: Path) -> None:
    with file.open("w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["annotator", "left", "right", "choice"])
        for k in np.repeat(np.arange(votes.n_rows), votes.count):
            who, left, right = votes.annotator[k], votes.left[k], votes.right[k]
            names = [votes.annotators[who], votes.items[left], votes.items[right]]
            writer.writerow([*names, int(votes.choice[k])])


@pytest.fixture(scope="module", params=SHAPES)
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Told:
    make, options = SHAPES[request.param]
    folder = tmp_path_factory.mktemp("story")
    file, out, page = folder / "votes.csv", folder / "out", folder / "page.html"
    _write(make(), file)
    fit = ["fit", str(file), "--cv", "3", *options]
    runner = CliRunner()
    shown = runner.invoke(
        app, [*fit, "--out", str(out), "--report", str(page)], env={"COLUMNS": "200"}
    )
    machine = runner.invoke(app, [*fit, "--json"])
    assert shown.exit_code == machine.exit_code == 0, shown.output
    html = page.read_text("utf-8")
    visible = re.sub(r"<(script|style)\b.*?</\1>", " ", html, flags=re.DOTALL)
    visible = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", visible.replace("&#x27;", "'")))
    return Told(
        terminal=re.sub(r"\s+", " ", shown.stdout),
        streams=re.sub(r"\s+", " ", f"{shown.stdout} {shown.stderr}"),
        lines=shown.stdout.splitlines(),
        machine=json.loads(machine.stdout),
        page=visible.replace("\u202f", " ").replace("−", "-"),
        board=_table(out / "ranking.csv"),
        people=_table(out / "annotators.csv"),
        html=html,
    )


def _table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))


def _line(told: Told, label: str) -> str:
    """The row of a table with this label: cells are two blanks apart."""
    return next(line for line in told.lines if f"  {label}  " in f" {line} ")


def test_the_board(told: Told) -> None:
    assert len(told.board) == len(told.machine["ranking"])
    for row, record in zip(told.board, told.machine["ranking"], strict=True):
        assert row["item"] == record["item"]
        for name in ("score", "score_low", "score_high", "rank", "rank_low", "rank_high"):
            assert float(row[name]) == pytest.approx(record[name])
        interval = f"{record['score_low'] + 0.0:.2f} to {record['score_high'] + 0.0:.2f}"
        line = _line(told, record["item"])
        for written in (f"{record['score']:.2f}", interval, f"{record['win_rate']:.0%}"):
            assert written.replace("-0.00", "0.00") in line
        assert interval.replace("-0.00", "0.00") in told.page
        assert f"{record['votes']:,.0f}" in line
        assert f"{record['votes']:,.0f} votes · won {100 * record['win_rate']:.0f} %" in told.page


def test_who_is_who(told: Told) -> None:
    found = told.machine["annotators"]
    for column in ("annotator", "verdict", "reason"):
        assert [row[column] for row in told.people] == [str(one[column]) for one in found]
    for word, n in told.machine["headline"]["by_verdict"].items():
        assert n == sum(row["verdict"] == word for row in told.people)
        if n:
            assert f"{word} {n:,}" in told.terminal
    standing = told.machine["headline"]["n_standing_out"]
    assert (f"{standing} of {len(found)} annotators" in told.page) == (standing > 0)
    for person in found:
        if "first_if_equal" in person and person["verdict"].startswith("leans"):
            written = f"{person['first_if_equal']:.0%}"
            assert written in _line(told, person["annotator"])
            assert written.replace("%", " %") in told.page


def test_errors_and_sentences(told: Told) -> None:
    found = told.machine
    wrong, alone = found["held_out_wrong"], found["held_out_wrong_of_one_ranking"]
    assert f"{wrong:.1%} of held-out votes are predicted wrong" in told.terminal
    assert f"log-loss {found['held_out_error']:.4f}" in told.terminal
    if found["held_out_error"] < found["held_out_error_of_one_ranking"]:
        assert f"{100 * wrong:.1f} % of held-out votes are predicted wrong" in told.page
        assert f"against {100 * alone:.1f} % with one ranking" in told.page
        assert f"log-loss {found['held_out_error']:.4f}, against" in told.page
    else:
        assert f"does not help to predict new votes ({100 * alone:.1f} % wrong)" in told.page
    said = [*found["cautions"], found["intervals"], found["scores"], found["unbounded"]]
    for sentence in filter(None, said):
        assert sentence in told.terminal
        assert sentence in told.page


def test_the_lean_of_all(told: Told) -> None:
    effect = told.machine["position_effect"]
    if effect is None:
        assert "share a lean" not in told.terminal + told.page
        return
    share = r"choose the left in ([\d.]+)%? ?%? \(([\d.]+)%? ?%? to ([\d.]+)"
    shown = [re.search(share, words) for words in (told.terminal, told.page)]
    assert all(shown)
    first, second = (match.groups() for match in shown if match)
    assert first == second
    assert any(float(first[0]) == pytest.approx(100 * value, abs=0.06)
               for value in effect.values() if value is not None)  # fmt: skip


def test_groups_and_checks(told: Told) -> None:
    groups = told.machine["groups"]
    if len(groups) > 1:
        assert f"{len(groups)} groups that were never compared" in told.terminal
        assert f"{len(groups)} separate groups" in told.page
        assert "no item leads them all" in told.terminal
        assert told.streams.count("never compared") == 1
    for check in told.machine["trust"]:
        assert check["finding"].rstrip(".")[1:] in told.page
    passed = sum(check["status"] == "passed" for check in told.machine["trust"])
    total = len(told.machine["trust"])
    every = (
        f"All {total} checks passed" if passed == total else f"{passed} of {total} checks passed"
    )
    assert every in told.page


def test_no_folder_of_this_machine(told: Told) -> None:
    assert "/story" not in told.html
