"""Files that list the winner first are refused; crowds with one-sided people in them are read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from same_votes import assert_same_votes
from typer.testing import CliRunner

from prefpath import VoteError, Votes, read_votes
from prefpath.cli.app import app
from prefpath.votes.winner_first import SidesChosen, winning_side

SEEN = "they seem to list the winner"


def crowd(
    n_annotators: int,
    n_each: int,
    *,
    seed: int = 0,
    clickers: float = 0.0,
    items: int = 8,
    ties: float = 0.0,
) -> pd.DataFrame:
    """Votes of a crowd that follows one ranking; a share of it clicks left every time."""
    draw = np.random.default_rng(seed)
    who = np.repeat(np.arange(n_annotators), n_each)
    left = draw.integers(items, size=len(who))
    right = (left + draw.integers(1, items, size=len(who))) % items
    wins = draw.random(len(who)) < 1 / (1 + np.exp(-(left - right) / 2.0))
    wins |= who < clickers * n_annotators
    choice = np.where(draw.random(len(who)) < ties, 0, np.where(wins, 1, -1))
    names = np.array([f"item {k}" for k in range(items)])
    return pd.DataFrame(
        {"annotator": who, "left": names[left], "right": names[right], "choice": choice}
    )


def winners_first(votes: pd.DataFrame) -> pd.DataFrame:
    """The same votes with the winner in the column left."""
    swap = votes["choice"] < 0
    left = votes["left"].where(~swap, votes["right"])
    right = votes["right"].where(~swap, votes["left"])
    return votes.assign(left=left, right=right, choice=votes["choice"].abs())


@pytest.mark.parametrize(
    ("n_annotators", "n_each", "ties"),
    [(1, 12, 0.0), (3, 10, 0.0), (1, 100_000, 0.0), (200, 1, 0.0), (30, 40, 0.2), (500, 20, 0.4)],
)
def test_winners_first_are_refused(n_annotators: int, n_each: int, ties: float) -> None:
    votes = winners_first(crowd(n_annotators, n_each, ties=ties))
    votes["choice"] = votes["choice"].map({1: "left", 0: "tie"})
    with pytest.raises(VoteError, match=f"left: {SEEN} first") as caught:
        read_votes(votes)
    for remedy in ("--winner-first", "--position-unknown", "--position-known"):
        assert remedy in str(caught.value.remedy)


def test_losers_first_are_refused() -> None:
    votes = winners_first(crowd(10, 30))
    with pytest.raises(VoteError, match=f"right: {SEEN} last") as caught:
        read_votes(votes.assign(choice=-1))
    assert "--winner-first" not in str(caught.value.remedy)


def test_a_few_mistakes_in_the_file_do_not_hide_it() -> None:
    votes = winners_first(crowd(20, 100))
    votes.loc[::150, "choice"] = -1
    with pytest.raises(VoteError, match=SEEN):
        read_votes(votes)


@pytest.mark.parametrize(("n_annotators", "n_each"), [(30, 30), (150, 6), (2, 200)])
def test_a_few_exceptions_of_everybody_do_not_hide_it_either(n_annotators, n_each) -> None:
    votes = winners_first(crowd(n_annotators, n_each))
    swapped = np.random.default_rng(1).random(len(votes)) < 0.03
    with pytest.raises(VoteError, match=SEEN):
        read_votes(votes.assign(choice=np.where(swapped, -1, 1)))


@pytest.mark.parametrize("clickers", [0.0, 0.1, 0.4, 0.7, 0.85])
@pytest.mark.parametrize("size", [(20, 30), (10, 200), (300, 8)])
def test_crowds_with_one_sided_people_are_read(clickers: float, size: tuple[int, int]) -> None:
    read_votes(crowd(*size, clickers=clickers))


def test_one_busy_clicker_does_not_make_a_crowd_one_sided() -> None:
    busy = crowd(1, 20_000, clickers=1.0).assign(annotator="busy")
    others = crowd(20, 10, seed=1)
    read_votes(pd.concat([busy, others.astype({"annotator": str})]))


def test_a_judge_who_leans_far_is_read() -> None:
    votes = crowd(1, 838, seed=3)
    votes.loc[:650, "choice"] = 1
    read_votes(votes)


@pytest.mark.parametrize("n", [1, 2, 5, 10])
def test_a_few_votes_for_one_side_may_be_chance(n: int) -> None:
    names = [f"item {k}" for k in range(n + 1)]
    read_votes(pd.DataFrame({"left": names[:-1], "right": names[1:], "choice": 1}))


def test_the_bound_is_that_of_fair_coins() -> None:
    """Eleven coins on one side have probability 2 / 2048, below one in a thousand."""
    assert winning_side(SidesChosen(np.array([10]), np.array([0]))) is None
    assert winning_side(SidesChosen(np.array([11]), np.array([0]))) == "left"
    assert winning_side(SidesChosen(np.array([0]), np.array([11]))) == "right"


def test_a_baseline_always_on_the_right_that_always_loses_is_read() -> None:
    new = [f"model {k % 7}" for k in range(100)]
    read_votes(pd.DataFrame({"left": new, "right": "baseline", "choice": 1}))


def test_what_the_remedies_read() -> None:
    shown = crowd(12, 25)
    first = winners_first(shown)
    expected = Votes.from_arrays(
        *(shown[name] for name in ("annotator", "left", "right", "choice")), position_known=False
    )
    assert_same_votes(read_votes(first, winner_first=True), expected)
    assert_same_votes(read_votes(first, position_known=False), expected)
    without_choice = first[["annotator", "left", "right"]]
    read = read_votes(without_choice, winner_first=True)
    assert_same_votes(read, expected)
    assert "position unknown" in read.origin["read_as"]
    with_ties = winners_first(crowd(12, 25, ties=0.3))
    assert (
        read_votes(with_ties, winner_first=True).origin["ties"] == (with_ties["choice"] == 0).sum()
    )
    assert read_votes(first, position_known=True).position_known.all()


def test_winner_first_of_votes_as_shown_is_refused() -> None:
    with pytest.raises(VoteError, match="the winner is said to be first, but"):
        read_votes(crowd(5, 20), winner_first=True)


@pytest.mark.parametrize("command", ["check", "fit"])
def test_commands_refuse_it_and_take_the_remedies(tmp_path: Path, command: str) -> None:
    path = tmp_path / "votes.csv"
    winners_first(crowd(6, 20)).to_csv(path, index=False)
    refused = CliRunner().invoke(app, [command, str(path)])
    assert SEEN in str(refused.exception)
    if command == "check":
        for remedy in ("--winner-first", "--position-unknown", "--position-known"):
            assert CliRunner().invoke(app, [command, str(path), remedy]).exit_code in (0, 1)


def test_the_movie_votes_of_the_paper_are_refused_as_they_are() -> None:
    from prefpath.datasets.fetch import data_folder

    folder = data_folder()
    if folder is None or not (folder / "movie_pami.csv").is_file():
        pytest.skip("the data are not here")
    with pytest.raises(VoteError, match=SEEN):
        read_votes(folder / "movie_pami.csv")
