"""Examples in remedies: copied as they are printed, they must read the votes right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prefpath import VoteError, read_votes
from prefpath.votes.choices import parse_choices

ITEMS = ["x,y", "y,z", "z,x", "y,x"]


def remedies(path: Path) -> list[str]:
    """What stands after --choices in the refusal."""
    with pytest.raises(VoteError) as caught:
        read_votes(path)
    found = re.findall(r"--choices (?:'([^']+)'|(\S+))", str(caught.value.remedy))
    return [quoted or plain for quoted, plain in found]


def written(tmp_path: Path, words: list[str]) -> Path:
    path = tmp_path / "votes.csv"
    rows = [f"u,{items},{word}" for items, word in zip(ITEMS, words, strict=True)]
    path.write_text("\n".join(["user,Model A,Model B,choice", *rows]))
    return path


@pytest.mark.parametrize(
    "words",
    [
        ["Left is better", "Right is better", "Both equally good", "Both bad"],
        ["A is much better", "B is slightly better", "About the same", "no difference"],
        ["Response A", "Response B", "Not sure", "tie"],
        ["A wins", "B wins", "hm", "A=B"],
    ],
)
def test_the_example_says_of_words_what_they_say(tmp_path: Path, words: list[str]) -> None:
    path = written(tmp_path, words)
    (example,) = remedies(path)
    votes = read_votes(path, choices=parse_choices(example))
    pairs = zip(votes.items[votes.left], votes.items[votes.right], votes.choice, strict=True)
    assert {f"{left},{right}": choice for left, right, choice in pairs} == dict(
        zip(ITEMS, (1, -1, 0, 0), strict=True)
    )


@pytest.mark.parametrize("words", [["true", "false"], ["yes", "no"], ["f", "j"]])
def test_two_words_of_which_nothing_is_known_are_shown_both_ways(
    tmp_path: Path, words: list[str]
) -> None:
    one, other = words
    ways = remedies(written(tmp_path, [one, other, one, other]))
    assert ways == [f"{one}=left,{other}=right", f"{other}=left,{one}=right"]


def test_a_remedy_copied_from_a_terminal_has_line_ends(tmp_path: Path) -> None:
    path = written(tmp_path, ["The left one", "The right one", "The left one", "The right one"])
    path.write_text(path.read_text().replace("choice", "Which would you take home?"))
    copied = {"choices": parse_choices("The left\none=left,The right one=right")}
    votes = read_votes(path, choice="Which would\nyou take home?", **copied)
    assert sorted(votes.choice) == [-1, -1, 1, 1]
