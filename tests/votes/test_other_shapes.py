"""The lines of pandas in docs/reading.md make votes of tables that hold them otherwise."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pandas as pd
import pytest

from prefpath import VoteError, Votes, read_votes
from prefpath.votes.choices import parse_choices

PAGE = Path(__file__).parents[2] / "docs/reading.md"
SECTION = PAGE.read_text().partition("## Other shapes")[2].partition("\n## ")[0]
PAIRS = list(itertools.combinations("wxyz", 2))  # the first of two is always preferred

FILES = {
    "matrix.csv": ",w,x,y,z\nw,0,2,2,2\nx,0,0,2,2\ny,0,0,0,2\nz,0,0,0,0\n",
    "maxdiff.csv": "respondent,item1,item2,item3,item4,best,worst\n"
    "ann,z,w,y,x,w,z\nbob,w,x,y,z,w,z\n",
    "conjoint.csv": "respondent,question,item,chosen\n"
    + "".join(
        f"ann,{q},{item},{int(item == a)}\n"
        for q, (a, b) in enumerate(PAIRS)
        for item in ((a, b) if q % 2 else (b, a))
    ),
    "survey.csv": "id,"
    + ",".join(f"{a} vs {b}" for a, b in PAIRS)
    + "\nann,"
    + ",".join(a for a, _ in PAIRS)
    + "\n",
}


@pytest.mark.parametrize("name", FILES)
def test_the_lines_in_the_guide_make_the_votes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / name).write_text(FILES[name])
    monkeypatch.chdir(tmp_path)
    code = next(block for block in re.findall(r"(?:^    .*\n)+", SECTION, re.M) if name in block)
    scope: dict[str, Any] = {"pandas": pd, "read_votes": read_votes}
    exec(dedent(code), scope)
    votes: Votes = scope["votes"]
    won = np.where(votes.choice > 0, votes.left, votes.right)
    lost = np.where(votes.choice > 0, votes.right, votes.left)
    assert all(votes.items[won] < votes.items[lost])
    assert len(set(zip(won, lost, strict=True))) >= 5


def test_a_row_for_each_item_is_told_the_shape(tmp_path: Path) -> None:
    path = tmp_path / "conjoint.csv"
    path.write_text("respID,qID,altID,price,brand,choice\n1,1,1,3,x,1\n1,1,2,2,y,0\n")
    with pytest.raises(VoteError, match="a row for each item that was shown"):
        read_votes(path)


@pytest.mark.parametrize("way", [0, 1])
def test_points_of_chess_are_told_both_ways(tmp_path: Path, way: int) -> None:
    path = tmp_path / "games.csv"
    path.write_text("player_1,player_2,result\nx,y,1\ny,z,0.5\nz,x,0\n")
    with pytest.raises(VoteError, match=r"is 0, 0\.5 or 1, which can mean") as caught:
        read_votes(path)
    ways = re.findall(r"--choices (\S+?)[; ]", str(caught.value.remedy))
    votes = read_votes(path, choices=parse_choices(ways[way]))
    won_by_x = votes.items[votes.left] == "x"
    assert votes.choice[won_by_x].tolist() == [(1, -1)[way]]
    assert votes.origin["ties"] == 1


def test_scores_with_blanks_in_their_names_can_be_copied(tmp_path: Path) -> None:
    path = tmp_path / "games.csv"
    path.write_text("Home Team,Away Team,Home Score,Away Score\nx,y,2,1\ny,x,0,3\n")
    with pytest.raises(VoteError, match="--scores 'Home Score,Away Score' "):
        read_votes(path)
    assert read_votes(path, scores=("Home Score", "Away Score")).choice.tolist() == [1, -1]
