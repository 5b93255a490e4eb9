"""Tables of counts: so many votes for either of two items in a row."""

from __future__ import annotations

from pathlib import Path

import pytest
from same_votes import assert_same_votes

from prefpath import VoteError, Votes, VoteWarning, read_votes

ARENA = """\
model_a,model_b,a_wins,b_wins,ties,both_bad
x,y,3,1,2,0
z,x,0,4,0,1
"""
ONE_BY_ONE = [
    *[("x", "y", 1)] * 3,
    ("x", "y", -1),
    *[("x", "y", 0)] * 2,
    *[("z", "x", -1)] * 4,
    ("z", "x", 0),
]


def written(folder: Path, text: str) -> Path:
    file = folder / "counts.csv"
    file.write_text(text)
    return file


def test_counts_are_so_many_votes(tmp_path: Path) -> None:
    left, right, choice = zip(*ONE_BY_ONE, strict=True)
    found = read_votes(written(tmp_path, ARENA))
    expected = Votes.from_arrays(
        ["everyone"] * len(left), left, right, choice, position_known=[False] * len(left)
    )
    assert_same_votes(found, expected)
    assert found.n_votes == 11
    assert (found.origin["counted"], found.origin["votes"], found.origin["ties"]) == (5, 11, 3)
    assert "position unknown" in found.origin["read_as"]


def test_both_bad_can_be_dropped(tmp_path: Path) -> None:
    found = read_votes(written(tmp_path, ARENA), both_bad="drop")
    assert (found.n_votes, found.origin["both_bad_dropped"]) == (10, 1)


@pytest.mark.parametrize(
    "header",
    [
        "home.team,away.team,home.wins,away.wins",
        "left,right,n_left,n_right",
        "left,right,left_votes,right_votes",
        "HomeTeam,AwayTeam,HomeWins,AwayWins",
    ],
)
def test_places_are_known_where_columns_name_them(tmp_path: Path, header: str) -> None:
    found = read_votes(written(tmp_path, f"{header}\nx,y,2,1\ny,x,3,0\n"))
    assert found.position_known.all()
    assert found.n_votes == 6 and (found.choice * found.count).sum() == 4


def test_a_pair_nobody_voted_on_is_said(tmp_path: Path) -> None:
    file = written(tmp_path, "player1,player2,win1,win2\nx,y,2,1\ny,z,1,1\nx,z,0,0\n")
    with pytest.warns(VoteWarning, match="1 count without a verdict"):
        found = read_votes(file)
    assert found.n_votes == 5


def test_counts_that_are_none_are_refused_with_their_rows(tmp_path: Path) -> None:
    file = written(tmp_path, "player1,player2,win1,win2\nx,y,2,1\ny,z,,1\nx,z,-1,some\n")
    with pytest.raises(VoteError, match="a count that is missing") as error:
        read_votes(file)
    assert error.value.rows == (2, 3)
    assert "write 0 where nobody voted" in str(error.value)


def test_annotators_may_count_too(tmp_path: Path) -> None:
    text = "judge,model_a,model_b,wins_a,wins_b\nann,x,y,2,1\nbob,x,y,0,3\n"
    found = read_votes(written(tmp_path, text))
    assert found.annotators.tolist() == ["ann", "bob"]
    assert found.annotator_count.tolist() == [3, 3]
    assert found.position_known.all()


def test_shares_of_votes_keep_their_weight(tmp_path: Path) -> None:
    found = read_votes(written(tmp_path, "player1,player2,win1,win2\nx,y,2.5,1\n"))
    assert (found.n_votes, found.total_weight) == (2, 3.5)
